#include "sim/device/virtual_ranges.h"

#include <utility>

#include "sim/api/refusal.h"
#include "sim/device/heap.h"

namespace baton::sim {

PhysicalMemory::PhysicalMemory(const std::shared_ptr<DeviceHeap>& heap, std::uint64_t bytes,
                               const CUmemAllocationProp& properties)
    : heap_(heap), properties_(properties), bytes_(bytes) {
  require(bytes_.data() != nullptr && heap->memory().take(bytes), CUDA_ERROR_OUT_OF_MEMORY);
}

PhysicalMemory::~PhysicalMemory() {
  if (const auto heap = heap_.lock()) heap->memory().give_back(bytes_.size());
}

bool PhysicalMemory::is_of(const DeviceMemory& memory) const {
  const auto heap = heap_.lock();
  return heap != nullptr && &heap->memory() == &memory;
}

std::uint64_t VirtualRanges::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t address = memory_.reserve(bytes, alignment);
  if (address == 0) return 0;
  std::lock_guard lock(mutex_);
  reservations_.emplace(address, bytes);
  return address;
}

CUresult VirtualRanges::end_reserve(std::uint64_t address, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != bytes) return CUDA_ERROR_INVALID_VALUE;
  const auto mapped = mappings_.lower_bound(address);
  if (mapped != mappings_.end() && mapped->first < address + bytes) return CUDA_ERROR_INVALID_VALUE;
  reservations_.erase(found);
  memory_.end_reserve(address);
  return CUDA_SUCCESS;
}

CUresult VirtualRanges::map(std::uint64_t address, std::uint64_t bytes,
                            std::shared_ptr<PhysicalMemory> memory) {
  std::lock_guard lock(mutex_);
  const auto reservation = around(address);
  const bool is_inside = reservation != reservations_.end() &&
                         bytes <= reservation->second - (address - reservation->first);
  if (!is_inside || bytes != memory->bytes().size() || !memory->is_of(memory_)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto next = mappings_.lower_bound(address);
  const bool overlaps_next = next != mappings_.end() && next->first < address + bytes;
  const bool overlaps_last =
      next != mappings_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address;
  if (overlaps_next || overlaps_last) return CUDA_ERROR_INVALID_VALUE;
  if (!memory_.map(address, memory->bytes(), memory->was_mapped)) return CUDA_ERROR_OUT_OF_MEMORY;
  // What is written at one address is not known to be written at the others.
  for (const auto& [other, mapping] : mappings_) {
    if (mapping.memory == memory) memory_.mark_written(other, mapping.bytes);
  }
  memory->was_mapped = true;
  mappings_[address] = {bytes, std::move(memory), false};
  return CUDA_SUCCESS;
}

CUresult VirtualRanges::unmap(std::uint64_t address, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto [begin, end] = whole(address, bytes);
  if (begin == end) return CUDA_ERROR_INVALID_VALUE;
  if (!memory_.unmap(address, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  mappings_.erase(begin, end);
  return CUDA_SUCCESS;
}

CUresult VirtualRanges::set_access(std::uint64_t address, std::uint64_t bytes, bool on) {
  std::lock_guard lock(mutex_);
  const auto [begin, end] = whole(address, bytes);
  if (begin == end) return CUDA_ERROR_INVALID_VALUE;
  for (auto mapping = begin; mapping != end; ++mapping) mapping->second.is_open = on;
  memory_.open(address, bytes, on);
  return CUDA_SUCCESS;
}

bool VirtualRanges::has(std::uint64_t address) const {
  std::lock_guard lock(mutex_);
  return around(address) != reservations_.end();
}

std::optional<VirtualRanges::Mapped> VirtualRanges::find(std::uint64_t address) const {
  std::lock_guard lock(mutex_);
  const auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return std::nullopt;
  const auto& [begin, mapping] = *std::prev(after);
  if (address - begin >= mapping.bytes) return std::nullopt;
  return Mapped{mapping.memory, mapping.is_open};
}

VirtualRanges::Reservations::const_iterator VirtualRanges::around(std::uint64_t address) const {
  const auto after = reservations_.upper_bound(address);
  if (after == reservations_.begin()) return reservations_.end();
  const auto found = std::prev(after);
  return address - found->first < found->second ? found : reservations_.end();
}

std::pair<VirtualRanges::Mappings::iterator, VirtualRanges::Mappings::iterator>
VirtualRanges::whole(std::uint64_t address, std::uint64_t bytes) {
  const auto begin = mappings_.find(address);
  std::uint64_t at = address;
  for (auto mapping = begin; mapping != mappings_.end() && mapping->first == at; ++mapping) {
    at += mapping->second.bytes;
    if (at - address == bytes) return {begin, std::next(mapping)};
  }
  return {mappings_.end(), mappings_.end()};
}

}  // namespace baton::sim
