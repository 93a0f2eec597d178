#include "sim/engine/judge/flags.h"

#include <algorithm>

namespace baton::sim {

void FlagTable::add(std::uint64_t address, const FlagSource& source) {
  std::lock_guard lock(mutex_);
  std::vector<FlagSource>& sources = sources_[address];
  if (std::find(sources.begin(), sources.end(), source) == sources.end()) {
    sources.push_back(source);
  }
  any_.store(true, std::memory_order_release);
}

void FlagTable::replace(std::uint64_t address, const FlagSource& source) {
  std::lock_guard lock(mutex_);
  sources_[address] = {source};
  any_.store(true, std::memory_order_release);
}

void FlagTable::remove(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  sources_.erase(address);
}

void FlagTable::clear() {
  std::lock_guard lock(mutex_);
  sources_.clear();
  any_.store(false, std::memory_order_release);
}

OrderedLanes::Sources AcquiredGrids::sources_of(const FlagSource& acquired) {
  std::lock_guard lock(mutex_);
  std::size_t source = 1;
  for (; source + 1 < acquired_.size(); ++source) {
    if (acquired_[source].empty() || acquired_[source].front() == acquired) break;
  }
  std::vector<FlagSource>& grids = acquired_[source];
  if (std::find(grids.begin(), grids.end(), acquired) == grids.end()) grids.push_back(acquired);
  return static_cast<OrderedLanes::Sources>(1u << source);
}

std::vector<FlagSource> AcquiredGrids::of(int source) const {
  std::lock_guard lock(mutex_);
  return acquired_[static_cast<std::size_t>(source)];
}

}  // namespace baton::sim
