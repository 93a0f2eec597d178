#include "sim/engine/memory/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "base/system/zero_bytes.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/memory/kernel_heap.h"
#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {
namespace {

constexpr std::uint64_t kSmallPage = 64 * 1024;
constexpr std::uint64_t kHeapLimit = 128 * 1024;  // larger allocations get mappings of their own
constexpr std::uint64_t kPopulated = 64 * 1024;   // so many new bytes at once are populated
constexpr std::uint64_t kHugePage = 2 * 1024 * 1024;
constexpr std::size_t kFreedRemembered = 16384;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Zeroed. What holds a huge page starts at one: taking its memory page by page, as it is touched,
// would take longer than most kernels.
void* map(std::uint64_t bytes) {
  const std::uint64_t slack = bytes >= kHugePage ? kHugePage : 0;
  void* mapped = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (slack == 0) return mapped;
  auto* const begin = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uint64_t before = round_up(address, kHugePage) - address;
  if (before > 0) munmap(begin, before);
  if (before < slack) munmap(begin + before + bytes, slack - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);
  return begin + before;
}

}  // namespace

std::shared_ptr<Backing> Backing::make(std::uint64_t bytes) {
  std::shared_ptr<Backing> backing(new Backing(bytes));
  if (bytes <= kHeapLimit) {
    const std::size_t rounded = round_up(bytes, 64);
    backing->data_ = static_cast<std::byte*>(std::aligned_alloc(64, rounded));
    backing->written_ = static_cast<std::uint8_t*>(std::calloc(rounded, 1));
    if (backing->data_ == nullptr || backing->written_ == nullptr) return nullptr;
    std::memset(backing->data_, 0, rounded);
    return backing;
  }
  backing->mapped_ = round_up(bytes, bytes < kHugePage ? kSmallPage : kHugePage);
  backing->data_ = static_cast<std::byte*>(map(backing->mapped_));
  if (backing->data_ == nullptr) return nullptr;
  backing->written_ = static_cast<std::uint8_t*>(map(backing->mapped_));
  if (backing->written_ == nullptr) return nullptr;
  return backing;
}

std::shared_ptr<Backing> Backing::over(std::byte* data, std::uint64_t bytes,
                                       std::shared_ptr<void> owner) {
  std::shared_ptr<Backing> backing(new Backing(bytes));
  backing->data_ = data;
  backing->is_owned_ = false;
  backing->owner_ = std::move(owner);
  return backing;
}

Backing::~Backing() {
  if (!is_owned_) return;
  if (mapped_ == 0) {
    std::free(data_);
    std::free(written_);
    return;
  }
  if (data_ != nullptr) munmap(data_, mapped_);
  if (written_ != nullptr) munmap(written_, mapped_);
}

DeviceMemory::Impl::Impl(int device, std::uint64_t capacity_bytes)
    : ordinal(device),
      window_begin(
          kGlobalWindow +
          (static_cast<std::uint64_t>(std::clamp(ordinal, 0, kMaxOrdinal)) << kOrdinalShift) +
          kSmallPage),
      window_end(window_begin - kSmallPage + (std::uint64_t{1} << kOrdinalShift)),
      heap_begin(window_begin - kSmallPage + kConstantBit - KernelHeap::kSpan),
      capacity(capacity_bytes),
      next(window_begin),
      next_constant(window_begin + kConstantBit),
      heap_of_kernels(std::make_unique<KernelHeap>(*this)) {}

DeviceMemory::Impl::~Impl() = default;

std::uint8_t* DeviceMemory::Impl::Allocation::marks() {
  std::uint8_t* const written = backing->written();
  if (!std::exchange(has_marks, true) && written != nullptr) {
    std::memset(written, 1, written_prefix);
  }
  return written;
}

bool DeviceMemory::Impl::is_in_heap(std::uint64_t address) const {
  return heap_of_kernels->has_address(address);
}

