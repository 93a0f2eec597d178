#include "edges/branch_judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace baton::edges {
namespace {

// Of one branch that are distinguished. More are taken for one that may be anywhere.
constexpr std::size_t kMostAccesses = 1024;
// Of one parallel that are reported.
constexpr std::size_t kMostConflicts = 16;

}  // namespace

void BranchJudge::branch() {
  Open& open = open_.back();
  open.branches.emplace_back();
  open.part = 0;
  open.done.clear();
  open.last_is_all = true;
}

void BranchJudge::add(Open& open, Access access) {
  std::vector<Access>& branch = open.branches.back();
  access.part = open.part;
  if (std::ranges::find(branch, access) != branch.end()) return;
  if (branch.size() < kMostAccesses) {
    branch.push_back(std::move(access));
  } else {
    Access& rest = branch.back();
    rest.memory.reset();
    rest.writes |= access.writes;
    rest.atomic &= access.atomic;
    rest.what = "one of the branch's many accesses may touch anything";
    rest.part = UINT32_MAX;
    rest.after.clear();
  }
}

// The rules of pdl/chain.h, for a launch that others in other branches may have to be done before:
// a launch that waits is not done before what it waits for.
void BranchJudge::add(const overlap::BoundLaunch& launch, const std::string& label, bool early) {
  if (!is_open()) return;
  std::vector<Access> before, after;
  if (launch.footprint->unseen) {
    before.push_back(
        {.writes = true, .what = label + " may touch anything: its code is not read to the end"});
  }
  for (const overlap::BoundAccess& access : launch.accesses) {
    const overlap::AccessGroup& group = *access.group;
    if (group.prefetches && !group.writes) continue;
    const std::string memory = access.memory ? name_(*access.memory) : "memory without a name";
    // Volatile and relaxed loads and stores do not race, and yet one may come before the other.
    const bool atomic = group.strong && group.reads && group.writes;
    const bool waited = access.order == overlap::Order::kAfter && !group.non_coherent;
    (waited ? after : before)
        .push_back({access.memory, access.offset, access.bytes, group.writes, atomic,
                    fmt::format("{} {} {} at {}", label, group.writes ? "writes" : "reads", memory,
                                group.where),
                    launch.number});
  }
  for (Open& open : open_) {
    const Events at_start = early ? Events() : open.done;
    Events at_wait = at_start;
    if (early) at_wait.insert(open.last_done.begin(), open.last_done.end());
    at_wait.insert(open.next.begin(), open.next.end());
    for (Access& access : before) {
      access.after = at_start;
      add(open, access);
    }
    for (Access& access : after) {
      access.after = at_wait;
      add(open, access);
    }
    open.last_done = launch.waits ? at_wait : at_start;
    open.done.insert(open.last_done.begin(), open.last_done.end());
    open.last_is_all = !early || (launch.waits && open.last_is_all);
    open.next.clear();
  }
}

void BranchJudge::skip() {
  if (is_open()) open_.back().next.clear();
}

// Launches that begin in order order no memory.
void BranchJudge::after(const bind::PlannedEvent& event) {
  if (event.kind == bind::PlannedEvent::Kind::kProgrammatic) open_.back().next.insert(event.number);
}

void BranchJudge::record(const bind::PlannedEvent& event) {
  Open& open = open_.back();
  if (event.kind != bind::PlannedEvent::Kind::kProgrammatic || !open.last_is_all) return;
  open.recorded[event.number] = {open.branches.size() - 1, open.part++};
}

void BranchJudge::add(overlap::MemoryId memory, std::uint64_t offset, std::uint64_t bytes,
                      bool writes, const std::string& label, std::optional<std::uint32_t> number) {
  if (bytes == 0) {
    if (is_open() && number) judged_by_places_.insert(*number);
    return;
  }
  for (Open& open : open_) {
    Access access{
        memory, offset, bytes,
        writes, false,  fmt::format("{} {} {}", label, writes ? "writes" : "reads", name_(memory)),
        number};
    access.after = open.done;
    add(open, std::move(access));
  }
}

// Whether `b` comes after launches of the branch `earlier` that are not done before `a` is.
bool BranchJudge::is_ordered(const Open& open, std::size_t earlier, const Access& a,
                             const Access& b) {
  return std::ranges::any_of(b.after, [&](std::uint32_t event) {
    const auto found = open.recorded.find(event);
    return found != open.recorded.end() && found->second.branch == earlier &&
           a.part <= found->second.part;
  });
}

// Whether the two may have a byte in common.
bool BranchJudge::may_meet(const Access& a, const Access& b) {
  if (!a.memory || !b.memory) return true;
  if (*a.memory != *b.memory) return false;
  if (a.bytes == overlap::kUnknownBytes || b.bytes == overlap::kUnknownBytes) return true;
  for (const Access* each : {&a, &b}) {
    if (each->number) judged_by_places_.insert(*each->number);
  }
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

// How the two may race, or nothing.
std::optional<std::string> BranchJudge::conflict(const Access& a, const Access& b) {
  if (!a.writes && !b.writes) return std::nullopt;
  if (a.atomic && b.atomic) return std::nullopt;
  // Accesses without a known buffer lie elsewhere than memory that no step writes.
  for (const Access* each : {&a, &b}) {
    if (each->memory && !each->writes && is_constant_(*each->memory)) return std::nullopt;
  }
  if (!may_meet(a, b)) return std::nullopt;
  return fmt::format("{}, and {}", a.what, b.what);
}

ParallelReport& BranchJudge::report_of(const bind::PlannedStep& parallel) {
  const auto known = std::ranges::find(reported_, &parallel);
  if (known != reported_.end()) {
    return reports_[static_cast<std::size_t>(known - reported_.begin())];
  }
  reported_.push_back(&parallel);
  ParallelReport& report = reports_.emplace_back();
  report.where = parallel.source->where;
  return report;
}

void BranchJudge::join() {
  const Open open = std::move(open_.back());
  open_.pop_back();
  ParallelReport& report = report_of(*open.parallel);
  report.branches = open.branches.size();
  for (std::size_t i = 0; i < open.branches.size(); ++i) {
    for (std::size_t k = i + 1; k < open.branches.size(); ++k) {
      for (const Access& a : open.branches[i]) {
        for (const Access& b : open.branches[k]) {
          // Events lead from earlier branches to later ones.
          if (is_ordered(open, i, a, b)) continue;
          const std::optional<std::string> found = conflict(a, b);
          if (!found) continue;
          report.verdict = EdgeVerdict::kUnknown;
          if (report.conflicts.size() >= kMostConflicts) return;
          const std::string text = fmt::format("branches {} and {} may race: {}", i, k, *found);
          if (std::ranges::find(report.conflicts, text) == report.conflicts.end()) {
            report.conflicts.push_back(text);
          }
        }
      }
    }
  }
}

}  // namespace baton::edges
