// Reserved addresses, to which physical memory is mapped and from which it is taken.

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {
namespace {

// Unmapped memory keeps its addresses in the host, since grids that still run may use them.
bool make_empty(void* data, std::uint64_t bytes) {
  return mmap(data, bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

}  // namespace

SharedBytes::SharedBytes(std::uint64_t bytes) : bytes_(bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped != MAP_FAILED) data_ = mapped;
}

SharedBytes::~SharedBytes() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

std::uint64_t DeviceMemory::reserve(std::uint64_t bytes, std::uint64_t alignment) try {
  Impl& m = *impl_;
  std::unique_lock lock(m.mutex);
  const std::uint64_t span = Impl::span_of(bytes);
  if (span < bytes || span + alignment < span) return 0;
  const std::uint64_t room = m.find_room(span + alignment);
  if (room == 0) return 0;
  const std::uint64_t base = (room + alignment - 1) & ~(alignment - 1);
  std::shared_ptr<Backing> backing = Backing::make(bytes);
  if (backing == nullptr) return 0;
  if (room == m.next) m.next = base + span;
  Impl::Allocation& allocation = m.allocations[base];
  allocation.size = bytes;
  allocation.backing = std::move(backing);
  allocation.backing->shadow().notes = m.watched;
  allocation.parts = std::make_shared<Impl::MappedParts>();
  m.live[base] = &allocation;
  m.current = nullptr;
  return base;
} catch (const std::bad_alloc&) {
  return 0;  // the host has no memory for what describes the addresses
}

void DeviceMemory::end_reserve(std::uint64_t address) {
  Impl& m = *impl_;
  std::unique_lock lock(m.mutex);
  m.live.erase(address);
  m.allocations.erase(address);
  m.current = nullptr;
}

bool DeviceMemory::map(std::uint64_t address, const SharedBytes& bytes, bool is_written) {
  Impl& m = *impl_;
  std::unique_lock lock(m.mutex);
  const auto found = m.reserved(address);
  Impl::Allocation& allocation = found->second;
  const std::uint64_t begin = address - found->first;
  // Without an old size this is another mapping of the same memory.
  void* const target = allocation.backing->data() + begin;
  if (mremap(bytes.data(), 0, bytes.size(), MREMAP_MAYMOVE | MREMAP_FIXED, target) == MAP_FAILED) {
    return false;
  }
  allocation.parts->mapped.add(begin, begin + bytes.size());
  allocation.parts->unmapped.remove(begin, begin + bytes.size());
  if (is_written) m.mark_written(allocation, begin, bytes.size());
  m.current = nullptr;
  return true;
}

bool DeviceMemory::unmap(std::uint64_t address, std::uint64_t bytes) {
  Impl& m = *impl_;
  std::unique_lock lock(m.mutex);
  const auto found = m.reserved(address);
  Impl::Allocation& allocation = found->second;
  const std::uint64_t begin = address - found->first;
  std::uint8_t* const written = allocation.marks() + begin;
  if (!make_empty(allocation.backing->data() + begin, bytes) || !make_empty(written, bytes)) {
    return false;
  }
  allocation.written_prefix = std::min(allocation.written_prefix, begin);
  allocation.parts->mapped.remove(begin, begin + bytes);
  allocation.parts->open.remove(begin, begin + bytes);
  allocation.parts->unmapped.add(begin, begin + bytes);
  m.current = nullptr;
  return true;
}

void DeviceMemory::open(std::uint64_t address, std::uint64_t bytes, bool on) {
  Impl& m = *impl_;
  std::unique_lock lock(m.mutex);
  const auto found = m.reserved(address);
  const std::uint64_t begin = address - found->first;
  if (on) {
    found->second.parts->open.add(begin, begin + bytes);
  } else {
    found->second.parts->open.remove(begin, begin + bytes);
  }
  m.current = nullptr;
}

void DeviceMemory::mark_written(std::uint64_t address, std::uint64_t bytes) {
  Impl& m = *impl_;
  std::unique_lock lock(m.mutex);
  const auto found = m.reserved(address);
  m.mark_written(found->second, address - found->first, bytes);
}

bool DeviceMemory::take(std::uint64_t bytes) {
  std::unique_lock lock(impl_->mutex);
  if (bytes > impl_->capacity - impl_->used) return false;
  impl_->used += bytes;
  return true;
}

void DeviceMemory::give_back(std::uint64_t bytes) {
  std::unique_lock lock(impl_->mutex);
  impl_->used -= bytes;
}

DeviceMemory::Impl::Allocations::iterator DeviceMemory::Impl::reserved(std::uint64_t address) {
  return std::prev(allocations.upper_bound(address));
}

AddressKind DeviceMemory::Impl::MappedParts::classify(std::uint64_t offset) const {
  if (open.at(offset)) return AddressKind::kLive;
  return unmapped.at(offset) ? AddressKind::kFreed : AddressKind::kNone;
}

std::string DeviceMemory::Impl::MappedParts::describe(std::uint64_t base,
                                                      std::uint64_t offset) const {
  if (unmapped.at(offset)) {
    return fmt::format("{} bytes inside reserved addresses at {:#x}, whose memory was unmapped",
                       offset, base);
  }
  if (mapped.at(offset) && !open.at(offset)) {
    return fmt::format(
        "{} bytes inside reserved addresses at {:#x}, whose memory has no access (cuMemSetAccess)",
        offset, base);
  }
  const std::optional<Runs::Run> run = open.before(offset);
  if (!run) {
    return fmt::format("{} bytes inside reserved addresses at {:#x}, where no memory is mapped",
                       offset, base);
  }
  const bool is_inside = offset < run->end;
  return fmt::format("{} bytes {} mapped memory ({} bytes at {:#x})",
                     is_inside ? offset - run->begin : offset - run->end,
                     is_inside ? "inside" : "past the end of", run->end - run->begin,
                     base + run->begin);
}

}  // namespace baton::sim
