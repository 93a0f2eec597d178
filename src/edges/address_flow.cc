#include "edges/address_flow.h"

#include <algorithm>
#include <utility>

namespace baton::edges {
namespace {

constexpr overlap::MemoryId kAnyMemory = UINT32_MAX;

// What a footprint does not list, a kernel may do.
bool is_seen(const overlap::Footprint& footprint) {
  return footprint.code != nullptr && !footprint.unseen;
}

}  // namespace

KeptAddresses KeptAddresses::anywhere() {
  KeptAddresses kept;
  kept.anywhere_ = true;
  return kept;
}

bool KeptAddresses::may_reach(const overlap::BoundLaunch& launch, const MemoryNames& names) const {
  if (is_empty()) return false;
  if (anywhere_ || !is_seen(*launch.footprint)) return true;
  return std::ranges::any_of(launch.accesses, [&](const overlap::BoundAccess& access) {
    return access.group->reads && (!access.memory || names_.contains(names(*access.memory)));
  });
}

void AddressFlow::add(const overlap::BoundLaunch& launch, Tested tested, bool receives) {
  // Most executions of a launch touch the memory of the one before.
  Last now{launch.footprint, {}};
  now.touched.reserve(launch.accesses.size());
  for (const overlap::BoundAccess& access : launch.accesses) {
    now.touched.push_back(access.memory.value_or(kAnyMemory));
  }
  const auto [last, is_first] = last_.try_emplace(launch.number);
  if (!is_first && last->second == now) return;
  last->second = std::move(now);
  Step step;
  step.leaves = launch.stores_differences;
  step.writes_any = !is_seen(*launch.footprint);
  step.reads_any = step.writes_any || receives;
  step.reads.insert(tested.begin(), tested.end());
  for (const overlap::BoundAccess& access : launch.accesses) {
    if (access.group->reads && access.memory) step.reads.insert(*access.memory);
    if (access.group->writes && access.memory) step.writes.insert(*access.memory);
    step.reads_any |= access.group->reads && !access.memory;
    step.writes_any |= access.group->writes && !access.memory;
  }
  launches_.insert(std::move(step));
}

void AddressFlow::add(const void* step, overlap::MemoryId memory, bool writes, Tested tested,
                      bool receives) {
  Step& found = others_[step];
  found.reads_any |= receives;
  found.reads.insert(tested.begin(), tested.end());
  (writes ? found.writes : found.reads).insert(memory);
}

void AddressFlow::add(const void* step) {
  const auto [found, is_new] = others_.try_emplace(step);
  if (is_new) found->second.reads_any = found->second.writes_any = true;
}

KeptAddresses AddressFlow::spread(KeptAddresses kept, const MemoryNames& names) const {
  bool grew = false;
  const auto follow = [&](const Step& step) {
    const bool gets = !kept.is_empty() &&
                      (step.reads_any || std::ranges::any_of(step.reads, [&](overlap::MemoryId id) {
                         return kept.may_be_in(names(id));
                       }));
    if (!step.leaves && !gets) return;
    kept.anywhere_ |= step.writes_any;
    for (const overlap::MemoryId id : step.writes) grew |= kept.names_.insert(names(id)).second;
  };
  do {
    grew = false;
    for (const Step& step : launches_) follow(step);
    for (const auto& [key, step] : others_) follow(step);
  } while (grew && !kept.anywhere_);
  return kept.anywhere_ ? KeptAddresses::anywhere() : kept;
}

}  // namespace baton::edges
