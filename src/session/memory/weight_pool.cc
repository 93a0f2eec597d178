#include "session/memory/weight_pool.h"

#include <utility>

namespace baton {

std::shared_ptr<const Memory> WeightPool::find(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = weights_.find(key);
  return found == weights_.end() ? nullptr : found->second.lock();
}

void WeightPool::add(Key key, const std::shared_ptr<const Memory>& memory) {
  const std::lock_guard lock(mutex_);
  std::erase_if(weights_, [](const auto& each) { return each.second.expired(); });
  weights_.insert_or_assign(std::move(key), memory);
}

}  // namespace baton
