#include "sim/device/managed_advice.h"

namespace baton::sim {

ManagedAdvice::Runs::iterator ManagedAdvice::split(std::uint64_t offset) {
  const auto after = runs_.upper_bound(offset);
  if (offset == 0 || after == runs_.end() || runs_.contains(offset)) return after;
  runs_.emplace(offset, after->second);
  return after;
}

}  // namespace baton::sim
