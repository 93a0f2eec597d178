#include "pdl/verdict/chain.h"

#include <algorithm>
#include <utility>

namespace baton::overlap {
namespace {

using VerdictKind = EdgeVerdict;
using Cause = EdgeCause;

constexpr std::size_t kMaxPasts = 16;  // of one memory that are distinguished

bool is_one_offset(std::uint64_t a, std::uint64_t b) {
  return a == b && a != kUnknownOffset;
}

template <typename Access>
bool is_one_place(const Access& a, const Access& b) {
  return a.offset == b.offset && a.bytes == b.bytes;
}

// Makes `into` stand for both accesses.
template <typename Past>
void include(Past& into, const Past& other) {
  into.earliest = std::min(into.earliest, other.earliest);
  if (into.bytes == kUnknownBytes || other.bytes == kUnknownBytes) {
    into.offset = kUnknownOffset;
    into.bytes = kUnknownBytes;
    return;
  }
  const std::uint64_t end = std::max(into.offset + into.bytes, other.offset + other.bytes);
  into.offset = std::min(into.offset, other.offset);
  into.bytes = end - into.offset;
}

}  // namespace

void LaunchChain::Pasts::add(const Past& past) {
  if (!first) first = past;
  Past latest = past;
  std::erase_if(list, [&](const Past& old) {
    if (old.group != past.group || !is_one_place(old, past)) return false;
    latest.earliest = std::min(latest.earliest, old.earliest);
    latest.is_alone = false;
    return true;
  });
  if (list.size() >= kMaxPasts) {
    const std::optional<Past> before = std::exchange(dropped, list.front());
    dropped->is_alone = false;
    if (before) include(*dropped, *before);
    list.erase(list.begin());
  }
  list.push_back(latest);
}

void LaunchChain::Pasts::clear() {
  list.clear();
  first.reset();
  dropped.reset();
}

// Whether the two certainly have no byte in common: because of the pieces of memory that they are
// given, or of those elements of it that they touch.
bool LaunchChain::are_apart(const BoundAccess& access, const Past& past, Evidence* evidence,
                            Verdict& worst) {
  if (access.bytes != kUnknownBytes && past.bytes != kUnknownBytes) {
    const bool is_before = access.offset + access.bytes <= past.offset;
    if (is_before || past.offset + past.bytes <= access.offset) {
      worst.by_places = true;
      return true;
    }
  }
  return evidence != nullptr && access.memory && past.is_alone &&
         evidence->never_meet(*access.group, past.position, *past.group, *access.memory);
}

void LaunchChain::raise(Verdict& worst, const Verdict& found) {
  if (!found.is_worse_than(worst)) return;
  const std::optional<MemoryId> frozen = worst.frozen;
  const bool by_places = worst.by_places || found.by_places;
  worst = found;
  worst.frozen = frozen;
  worst.by_places = by_places;
}

Verdict LaunchChain::conflict(VerdictKind kind, Cause cause, const BoundAccess& access,
                              const Past& past) {
  Verdict verdict;
  verdict.kind = kind;
  verdict.cause = cause;
  verdict.own = access.group;
  verdict.memory = access.memory;
  verdict.other = past.group;
  verdict.other_number = past.number;
  verdict.other_kernel = past.kernel;
  verdict.why = past.why;
  return verdict;
}

// The latest access to memory without a name: a write, or any.
const LaunchChain::Past* LaunchChain::unnamed(bool writes_only) const {
  const Past* latest = unseen_ ? &*unseen_ : nullptr;
  const auto consider = [&](const Pasts& pasts) {
    if (pasts.list.empty()) return;
    const Past& past = pasts.list.back();
    if (latest == nullptr || past.position > latest->position) latest = &past;
  };
  consider(any_writes_);
  if (!writes_only) consider(any_reads_);
  return latest;
}

// Whether nothing keeps that launch from running when the next one starts.
bool LaunchChain::may_still_run(std::uint32_t position, Evidence* evidence) const {
  for (std::uint32_t between = position + 1; between < length_; ++between) {
    if (lets_in_[between] == LetsIn::kAlways) continue;
    if (lets_in_[between] == LetsIn::kNever) return false;
    if (evidence != nullptr && !evidence->triggers_early(between)) return false;
  }
  return true;
}

// The reason that holds if it is not certain that the two meet, or nothing.
std::optional<EdgeCause> LaunchChain::doubt(const BoundAccess& access, const Past& past,
                                            Evidence* evidence) const {
  if (!may_still_run(past.position, evidence)) return Cause::kNotVisible;
  if (access.group->strong && past.group->strong) return Cause::kAtomic;
  if (access.group->prefetches || past.group->prefetches) return Cause::kStale;
  return std::nullopt;
}

void LaunchChain::judge_conflicts(const BoundAccess& access, const Pasts& pasts, Evidence* evidence,
                                  Verdict& worst) const {
  for (auto past = pasts.list.rbegin(); past != pasts.list.rend(); ++past) {
    if (are_apart(access, *past, evidence, worst)) continue;
    const bool may_be_elsewhere =
        !is_one_offset(past->offset, access.offset) || access.is_one_of || past->is_one_of;
    if (const auto known = doubt(access, *past, evidence)) {
      raise(worst, conflict(VerdictKind::kUnknown, *known, access, *past));
    } else if (evidence != nullptr
                   ? evidence->meet(*access.group, past->position, *past->group, true)
                   : !may_be_elsewhere && access.order == Order::kBefore) {
      raise(worst, conflict(VerdictKind::kUnsafe, Cause::kConflict, access, *past));
    } else {
      const Cause cause = access.order == Order::kUnclear       ? Cause::kUnordered
                          : access.is_one_of || past->is_one_of ? Cause::kEither
                          : may_be_elsewhere                    ? Cause::kOffsets
                                                                : Cause::kElements;
      raise(worst, conflict(VerdictKind::kUnknown, cause, access, *past));
    }
  }
  if (pasts.dropped && !are_apart(access, *pasts.dropped, evidence, worst)) {
    raise(worst, conflict(VerdictKind::kUnknown, Cause::kOffsets, access, *pasts.dropped));
  }
}

// Whether an early access reads frozen rows alone, by promise. That says something only as long as
// no launch that may still run changes the counter.
bool LaunchChain::reads_frozen(const BoundAccess& access) const {
  if (!counter_of_ || !access.memory || access.is_one_of || access.group->writes) return false;
  const std::optional<MemoryId> counter = counter_of_(*access.memory);
  if (!counter || unnamed(true) != nullptr) return false;
  const Memory* const counted = memory(*counter);
  return counted == nullptr || counted->writes.list.empty();
}

void LaunchChain::judge_early(const BoundAccess& access, Evidence* evidence, Verdict& worst) const {
  if (!access.memory) return judge_unnamed(access, worst);
  if (reads_frozen(access)) {
    // A write that certainly meets it breaks the promise.
    if (const Memory* named = memory(*access.memory)) {
      Verdict found;
      judge_conflicts(access, named->writes, evidence, found);
      worst.by_places |= found.by_places;
      if (found.kind == VerdictKind::kUnsafe) raise(worst, found);
    }
    worst.frozen = access.memory;
    return;
  }
  if (const Memory* named = memory(*access.memory)) {
    judge_conflicts(access, named->writes, evidence, worst);
    if (access.group->writes) judge_conflicts(access, named->reads, evidence, worst);
  }
  if (is_constant_(*access.memory) && !access.group->writes) return;
  if (const Past* past = unnamed(!access.group->writes)) {
    raise(worst, conflict(VerdictKind::kUnknown, Cause::kUnknownOther, access, *past));
  }
}

// Early, and of memory without a known buffer: anything that an earlier launch writes, or touches.
void LaunchChain::judge_unnamed(const BoundAccess& access, Verdict& worst) const {
  const Past* latest = unnamed(!access.group->writes);
  for (const MemoryId id : named_) {
    const Memory& named = memories_[id];
    for (const Pasts* pasts : {&named.writes, &named.reads}) {
      if (pasts->list.empty()) continue;
      if (pasts == &named.reads && !access.group->writes) continue;
      const Past& past = pasts->list.back();
      if (latest == nullptr || past.position > latest->position) latest = &past;
    }
  }
  if (latest == nullptr) return;
  Verdict verdict = conflict(VerdictKind::kUnknown, Cause::kUnknownEarly, access, *latest);
  verdict.why = access.why;
  raise(worst, verdict);
}

// After the wait, and of what an earlier launch writes, or may write.
void LaunchChain::judge_non_coherent(const BoundAccess& access, Evidence* evidence,
                                     Verdict& worst) const {
  const Past* write = unnamed(true);
  if (access.memory && is_constant_(*access.memory)) write = nullptr;
  for (const MemoryId id : named_) {
    if (access.memory && *access.memory != id) continue;
    const Pasts& writes = memories_[id].writes;
    const auto consider = [&](const Past& past) {
      if (access.memory && are_apart(access, past, evidence, worst)) return;
      if (write == nullptr || past.position > write->position) write = &past;
    };
    for (const Past& past : writes.list) consider(past);
    if (writes.dropped) consider(*writes.dropped);
  }
  if (write != nullptr)
    raise(worst, conflict(VerdictKind::kUnknown, Cause::kNonCoherent, access, *write));
}

void LaunchChain::judge_late(const BoundAccess& access, Evidence* evidence, Verdict& worst) const {
  if (access.group->non_coherent) judge_non_coherent(access, evidence, worst);
  if (const Memory* named = access.memory ? memory(*access.memory) : nullptr) {
    const auto check = [&](const Past& past) {
      if (past.earliest >= leaked_ || are_apart(access, past, evidence, worst)) return;
      const bool may_be_elsewhere =
          !is_one_offset(past.offset, access.offset) || access.is_one_of || past.is_one_of;
      // A later launch of the same kernel comes after the gap.
      const bool is_certain =
          gap_->waits == Footprint::Waits::kNever && past.position < leaked_ &&
          !(access.group->strong && past.group->strong) &&
          (evidence != nullptr ? evidence->meet(*access.group, past.position, *past.group, false)
                               : !may_be_elsewhere);
      Verdict verdict = conflict(is_certain ? VerdictKind::kUnsafe : VerdictKind::kUnknown,
                                 Cause::kTransitiveGap, access, past);
      verdict.between = gap_;
      raise(worst, verdict);
    };
    const auto leaked = [&](const Pasts& pasts) {
      if (pasts.first) check(*pasts.first);
      for (const Past& past : pasts.list) check(past);
      if (pasts.dropped) check(*pasts.dropped);
    };
    leaked(named->writes);
    if (access.group->writes) leaked(named->reads);
  }
  const bool safe = access.memory && is_constant_(*access.memory) && !access.group->writes;
  if (leaked_ == 0 || safe) return;
  // Something that is named nowhere, before the launch that does not wait.
  Verdict verdict;
  verdict.kind = VerdictKind::kUnknown;
  verdict.cause = Cause::kTransitiveGap;
  verdict.own = access.group;
  verdict.memory = access.memory;
  verdict.between = gap_;
  if (!access.memory || unnamed(!access.group->writes) != nullptr) raise(worst, verdict);
}

Verdict LaunchChain::judge(const BoundLaunch& launch, Evidence* evidence) const {
  Verdict worst;
  const Footprint& footprint = *launch.footprint;
  const auto say = [&](Cause cause) {
    Verdict verdict;
    verdict.kind = VerdictKind::kUnknown;
    verdict.cause = cause;
    raise(worst, verdict);
  };
  // Of what is unknown, the reason that helps most comes first.
  if (footprint.waits == Footprint::Waits::kNever) say(Cause::kNoWait);
  if (footprint.unseen) say(Cause::kUnseen);
  if (!launch.waits) say(Cause::kMayNotWait);
  // A kernel may wait where it is not seen, before any of its accesses, or it has no PDL at all.
  if (footprint.waits == Footprint::Waits::kUnknown) {
    worst.own_kernel = &footprint;
    return worst;
  }
  for (const BoundAccess& access : launch.accesses) {
    if (access.order == Order::kAfter) {
      judge_late(access, evidence, worst);
    } else {
      judge_early(access, evidence, worst);
    }
    if (may_be_shared(access) && (access.order != Order::kAfter || access.group->non_coherent)) {
      Verdict verdict;
      verdict.kind = VerdictKind::kUnknown;
      verdict.cause = Cause::kOtherDevice;
      verdict.own = access.group;
      verdict.memory = access.memory;
      raise(worst, verdict);
    }
  }
  worst.own_kernel = &footprint;
  return worst;
}

void LaunchChain::cut() {
  for (const MemoryId id : named_) {
    Memory& memory = memories_[id];
    memory.reads.clear();
    memory.writes.clear();
    memory.is_named = false;
  }
  named_.clear();
  any_reads_.clear();
  any_writes_.clear();
  unseen_.reset();
  lets_in_.clear();
  length_ = leaked_ = 0;
  gap_ = nullptr;
}

void LaunchChain::follow(const BoundLaunch& launch, bool programmatic) {
  if (!programmatic) cut();
  const std::uint32_t position = length_++;
  const Footprint& footprint = *launch.footprint;
  // A launch that triggers before it waits, or ends without a wait, lets the next one start while
  // those before it still run.
  const bool always =
      footprint.always_triggers_early || footprint.waits == Footprint::Waits::kNever;
  const bool never = footprint.unseen || (!footprint.triggers_before_wait && launch.waits);
  lets_in_.push_back(never ? LetsIn::kNever : always ? LetsIn::kAlways : LetsIn::kByNumbers);
  if (programmatic && !launch.waits) {
    leaked_ = position;
    gap_ = &footprint;
  }
  Past past{.offset = 0,
            .bytes = kUnknownBytes,
            .position = position,
            .earliest = position,
            .number = launch.number,
            .kernel = &footprint,
            .group = nullptr,
            .is_one_of = false};
  if (footprint.unseen) unseen_ = past;
  for (const BoundAccess& access : launch.accesses) {
    past.offset = access.offset;
    past.bytes = access.bytes;
    past.group = access.group;
    past.why = access.why;
    past.is_one_of = access.is_one_of;
    if (access.memory) {
      if (*access.memory >= memories_.size()) memories_.resize(*access.memory + 1);
      Memory& memory = memories_[*access.memory];
      if (!std::exchange(memory.is_named, true)) named_.push_back(*access.memory);
      if (access.group->reads) memory.reads.add(past);
      if (access.group->writes) memory.writes.add(past);
    } else {
      if (access.group->reads) any_reads_.add(past);
      if (access.group->writes) any_writes_.add(past);
    }
  }
}

}  // namespace baton::overlap