DeviceMemory::Impl::Allocations::const_iterator DeviceMemory::Impl::before(
    std::uint64_t address) const {
  auto after = allocations.upper_bound(address);
  return after == allocations.begin() ? allocations.end() : std::prev(after);
}

DeviceMemory::Impl::Allocations::const_iterator DeviceMemory::Impl::holding(
    std::uint64_t address, std::uint64_t bytes) const {
  auto found = before(address);
  if (found == allocations.end() || found->second.backing == nullptr) return allocations.end();
  const std::uint64_t offset = address - found->first;
  if (offset >= found->second.size || bytes > found->second.size - offset) return allocations.end();
  const MappedParts* const parts = found->second.parts.get();
  if (parts != nullptr && !parts->open.holds(offset, bytes)) return allocations.end();
  return found;
}

DeviceMemory::Impl::Allocations::iterator DeviceMemory::Impl::holding(std::uint64_t address,
                                                                      std::uint64_t bytes) {
  const auto found = std::as_const(*this).holding(address, bytes);
  return allocations.erase(found,
                           found);  // the standard's way from a const_iterator to an iterator
}

const Region* DeviceMemory::Impl::Snapshot::find(std::uint64_t address) const {
  auto after = std::upper_bound(regions.begin(), regions.end(), address,
                                [](std::uint64_t a, const Region& r) { return a < r.base; });
  if (after == regions.begin()) return nullptr;
  const Region& region = *std::prev(after);
  return address - region.base < region.size ? &region : nullptr;
}

std::shared_ptr<const DeviceMemory::Impl::Snapshot> DeviceMemory::Impl::own_snapshot() {
  std::unique_lock lock(mutex);
  if (current != nullptr) return current;
  auto made = std::make_shared<Snapshot>();
  for (const auto& [base, allocation] : live) {
    if (is_in_heap(base)) continue;
    Shadow& shadow = allocation->backing->shadow();
    const bool is_looked_at = watched || allocation->read_only || shadow.has_frozen;
    const Region whole{base, allocation->size, allocation->backing->data(),
                       allocation->all_written ? nullptr : allocation->marks(),
                       is_looked_at ? &shadow : nullptr};
    const auto add = [&](const Runs::Run& run) {
      made->regions.push_back(part_of(whole, base + run.begin, base + run.end));
      made->backings.push_back(allocation->backing);
    };
    if (allocation->parts == nullptr) {
      add({0, allocation->size});
    } else {
      allocation->parts->open.each(add);
    }
  }
  current = std::move(made);
  return current;
}

void DeviceMemory::Impl::mark_written(Allocation& allocation, std::uint64_t offset,
                                      std::uint64_t bytes) {
  if (allocation.all_written) return;
  if (allocation.has_marks || offset > allocation.written_prefix) {
    std::memset(allocation.marks() + offset, 1, bytes);
  }
  if (offset <= allocation.written_prefix) {
    allocation.written_prefix = std::max(allocation.written_prefix, offset + bytes);
  }
  // What is mapped later was not written.
  if (allocation.written_prefix == allocation.size && allocation.parts == nullptr) {
    allocation.all_written = true;
    current = nullptr;
  }
}

void DeviceMemory::Impl::settle() {
  std::unique_lock lock(mutex);
  if (!discarded.empty()) forget_discarded();
  std::erase_if(unsettled, [&](std::uint64_t base) {
    const auto found = live.find(base);
    if (found == live.end() || found->second->all_written) return true;
    Allocation& allocation = *found->second;
    const std::uint8_t* written = allocation.backing->written();
    const void* gap = std::memchr(written + allocation.written_prefix, 0,
                                  allocation.size - allocation.written_prefix);
    allocation.written_prefix =
        gap == nullptr
            ? allocation.size
            : static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(gap) - written);
    if (gap != nullptr) return false;
    allocation.all_written = true;
    current = nullptr;
    return true;
  });
}

