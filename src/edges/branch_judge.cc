#include "edges/branch_judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace baton::edges {
namespace {

// Of one branch that are told apart. More are taken for one that may be anywhere.
constexpr std::size_t kMostAccesses = 1024;
// Of one parallel that are reported.
constexpr std::size_t kMostConflicts = 16;

}  // namespace

void BranchJudge::add(const Access& access) {
  for (Open& open : open_) {
    std::vector<Access>& branch = open.branches.back();
    if (std::ranges::find(branch, access) != branch.end()) continue;
    if (branch.size() < kMostAccesses) {
      branch.push_back(access);
    } else {
      Access& rest = branch.back();
      rest.memory.reset();
      rest.writes |= access.writes;
      rest.atomic &= access.atomic;
      rest.what = "one of the branch's many accesses may touch anything";
    }
  }
}

void BranchJudge::add(const overlap::BoundLaunch& launch, const std::string& label) {
  if (!is_open()) return;
  if (launch.footprint->unseen) {
    add({std::nullopt, 0, overlap::kUnknownBytes, true, false,
         label + " may touch anything: its code is not read to the end"});
  }
  for (const overlap::BoundAccess& access : launch.accesses) {
    const overlap::AccessGroup& group = *access.group;
    if (group.prefetches && !group.writes) continue;
    const std::string memory = access.memory ? name_(*access.memory) : "memory without a name";
    // Volatile and relaxed loads and stores do not race, and yet one may come before the other.
    const bool atomic = group.strong && group.reads && group.writes;
    add({access.memory, access.offset, access.bytes, group.writes, atomic,
         fmt::format("{} {} {} at {}", label, group.writes ? "writes" : "reads", memory,
                     group.where)});
  }
}

void BranchJudge::add(overlap::MemoryId memory, std::uint64_t offset, std::uint64_t bytes,
                      bool writes, const std::string& label) {
  if (!is_open() || bytes == 0) return;
  add({memory, offset, bytes, writes, false,
       fmt::format("{} {} {}", label, writes ? "writes" : "reads", name_(memory))});
}

// How the two may race, or nothing.
std::optional<std::string> BranchJudge::conflict(const Access& a, const Access& b) const {
  if (!a.writes && !b.writes) return std::nullopt;
  if (a.atomic && b.atomic) return std::nullopt;
  if (a.memory && b.memory) {
    if (*a.memory != *b.memory) return std::nullopt;
    if (a.bytes != overlap::kUnknownBytes && b.bytes != overlap::kUnknownBytes &&
        (a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset)) {
      return std::nullopt;
    }
  }
  // What nobody can name lies elsewhere than memory that no step writes.
  for (const Access* each : {&a, &b}) {
    if (each->memory && !each->writes && is_constant_(*each->memory)) return std::nullopt;
  }
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
