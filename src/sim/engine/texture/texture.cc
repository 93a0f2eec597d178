#include "sim/engine/texture/texture.h"

#include <mutex>

namespace baton::sim {

void TextureTable::add(std::uint64_t handle, const TextureView& view) {
  std::lock_guard lock(mutex_);
  views_.emplace(handle, std::make_shared<const TextureView>(view));
}

void TextureTable::remove(std::uint64_t handle) {
  std::lock_guard lock(mutex_);
  views_.erase(handle);
}

std::shared_ptr<const TextureView> TextureTable::find(std::uint64_t handle) const {
  std::shared_lock lock(mutex_);
  const auto found = views_.find(handle);
  return found == views_.end() ? nullptr : found->second;
}

}  // namespace baton::sim