void DeviceMemory::Impl::watch() {
  std::unique_lock lock(mutex);
  if (watched) return;
  watched = true;
  current = nullptr;
  for (const auto& [base, allocation] : live) allocation->backing->shadow().notes = true;
}

bool DeviceMemory::Impl::is_watched() const {
  std::shared_lock lock(mutex);
  return watched;
}

void DeviceMemory::Impl::set_origin(std::uint64_t address, Ordering::Number operation) {
  std::shared_lock lock(mutex);
  const auto found = holding(address, 1);
  if (found == allocations.end()) return;
  const Toucher maker(operation, Toucher::kNoBlock, 0, Toucher::kNoInsn, false, true);
  found->second.backing->shadow().origin.store(maker.bits(), std::memory_order_release);
}

void DeviceMemory::Impl::forget_touches() {
  std::unique_lock lock(mutex);
  flags.clear();
  for (const auto& [base, allocation] : live) allocation->backing->shadow().clear();
}

void DeviceMemory::Impl::protect(std::uint64_t address, bool on) {
  std::unique_lock lock(mutex);
  const auto found = holding(address, 1);
  if (found == allocations.end()) return;
  found->second.read_only = on;
  found->second.backing->shadow().is_read_only = on;
  current = nullptr;
}

void DeviceMemory::Impl::freeze(const driver::FrozenRange& range) {
  std::unique_lock lock(mutex);
  const auto found = holding(range.address, range.bytes);
  const auto counter = holding(range.counter, range.counter_bytes);
  if (found == allocations.end() || counter == allocations.end()) return;
  const std::shared_ptr<Backing>& backing = counter->second.backing;
  found->second.backing->shadow().freeze(
      {range.address - found->first, range.bytes, range.row_bytes, range.rows,
       // The counter's memory stays as long as the rows.
       std::shared_ptr<const std::byte>(backing,
                                        backing->data() + (range.counter - counter->first)),
       range.counter_bytes, range.is_signed, range.name});
  current = nullptr;
}

void DeviceMemory::Impl::forget_oldest_freed() {
  const auto middle = freed.begin() + static_cast<std::ptrdiff_t>(freed.size() / 2);
  for (auto base = freed.begin(); base != middle; ++base) allocations.erase(*base);
  freed.erase(freed.begin(), middle);
}

DeviceMemory::DeviceMemory(int ordinal, std::uint64_t capacity)
    : impl_(std::make_unique<Impl>(ordinal, capacity)) {}

DeviceMemory::~DeviceMemory() = default;

// One page at least stays unmapped after every allocation, so that an overrun meets nothing.
std::uint64_t DeviceMemory::Impl::span_of(std::uint64_t bytes) {
  return round_up(bytes, kSmallPage) + kSmallPage;
}

bool DeviceMemory::Impl::place(std::uint64_t base, std::uint64_t bytes) try {
  if (bytes == 0 || bytes > capacity - used) return false;
  std::shared_ptr<Backing> backing = Backing::make(bytes);
  if (backing == nullptr) return false;
  unsettled.push_back(base);
  try {
    live[base] = &allocations[base];
  } catch (const std::bad_alloc&) {
    allocations.erase(base);
    unsettled.pop_back();
    throw;
  }
  Allocation& allocation = allocations[base];
  used += bytes;
  allocation.size = bytes;
  allocation.backing = std::move(backing);
  allocation.backing->shadow().notes = watched;
  current = nullptr;
  return true;
} catch (const std::bad_alloc&) {
  return false;  // the host has no memory for what describes the allocation
}

std::uint64_t DeviceMemory::Impl::reserve_constants(std::uint64_t span) {
  std::unique_lock lock(mutex);
  if (span > window_end - next_constant) return 0;
  return std::exchange(next_constant, next_constant + span);
}

bool DeviceMemory::Impl::allocate_at(std::uint64_t base, std::uint64_t bytes) {
  std::unique_lock lock(mutex);
  return place(base, bytes);
}

