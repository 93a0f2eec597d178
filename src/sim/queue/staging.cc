#include "sim/queue/staging.h"

#include <atomic>
#include <cstring>

namespace baton::sim {
namespace {

std::atomic<std::uint64_t> g_held{0};

}  // namespace

StagedBytes& StagedBytes::operator=(StagedBytes&& other) noexcept {
  if (this != &other) {
    release();
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

StagedBytes::~StagedBytes() {
  release();
}

bool StagedBytes::take(const void* source, std::uint64_t size) {
  release();
  if (size > kMaxStaged || g_held.fetch_add(size) + size > kMaxStaged) {
    if (size <= kMaxStaged) g_held.fetch_sub(size);
    return false;
  }
  size_ = size;
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);
  std::memcpy(bytes_.get(), source, size);
  return true;
}

void StagedBytes::release() {
  bytes_.reset();
  g_held.fetch_sub(std::exchange(size_, 0));
}

}  // namespace baton::sim
