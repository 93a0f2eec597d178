#include "sim/queue/staging.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

namespace baton::sim {
namespace {

std::atomic<std::uint64_t> g_held{0};

// Tells those who wait for room that a copy ended.
struct Ended {
  std::mutex mutex;
  std::condition_variable changed;
};
Ended& ended() {
  static auto& instance = *new Ended;  // threads of devices may outlive static objects
  return instance;
}

constexpr std::chrono::milliseconds kMoment{5};

// Memory of copies that are done.
class SpareBlocks {
 public:
  static SpareBlocks& instance() {
    static auto& instance = *new SpareBlocks;  // threads of devices may outlive static objects
    return instance;
  }

  // A block of at least that size, and of at most twice as much.
  StagedBytes::Block take(std::uint64_t size) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::ranges::find_if(blocks_, [size](const StagedBytes::Block& block) {
        return block.bytes != nullptr && block.capacity >= size && block.capacity / 2 <= size;
      });
      if (found != blocks_.end()) {
        bytes_ -= found->capacity;
        return std::exchange(*found, {});
      }
    }
    return {std::make_unique_for_overwrite<std::byte[]>(size), size};
  }
  void give(StagedBytes::Block block) noexcept {
    const std::lock_guard lock(mutex_);
    const auto empty =
        std::ranges::find_if(blocks_, [](const auto& each) { return each.bytes == nullptr; });
    if (empty == blocks_.end() || block.capacity > StagedBytes::kMaxSpare - bytes_) return;
    bytes_ += block.capacity;
    *empty = std::move(block);
  }

 private:
  std::mutex mutex_;
  std::array<StagedBytes::Block, 8> blocks_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

StagedBytes& StagedBytes::operator=(StagedBytes&& other) noexcept {
  if (this != &other) {
    release();
    block_ = std::move(other.block_);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

StagedBytes::~StagedBytes() {
  release();
}

void StagedBytes::await_room(std::uint64_t size) {
  const auto has_room = [size] {
    const std::uint64_t held = g_held.load();
    return held == 0 || held + size <= kMaxSpare;
  };
  if (has_room()) return;
  std::unique_lock lock(ended().mutex);
  ended().changed.wait_for(lock, kMoment, has_room);
}

bool StagedBytes::take(const void* source, std::uint64_t size) {
  release();
  if (size > kMaxStaged || g_held.fetch_add(size) + size > kMaxStaged) {
    if (size <= kMaxStaged) g_held.fetch_sub(size);
    return false;
  }
  size_ = size;
  block_ = SpareBlocks::instance().take(size);
  std::memcpy(block_.bytes.get(), source, size);
  return true;
}

void StagedBytes::release() {
  if (size_ == 0) return;
  if (block_.bytes != nullptr) SpareBlocks::instance().give(std::exchange(block_, {}));
  g_held.fetch_sub(std::exchange(size_, 0));
  // Who found no room before now waits by now.
  { const std::lock_guard lock(ended().mutex); }
  ended().changed.notify_all();
}

}  // namespace baton::sim