std::uint64_t DeviceMemory::allocate(std::uint64_t bytes) {
  Impl& m = *impl_;
  std::unique_lock lock(m.mutex);
  if (bytes > m.capacity) return 0;
  const std::uint64_t base = m.find_room(Impl::span_of(bytes));
  if (base == 0 || !m.place(base, bytes)) return 0;
  if (base == m.next) m.next += Impl::span_of(bytes);
  return base;
}

std::uint64_t DeviceMemory::Impl::find_room(std::uint64_t span) {
  const std::uint64_t end = heap_begin;
  if (span <= end - next) return next;
  std::uint64_t base = window_begin;
  for (const auto& [address, allocation] : allocations) {
    if (address < base) continue;  // mapped memory of the host
    if (address >= end || address - base >= span) break;
    if (allocation.backing != nullptr) base = address + span_of(allocation.size);
  }
  if (span > end - base) return 0;
  std::erase_if(freed, [&](std::uint64_t address) {
    const bool overlaps = address >= base && address - base < span;
    if (overlaps) allocations.erase(address);
    return overlaps;
  });
  return base;
}

bool DeviceMemory::free(std::uint64_t address) {
  Impl& m = *impl_;
  std::unique_lock lock(m.mutex);
  const auto found = m.allocations.find(address);
  if (found == m.allocations.end() || found->second.backing == nullptr) return false;
  found->second.backing = nullptr;
  m.live.erase(address);
  m.used -= found->second.size;
  m.freed.push_back(address);
  if (m.freed.size() > kFreedRemembered) m.forget_oldest_freed();
  m.current = nullptr;
  return true;
}

bool DeviceMemory::allocate_again(std::uint64_t address, std::uint64_t bytes) {
  Impl& m = *impl_;
  std::unique_lock lock(m.mutex);
  for (const auto& [base, allocation] : m.live) {
    if (base < address + bytes && address < base + allocation->size) return false;
  }
  std::erase(m.freed, address);
  m.allocations.erase(address);
  return m.place(address, bytes);
}

// The quick paths want regions that start at a multiple of the largest access.
void DeviceMemory::map_host(void* data, std::uint64_t bytes, std::string_view name,
                            std::shared_ptr<void> owner) {
  Impl& m = *impl_;
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uint64_t before = address % kRegionAlignment;
  std::unique_lock lock(m.mutex);
  Impl::Allocation& allocation = m.allocations[address - before];
  allocation.size = bytes + before;
  allocation.backing =
      Backing::over(static_cast<std::byte*>(data) - before, allocation.size, std::move(owner));
  allocation.backing->shadow().notes = m.watched;
  allocation.all_written = true;
  allocation.name = name;
  m.live[address - before] = &allocation;
  m.current = nullptr;
}

void DeviceMemory::unmap_host(std::uint64_t address) {
  Impl& m = *impl_;
  std::unique_lock lock(m.mutex);
  const std::uint64_t base = address - address % kRegionAlignment;
  m.live.erase(base);
  m.allocations.erase(base);
  m.current = nullptr;
}

std::uint64_t DeviceMemory::capacity() const {
  return impl_->capacity;
}

std::uint64_t DeviceMemory::used() const {
  std::shared_lock lock(impl_->mutex);
  return impl_->used;
}

bool DeviceMemory::write(std::uint64_t address, const void* source, std::uint64_t bytes) {
  std::unique_lock lock(impl_->mutex);
  const auto found = impl_->holding(address, bytes);
  if (found == impl_->allocations.end()) return false;
  Impl::Allocation& allocation = found->second;
  const std::uint64_t offset = address - found->first;
  std::byte* const target = allocation.backing->data() + offset;
  const bool is_new = offset == allocation.written_prefix && !allocation.all_written;
  if (is_new && bytes >= kPopulated && allocation.size > kHeapLimit) populate(target, bytes);
  if (bytes != 0) std::memcpy(target, source, bytes);
  impl_->mark_written(allocation, offset, bytes);
  return true;
}

