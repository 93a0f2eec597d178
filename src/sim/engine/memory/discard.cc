#include "sim/engine/memory/discard.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "sim/engine/judge/access_place.h"
#include "sim/engine/judge/watch.h"
#include "sim/engine/memory/memory_impl.h"
#include "sim/engine/report/findings.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

// A part that holds the pattern as a whole was not written since, as good as surely.
constexpr std::uint64_t kPart = 16;

const std::array<std::byte, kDiscardedBytes>& lost_values() {
  static const auto values = [] {
    std::array<std::byte, kDiscardedBytes> bytes;
    std::uint32_t state = 0x9e3779b9;
    for (std::byte& byte : bytes) {
      state = state * 1664525 + 1013904223;
      byte = static_cast<std::byte>(state >> 24);
    }
    return bytes;
  }();
  return values;
}

}  // namespace

const Insn* op_discard(Exec* x, const Insn* i) {
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t address = slot_at<std::uint64_t>(x, i->r[0])[lane];
    const CheckedAccess access{x, i, lane, "discards", kDiscardedBytes, kDiscardedBytes};
    const SpaceAddress place = resolve(Space::kGeneric, address);
    if (place.space != Space::kGlobal) {
      return fault(x, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION, driver::FindingKind::kUnsupported,
                   fmt::format("discards {} bytes of {} memory at {:#x}: the effect is documented "
                               "for global memory alone",
                               kDiscardedBytes, name_of(place), place.address));
    }
    if (misaligned(access, place)) return nullptr;
    Region remote;
    const Region* region = region_of(access, place, &remote);
    if (region == nullptr) return nullptr;
    const std::uint64_t offset = place.address - region->base;
    const std::byte* const values = lost_values().data();
    if (region->shadow != nullptr) {
      watch_lane(x, i, lane, *region, false, offset, kDiscardedBytes, AccessKind::kWrite, false,
                 MemoryScope::kDevice, {{values}, 0, kDiscardedBytes});
    }
    std::memcpy(region->host + offset, values, kDiscardedBytes);
    x->grid->memory->impl().note_discarded(place.address);
  }
  return i + 1;
}

bool is_discard(const Insn* i) {
  return i->fn == op_discard || i->inner == op_discard;
}

void DeviceMemory::Impl::note_discarded(std::uint64_t address) {
  std::unique_lock lock(mutex);
  discarded.push_back(address);
}

void DeviceMemory::Impl::forget_discarded() {
  for (const std::uint64_t address : discarded) {
    const auto found = holding(address, kDiscardedBytes);
    if (found == allocations.end() || found->second.backing->written() == nullptr) continue;
    Allocation& allocation = found->second;
    const std::uint64_t offset = address - found->first;
    for (std::uint64_t at = 0; at < kDiscardedBytes; at += kPart) {
      const std::byte* const values = lost_values().data() + at;
      if (std::memcmp(allocation.backing->data() + offset + at, values, kPart) != 0) continue;
      if (allocation.all_written) {
        allocation.written_prefix = allocation.size;
        allocation.has_marks = false;
        allocation.all_written = false;
        current = nullptr;
        unsettled.push_back(found->first);
      }
      std::memset(allocation.marks() + offset + at, 0, kPart);
      allocation.written_prefix = std::min(allocation.written_prefix, offset + at);
    }
  }
  discarded.clear();
}

}  // namespace baton::sim
