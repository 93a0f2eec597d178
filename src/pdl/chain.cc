#include "pdl/chain.h"

#include <algorithm>

namespace baton::overlap {
namespace {

using VerdictKind = EdgeVerdict;
using Cause = EdgeCause;

constexpr std::size_t kMaxOffsets = 8;  // of one buffer that are told apart

}  // namespace

void LaunchChain::Pasts::add(const Past& past) {
  if (!first) first = past;
  // Of one launch's accesses the one that makes the better witness is kept.
  const auto is_plain = [](const Past& p) { return !p.group->strong && !p.is_one_of; };
  const bool has_better = std::ranges::any_of(list, [&](const Past& old) {
    return old.offset == past.offset && old.position == past.position && is_plain(old) &&
           !is_plain(past);
  });
  if (has_better) return;
  std::erase_if(list, [&](const Past& old) { return old.offset == past.offset; });
  if (list.size() >= kMaxOffsets) {
    dropped = list.front();
    list.erase(list.begin());
  }
  list.push_back(past);
}

void LaunchChain::raise(Verdict& worst, const Verdict& found) {
  if (found.is_worse_than(worst)) worst = found;
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

void LaunchChain::judge_conflicts(const BoundAccess& access, const Pasts& pasts,
                                  Verdict& worst) const {
  for (auto past = pasts.list.rbegin(); past != pasts.list.rend(); ++past) {
    if (past->position < exposed_) {
      raise(worst, conflict(VerdictKind::kUnknown, Cause::kNotVisible, access, *past));
    } else if (past->offset != access.offset) {
      raise(worst, conflict(VerdictKind::kUnknown, Cause::kOffsets, access, *past));
    } else if (access.order == Order::kUnclear) {
      raise(worst, conflict(VerdictKind::kUnknown, Cause::kUnordered, access, *past));
    } else if (access.group->strong && past->group->strong) {
      raise(worst, conflict(VerdictKind::kUnknown, Cause::kAtomic, access, *past));
    } else if (access.group->prefetches || past->group->prefetches) {
      raise(worst, conflict(VerdictKind::kUnknown, Cause::kStale, access, *past));
    } else if (access.is_one_of || past->is_one_of) {
      raise(worst, conflict(VerdictKind::kUnknown, Cause::kEither, access, *past));
    } else {
      raise(worst, conflict(VerdictKind::kUnsafe, Cause::kConflict, access, *past));
    }
  }
  if (pasts.dropped) {
    raise(worst, conflict(VerdictKind::kUnknown, Cause::kOffsets, access, *pasts.dropped));
  }
}

void LaunchChain::judge_early(const BoundAccess& access, Verdict& worst) const {
  if (!access.memory) return judge_unnamed(access, worst);
  const auto found = memories_.find(*access.memory);
  if (found != memories_.end()) {
    judge_conflicts(access, found->second.writes, worst);
    if (access.group->writes) judge_conflicts(access, found->second.reads, worst);
  }
  if (is_constant_(*access.memory) && !access.group->writes) return;
  if (const Past* past = unnamed(!access.group->writes)) {
    raise(worst, conflict(VerdictKind::kUnknown, Cause::kUnknownOther, access, *past));
  }
}

// Early, and of memory that nobody can name: anything that an earlier launch writes, or touches.
void LaunchChain::judge_unnamed(const BoundAccess& access, Verdict& worst) const {
  const Past* latest = unnamed(!access.group->writes);
  for (const auto& [id, memory] : memories_) {
    for (const Pasts* pasts : {&memory.writes, &memory.reads}) {
      if (pasts->list.empty()) continue;
      if (pasts == &memory.reads && !access.group->writes) continue;
      const Past& past = pasts->list.back();
      if (latest == nullptr || past.position > latest->position) latest = &past;
    }
  }
  if (latest == nullptr) return;
  Verdict verdict = conflict(VerdictKind::kUnknown, Cause::kUnknownEarly, access, *latest);
  verdict.why = access.why;
  raise(worst, verdict);
}

// Behind the wait, and of what an earlier launch writes, or may write.
void LaunchChain::judge_non_coherent(const BoundAccess& access, Verdict& worst) const {
  const Past* write = unnamed(true);
  if (access.memory && is_constant_(*access.memory)) write = nullptr;
  for (const auto& [id, memory] : memories_) {
    if ((access.memory && *access.memory != id) || memory.writes.list.empty()) continue;
    write = &memory.writes.list.back();
  }
  if (write != nullptr)
    raise(worst, conflict(VerdictKind::kUnknown, Cause::kNonCoherent, access, *write));
}

void LaunchChain::judge_late(const BoundAccess& access, Verdict& worst) const {
  if (access.group->non_coherent) judge_non_coherent(access, worst);
  const auto found = access.memory ? memories_.find(*access.memory) : memories_.end();
  if (found != memories_.end()) {
    const auto check = [&](const Past& past) {
      if (past.position >= leaked_) return;
      const bool is_certain = past.offset == access.offset && !access.is_one_of &&
                              !past.is_one_of && !(access.group->strong && past.group->strong) &&
                              gap_->waits == Footprint::Waits::kNever;
      Verdict verdict = conflict(is_certain ? VerdictKind::kUnsafe : VerdictKind::kUnknown,
                                 Cause::kTransitiveGap, access, past);
      verdict.between = gap_;
      raise(worst, verdict);
    };
    const auto leaked = [&](const Pasts& pasts) {
      for (const Past& past : pasts.list) check(past);
      if (pasts.first) check(*pasts.first);
    };
    leaked(found->second.writes);
    if (access.group->writes) leaked(found->second.reads);
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

Verdict LaunchChain::judge(const BoundLaunch& launch) const {
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
  for (const BoundAccess& access : launch.accesses) {
    if (access.order == Order::kAfter) {
      judge_late(access, worst);
    } else {
      judge_early(access, worst);
    }
  }
  worst.own_kernel = &footprint;
  return worst;
}

void LaunchChain::cut() {
  memories_.clear();
  any_reads_ = any_writes_ = {};
  unseen_.reset();
  length_ = exposed_ = leaked_ = 0;
  gap_ = nullptr;
}

void LaunchChain::follow(const BoundLaunch& launch, bool programmatic) {
  if (!programmatic) cut();
  const std::uint32_t position = length_++;
  const Footprint& footprint = *launch.footprint;
  // A launch that triggers before it waited, or ends without, lets the next one start while those
  // before it still run.
  const bool holds_back = !footprint.triggers_before_wait && launch.waits;
  if (programmatic && (holds_back || footprint.unseen)) exposed_ = position;
  if (programmatic && !launch.waits) {
    leaked_ = position;
    gap_ = &footprint;
  }
  Past past{.offset = 0,
            .position = position,
            .number = launch.number,
            .kernel = &footprint,
            .group = nullptr,
            .is_one_of = false};
  if (footprint.unseen) unseen_ = past;
  for (const BoundAccess& access : launch.accesses) {
    past.offset = access.offset;
    past.group = access.group;
    past.why = access.why;
    past.is_one_of = access.is_one_of;
    if (access.memory) {
      Memory& memory = memories_[*access.memory];
      if (access.group->reads) memory.reads.add(past);
      if (access.group->writes) memory.writes.add(past);
    } else {
      if (access.group->reads) any_reads_.add(past);
      if (access.group->writes) any_writes_.add(past);
    }
  }
}

}  // namespace baton::overlap