bool DeviceMemory::read(std::uint64_t address, void* target, std::uint64_t bytes) const {
  std::shared_lock lock(impl_->mutex);
  const Impl& m = *impl_;
  const auto found = m.holding(address, bytes);
  if (found == m.allocations.end()) return false;
  if (bytes != 0) {
    std::memcpy(target, found->second.backing->data() + (address - found->first), bytes);
  }
  return true;
}

bool DeviceMemory::copy(std::uint64_t target, std::uint64_t source, std::uint64_t bytes) {
  std::unique_lock lock(impl_->mutex);
  Impl& m = *impl_;
  const auto to = m.holding(target, bytes);
  const auto from = m.holding(source, bytes);
  if (to == m.allocations.end() || from == m.allocations.end()) return false;
  const std::uint64_t to_offset = target - to->first;
  const std::uint64_t from_offset = source - from->first;
  std::memmove(to->second.backing->data() + to_offset, from->second.backing->data() + from_offset,
               bytes);
  if (to->second.backing->written() == nullptr) return true;  // counts as written, always
  if (from->second.all_written) {
    m.mark_written(to->second, to_offset, bytes);
    return true;
  }
  if (to->second.all_written) {
    std::memset(to->second.backing->written(), 1, to->second.size);
    to->second.has_marks = true;
    to->second.all_written = false;
    m.current = nullptr;
  }
  std::uint8_t* const target_marks = to->second.marks();
  to->second.written_prefix = std::min(to->second.written_prefix, to_offset);
  std::memmove(target_marks + to_offset, from->second.marks() + from_offset, bytes);
  return true;
}

bool DeviceMemory::fill(std::uint64_t address, std::uint32_t value, unsigned width,
                        std::uint64_t count) {
  if (width != 1 && width != 2 && width != 4) return false;
  if (count > UINT64_MAX / width) return false;
  std::unique_lock lock(impl_->mutex);
  const auto found = impl_->holding(address, count * width);
  if (found == impl_->allocations.end()) return false;
  const std::uint64_t offset = address - found->first;
  std::byte* data = found->second.backing->data() + offset;
  if (width == 1) {
    std::memset(data, static_cast<int>(value & 0xff), count);
  } else {
    for (std::uint64_t k = 0; k < count; ++k) std::memcpy(data + k * width, &value, width);
  }
  impl_->mark_written(found->second, offset, count * width);
  return true;
}

bool DeviceMemory::range(std::uint64_t address, std::uint64_t* base, std::uint64_t* size) const {
  std::shared_lock lock(impl_->mutex);
  const Impl& m = *impl_;
  const auto found = m.holding(address, 1);
  if (found == m.allocations.end()) return false;
  *base = found->first;
  *size = found->second.size;
  if (found->second.parts == nullptr) return true;
  const Runs::Run run = *found->second.parts->open.at(address - found->first);
  *base += run.begin;
  *size = run.end - run.begin;
  return true;
}

bool DeviceMemory::untouched(std::uint64_t address, std::uint64_t bytes) const {
  std::shared_lock lock(impl_->mutex);
  const auto found = impl_->holding(address, bytes);
  if (found == impl_->allocations.end() || found->second.all_written) return false;
  const std::uint64_t offset = address - found->first;
  if (bytes != 0 && offset < found->second.written_prefix) return false;
  const std::uint8_t* written = found->second.backing->written() + offset;
  return std::find(written, written + bytes, std::uint8_t{1}) == written + bytes;
}

void DeviceMemory::set_name(std::uint64_t address, std::string_view name) {
  std::unique_lock lock(impl_->mutex);
  const auto found = impl_->holding(address, 1);
  if (found != impl_->allocations.end()) found->second.name = name;
}

std::string DeviceMemory::describe(std::uint64_t address) const {
  return impl_->describe(address);
}

}  // namespace baton::sim
