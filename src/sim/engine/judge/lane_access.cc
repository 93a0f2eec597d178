#include "sim/engine/judge/lane_access.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/engine/judge/access_place.h"
#include "sim/engine/judge/fence.h"
#include "sim/engine/judge/shadow.h"
#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/judge/watch.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/memory/span_access.h"
#include "sim/engine/memory/whole_access.h"

namespace baton::sim {
namespace {

// Local memory keeps words of all lanes side by side. `copy` gets each word's place in turn.
template <class F>
bool each_local_word(const CheckedAccess& a, const SpaceAddress& place, F&& copy) {
  Exec* x = a.x;
  const std::uint32_t size = local_size(a);
  if (place.address > size || size - place.address < a.bytes) {
    outside(a, place);
    return false;
  }
  std::uint64_t at = place.address;
  std::uint32_t done = 0;
  while (done < a.bytes) {
    const std::uint32_t within = static_cast<std::uint32_t>(at % 4);
    const std::uint32_t count = std::min(4 - within, a.bytes - done);
    std::byte* word = x->local + (at / 4) * kSlot32 + static_cast<std::size_t>(a.lane) * 4;
    copy(word + within, done, count, x->local_written[at / 4]);
    at += count;
    done += count;
  }
  return true;
}

// Order passes from a thread to another, of this grid or of another one, through flags in memory:
// by release and acquire patterns, as SharedWatch::access_flag has them within a cluster.
FlagTable& flags_of(const Exec* x, const SpaceAddress& place) {
  const bool is_shared = place.space == Space::kShared;
  return is_shared ? x->grid->shared_flags : x->grid->memory->impl().flags;
}
std::uint64_t flag_key(const Exec* x, const SpaceAddress& place) {
  if (place.space != Space::kShared) return place.address;
  const std::uint64_t rank = place.of_cluster ? rank_of(place.address) : x->block->rank;
  const std::uint64_t offset = place.address & ((1u << kRankShift) - 1);
  return x->block->cluster->blocks[rank]->number << 32 | offset;
}

void take_flag(Exec* x, int lane, const SpaceAddress& place, bool acquires_now, MemoryScope scope) {
  x->block->remote = {};  // it may have learnt so that the others are done with its memory
  GridState& grid = *x->grid;
  if (grid.relations == nullptr) return;
  const Ordering::Number own = grid.launch.number;
  flags_of(x, place).each(flag_key(x, place), [&](const FlagSource& source) {
    const bool is_told =
        source.told_within == own || (source.told_within == 0 && has_device(scope));
    const bool is_own = source.grid == own;
    if (!is_told || (is_own && !source.has_waited)) return;
    OrderedLanes& order = acquires_now ? x->warp->ordered : x->warp->seen;
    order.add(is_own ? OrderedLanes::Sources{1}
                     : grid.acquired.sources_of({source.grid, source.has_waited}),
              std::uint32_t{1} << lane);
  });
}

// A flag of the device tells what comes before all that the lane does from here on. One of a block
// or cluster tells that to the grid alone.
void tell(Exec* x, int lane, const SpaceAddress& place, const OrderedLanes& order,
          Ordering::Number told_within) {
  GridState& grid = *x->grid;
  const std::uint32_t mine = std::uint32_t{1} << lane;
  FlagTable& flags = flags_of(x, place);
  const std::uint64_t key = flag_key(x, place);
  const bool has_waited = (order.waited() & mine) != 0;
  if (told_within == 0 || has_waited) {
    flags.add(key, {grid.launch.number, has_waited, told_within});
  }
  for (int source = 1; source < OrderedLanes::kSources; ++source) {
    if ((order.of(source) & mine) == 0) continue;
    for (const FlagSource& acquired : grid.acquired.of(source)) {
      flags.add(key, {acquired.grid, acquired.has_waited, told_within});
    }
  }
}

void give_flag(Exec* x, int lane, const SpaceAddress& place, bool releases_now, MemoryScope scope) {
  if (place.of_cluster) {
    // It may tell the owner so what this block has seen, and that it is done with its memory.
    x->block->cluster->blocks[rank_of(place.address)]->remote = {};
  }
  if (x->grid->relations == nullptr) return;
  const Warp& warp = *x->warp;
  const std::uint32_t mine = std::uint32_t{1} << lane;
  const Ordering::Number own = x->grid->launch.number;
  const bool is_for_device = has_device(scope);
  if (releases_now) {
    tell(x, lane, place, warp.ordered, own);
    if (is_for_device) tell(x, lane, place, warp.ordered, 0);
    return;
  }
  if ((warp.fenced & mine) != 0) tell(x, lane, place, warp.released, own);
  if (is_for_device && (warp.fenced_for_device & mine) != 0) {
    tell(x, lane, place, warp.released_to_device, 0);
  }
}

// The address of a flag as all warps of a cluster have it.
std::uint64_t generic_address(const Exec* x, const SpaceAddress& place) {
  if (place.space != Space::kShared) return place.address;
  const std::uint64_t offset = place.address & ((1u << kRankShift) - 1);
  const std::uint64_t rank = place.of_cluster ? rank_of(place.address) : x->block->rank;
  return kSharedWindow | rank << kRankShift | offset;
}

void pass_flag(Exec* x, const Insn* i, int lane, const SpaceAddress& place, AccessKind touch) {
  const MemoryOrder order = order_of_mode(i->mode);
  const MemoryScope scope = scope_of_mode(i->mode);
  if (x->block->watch != nullptr) {
    x->block->watch->access_flag(x, generic_address(x, place), touch, order, scope);
  }
  if (touch != AccessKind::kWrite) {
    take_flag(x, lane, place, acquires_by(x, touch, order), scope);
  }
  if (touch != AccessKind::kRead) give_flag(x, lane, place, releases(order), scope);
}

// A strong vector access is one of each element (PTX ISA 9.0, "Vector Data-types").
void watch_elements(Exec* x, const Insn* i, int lane, const Region& region, bool is_shared,
                    std::uint64_t offset, std::uint32_t bytes, AccessKind touch,
                    const std::byte* value) {
  const std::uint32_t each = i->u.list[0] >> 8 & 0xff;
  for (std::uint32_t at = 0; at < bytes; at += each) {
    StoredValues values;
    if (value != nullptr) values = {{value + at}, 0, each};
    watch_lane(x, i, lane, region, is_shared, offset + at, each, touch, true,
               scope_of_mode(i->mode), values);
  }
}

}  // namespace

void watch_update(Exec* x, const Insn* i, int lane, const Region& region, std::uint64_t offset,
                  std::uint32_t bytes) {
  pass_flag(x, i, lane, {Space::kShared, region.base + offset, false}, AccessKind::kUpdate);
  watch_lane(x, i, lane, region, true, offset, bytes, AccessKind::kUpdate, true,
             scope_of_mode(i->mode));
}

void exchange_order(Exec* x, std::uint32_t lanes) {
  x->block->watch->exchange(x, lanes);
}

bool load_lane(Exec* x, const Insn* i, int lane, Space space, std::uint64_t address, void* buffer,
               std::uint32_t bytes, LoadKind kind) {
  const bool strong = kind == LoadKind::kStrong;
  const CheckedAccess access{x, i, lane, "reads", bytes, bytes};
  const SpaceAddress place = resolve(space, address);
  if (misaligned(access, place)) return false;
  if (place.space == Space::kLocal) {
    bool known = false;
    const auto copy = [&](const std::byte* word, std::uint32_t done, std::uint32_t count,
                          std::uint32_t written) {
      std::memcpy(static_cast<std::byte*>(buffer) + done, word, count);
      known = known || (written >> lane & 1) != 0;
    };
    if (!each_local_word(access, place, copy)) return false;
    if (!known) warn_unwritten(access, place);
    return true;
  }
  Region remote;
  const Region* region = region_of(access, place, &remote);
  if (region == nullptr) return false;
  const bool is_global = place.space == Space::kGlobal;
  const std::uint64_t offset = place.address - region->base;
  if (region->written != nullptr) check_written(access, place, *region, offset);
  if (strong) pass_flag(x, i, lane, place, AccessKind::kRead);
  if (region->shadow != nullptr) {
    if (strong) {
      watch_elements(x, i, lane, *region, !is_global, offset, bytes, AccessKind::kRead, nullptr);
    } else if (kind == LoadKind::kNonCoherent && is_global) {
      watch_noncoherent(x, i, lane, *region, offset, bytes);
    } else {
      watch_lane(x, i, lane, *region, !is_global, offset, bytes, AccessKind::kRead, false);
    }
  }
  if (strong) {
    load_strong(region->host + offset, buffer, bytes);
  } else {
    std::memcpy(buffer, region->host + offset, bytes);
  }
  if (is_global) x->bytes_read += bytes;
  return true;
}

bool store_lane(Exec* x, const Insn* i, int lane, Space space, std::uint64_t address,
                const void* buffer, std::uint32_t bytes, bool strong) {
  const CheckedAccess access{x, i, lane, "writes", bytes, bytes};
  const SpaceAddress place = resolve(space, address);
  if (misaligned(access, place)) return false;
  if (place.space == Space::kLocal) {
    return each_local_word(
        access, place,
        [&](std::byte* word, std::uint32_t done, std::uint32_t count, std::uint32_t& written) {
          std::memcpy(word, static_cast<const std::byte*>(buffer) + done, count);
          written |= std::uint32_t{1} << lane;
        });
  }
  if (place.space == Space::kParam) {
    fault(x, i, lane, CUDA_ERROR_ILLEGAL_ADDRESS, driver::FindingKind::kOutOfBounds,
          "writes to the kernel's parameters, which are constant");
    return false;
  }
  Region remote;
  const Region* region = region_of(access, place, &remote);
  if (region == nullptr) return false;
  const bool is_global = place.space == Space::kGlobal;
  const std::uint64_t offset = place.address - region->base;
  if (strong) pass_flag(x, i, lane, place, AccessKind::kWrite);
  if (region->shadow != nullptr) {
    const auto* value = static_cast<const std::byte*>(buffer);
    if (strong) {
      watch_elements(x, i, lane, *region, !is_global, offset, bytes, AccessKind::kWrite, value);
    } else {
      watch_lane(x, i, lane, *region, !is_global, offset, bytes, AccessKind::kWrite, false,
                 MemoryScope::kDevice, {{value}, 0, bytes});
    }
  }
  if (strong) {
    store_strong(region->host + offset, buffer, bytes);
  } else {
    std::memcpy(region->host + offset, buffer, bytes);
  }
  mark(x, place, *region, offset, bytes);
  if (is_global) x->bytes_written += bytes;
  return true;
}

std::byte* atomic_lane(Exec* x, const Insn* i, int lane, Space space, std::uint64_t address,
                       std::uint32_t bytes, std::uint32_t aligned) {
  const CheckedAccess access{x, i, lane, "updates", bytes, aligned == 0 ? bytes : aligned};
  const SpaceAddress place = resolve(space, address);
  if (misaligned(access, place)) return nullptr;
  if (place.space == Space::kLocal || place.space == Space::kParam) {
    fault(x, i, lane, CUDA_ERROR_INVALID_ADDRESS_SPACE, driver::FindingKind::kBadAtomic,
          fmt::format("an atomic operation on {} memory, at {:#x}", name_of(place), place.address));
    return nullptr;
  }
  Region remote;
  const Region* region = region_of(access, place, &remote);
  if (region == nullptr) return nullptr;
  const bool is_global = place.space == Space::kGlobal;
  const std::uint64_t offset = place.address - region->base;
  if (region->written != nullptr) {
    check_written(access, place, *region, offset);
    mark(x, place, *region, offset, bytes);
  }
  pass_flag(x, i, lane, place, AccessKind::kUpdate);
  if (region->shadow != nullptr) {
    watch_lane(x, i, lane, *region, !is_global, offset, bytes, AccessKind::kUpdate, true,
               scope_of_mode(i->mode));
  }
  if (is_global) {
    x->bytes_read += bytes;
    x->bytes_written += bytes;
    refill_region(x, i, place.address);
  }
  return region->host + offset;
}

bool refill_region(Exec* x, const Insn* i, std::uint64_t address) {
  const Region* region = x->grid->snapshot->find(address);
  if (region == nullptr || region->base % kRegionAlignment != 0) return false;
  Region& cached = x->regions[i->cache];
  cached = *region;
  const bool is_watched = x->grid->relations != nullptr || x->grid->races != nullptr;
  if (!is_watched && region->shadow != nullptr &&
      !static_cast<const Shadow*>(region->shadow)->is_read_only &&
      !static_cast<const Shadow*>(region->shadow)->has_frozen) {
    cached.shadow = nullptr;
  }
  return true;
}

}  // namespace baton::sim
