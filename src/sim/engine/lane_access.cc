#include "sim/engine/lane_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <optional>
#include <thread>

#include "sim/engine/address.h"
#include "sim/engine/cluster_barrier.h"
#include "sim/engine/shared_watch.h"
#include "sim/engine/span_access.h"
#include "sim/engine/state.h"
#include "sim/engine/warp.h"
#include "sim/engine/watch.h"

namespace baton::sim {
namespace {

using driver::Finding;

const char* name_of(Space space) {
  switch (space) {
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kParam:
      return "parameter";
    default:
      return "global";
  }
}

// An address with its space and the offset there.
struct Place {
  Space space = Space::kGlobal;
  std::uint64_t address = 0;
  bool of_cluster = false;  // shared memory of any block of the cluster
};

Place resolve(Space space, std::uint64_t address) {
  if (space == Space::kConst) return {Space::kGlobal, address, false};
  if (space != Space::kGeneric && space != Space::kParam) return {space, address, false};
  switch (window_of(address)) {
    case window_number(kSharedWindow):
      return {Space::kShared, address - kSharedWindow, true};
    case window_number(kLocalWindow):
      return {Space::kLocal, address - kLocalWindow, false};
    case window_number(kParamWindow):
      return {Space::kParam, address - kParamWindow, false};
    default:
      return {Space::kGlobal, address, false};
  }
}

struct Access {
  Exec* x;
  const Insn* i;
  int lane;
  const char* verb;  // "reads"
  std::uint32_t bytes;
  std::uint32_t aligned;  // what the address must be a multiple of
};

bool misaligned(const Access& a, const Place& place) {
  if (place.address % a.aligned == 0) return false;
  fault(a.x, a.i, a.lane, CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned",
        fmt::format("{} {} bytes of {} memory at {:#x}, which is no multiple of {}", a.verb,
                    a.bytes, name_of(place.space), place.address, a.aligned));
  return true;
}

void outside(const Access& a, const Place& place) {
  if (place.space == Space::kGlobal) {
    const DeviceMemory::Impl& memory = a.x->grid->memory->impl();
    const char* kind = "out_of_bounds";
    switch (memory.classify(place.address)) {
      case AddressKind::kFreed:
        kind = "use_after_free";
        break;
      case AddressKind::kNull:
        kind = "null_pointer";
        break;
      case AddressKind::kHost:
        kind = "host_pointer";
        break;
      default:
        break;
    }
    fault(a.x, a.i, a.lane, CUDA_ERROR_ILLEGAL_ADDRESS, kind,
          fmt::format("{} {} bytes of global memory at {:#x}: {}", a.verb, a.bytes, place.address,
                      memory.describe(place.address)));
    return;
  }
  const std::uint64_t size = place.space == Space::kShared  ? a.x->shared.size
                             : place.space == Space::kLocal ? a.x->local_size
                                                            : a.x->params.size;
  fault(a.x, a.i, a.lane, CUDA_ERROR_ILLEGAL_ADDRESS, "out_of_bounds",
        fmt::format("{} {} bytes of {} memory at {:#x}, where {} has {} bytes", a.verb, a.bytes,
                    name_of(place.space), place.address,
                    place.space == Space::kShared  ? "the block"
                    : place.space == Space::kLocal ? "the thread"
                                                   : "the kernel",
                    size));
}

void warn_unwritten(const Access& a, const Place& place) {
  report(a.x, a.i, a.lane, Finding::Severity::kWarning, "uninitialized",
         place.space == Space::kGlobal
             ? fmt::format("reads {} bytes of global memory that nothing wrote, at {:#x}: {}",
                           a.bytes, place.address, a.x->grid->memory->describe(place.address))
             : fmt::format("reads {} bytes of {} memory that nothing wrote, at {:#x}", a.bytes,
                           name_of(place.space), place.address));
}

// The owner must not exit before the phase of the cluster's barrier that covers the access.
void note_remote(const Access& a, BlockState* owner) {
  const std::uint32_t phase = covering_phase(*a.x->warp, a.lane, a.x->block->cluster->barrier);
  RemoteTouch& last = owner->remote;
  if (last.insn != nullptr && last.phase >= phase) return;
  last.insn = a.i;
  last.phase = phase;
  last.bytes = a.bytes;
  last.block = a.x->block->index;
  last.thread = a.x->warp->index * kLanes + static_cast<std::uint32_t>(a.lane);
}

// The shared memory of another block of the cluster, or false after a fault.
bool find_remote(const Access& a, const Place& place, Region* region) {
  const ClusterState& cluster = *a.x->block->cluster;
  const std::uint32_t rank = rank_of(place.address);
  if (place.address >> (kRankShift + kRankBits) != 0 || rank >= cluster.blocks.size()) {
    fault(a.x, a.i, a.lane, CUDA_ERROR_ILLEGAL_ADDRESS, "out_of_bounds",
          fmt::format("{} {} bytes of shared memory at {:#x}, of block {} in a cluster of {}",
                      a.verb, a.bytes, place.address, rank, cluster.blocks.size()));
    return false;
  }
  BlockState& block = *cluster.blocks[rank];
  if (block.live_warps == 0) {
    fault(
        a.x, a.i, a.lane, CUDA_ERROR_ILLEGAL_ADDRESS, "exited_block",
        fmt::format("{} {} bytes of shared memory of block {} of its cluster, which has exited: a "
                    "block must not exit before the others have done with its memory",
                    a.verb, a.bytes, rank));
    return false;
  }
  note_remote(a, &block);
  region->base = std::uint64_t{rank} << kRankShift;
  region->size = block.shared.size();
  region->host = block.shared.data();
  region->written = block.shared_unwritten == 0 ? nullptr : block.shared_written.data();
  region->shadow = block.watch == nullptr ? nullptr : &block.watch->open(rank, a.x);
  return true;
}

bool none_written(const std::uint8_t* written, std::uint64_t count) {
  return std::all_of(written, written + count, [](std::uint8_t w) { return w == 0; });
}

// The linear memory behind a place, or null after a fault. `remote` holds what is not kept.
const Region* region_of(const Access& a, const Place& place, Region* remote) {
  const Region* region = nullptr;
  if (place.space == Space::kShared) {
    region = &a.x->shared;
    if (place.of_cluster && place.address >> kRankShift != region->base >> kRankShift) {
      if (!find_remote(a, place, remote)) return nullptr;
      region = remote;
    }
  } else if (place.space == Space::kParam) {
    region = &a.x->params;
  } else {
    region = a.x->grid->snapshot->find(place.address);
  }
  const std::uint64_t offset = region == nullptr ? 0 : place.address - region->base;
  if (region == nullptr || offset > region->size || region->size - offset < a.bytes) {
    outside(a, place);
    return nullptr;
  }
  return region;
}

// Local memory keeps words of all lanes side by side. `copy` gets each word's place in turn.
template <class F>
bool each_local_word(const Access& a, const Place& place, F&& copy) {
  Exec* x = a.x;
  if (place.address > x->local_size || x->local_size - place.address < a.bytes) {
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

template <class T>
void load_whole(const std::byte* from, void* to) {
  const T value = __atomic_load_n(reinterpret_cast<const T*>(from), __ATOMIC_SEQ_CST);
  std::memcpy(to, &value, sizeof(value));
}
template <class T>
void store_whole(std::byte* to, const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  __atomic_store_n(reinterpret_cast<T*>(to), value, __ATOMIC_SEQ_CST);
}

// Operations on 16 bytes, which not every processor can do at once, take turns by address.
class WholeTurn {
 public:
  explicit WholeTurn(const std::byte* place)
      : turn_(turns()[reinterpret_cast<std::uintptr_t>(place) / 16 % kTurns]) {
    while (turn_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~WholeTurn() { turn_.clear(std::memory_order_release); }
  WholeTurn(const WholeTurn&) = delete;
  WholeTurn& operator=(const WholeTurn&) = delete;

 private:
  static constexpr std::size_t kTurns = 64;
  static std::array<std::atomic_flag, kTurns>& turns() {
    static std::array<std::atomic_flag, kTurns> all;
    return all;
  }
  std::atomic_flag& turn_;
};

void load_strong(const std::byte* from, void* to, std::uint32_t bytes) {
  std::optional<WholeTurn> turn;
  if (bytes == 16) turn.emplace(from);
  switch (bytes) {
    case 1:
      return load_whole<std::uint8_t>(from, to);
    case 2:
      return load_whole<std::uint16_t>(from, to);
    case 4:
      return load_whole<std::uint32_t>(from, to);
    case 8:
      return load_whole<std::uint64_t>(from, to);
    default:
      break;
  }
  for (std::uint32_t k = 0; k < bytes; k += 8) {
    load_whole<std::uint64_t>(from + k, static_cast<std::byte*>(to) + k);
  }
}
void store_strong(std::byte* to, const void* from, std::uint32_t bytes) {
  std::optional<WholeTurn> turn;
  if (bytes == 16) turn.emplace(to);
  switch (bytes) {
    case 1:
      return store_whole<std::uint8_t>(to, from);
    case 2:
      return store_whole<std::uint16_t>(to, from);
    case 4:
      return store_whole<std::uint32_t>(to, from);
    case 8:
      return store_whole<std::uint64_t>(to, from);
    default:
      break;
  }
  for (std::uint32_t k = 0; k < bytes; k += 8) {
    store_whole<std::uint64_t>(to + k, static_cast<const std::byte*>(from) + k);
  }
}

void mark(Exec* x, const Place& place, const Region& region, std::uint64_t offset,
          std::uint32_t bytes) {
  if (region.written == nullptr) return;
  if (place.space != Space::kShared) {
    std::memset(region.written + offset, 1, bytes);
    return;
  }
  const bool own = region.host == x->shared.host;
  mark_shared(x, own ? *x->block : *x->block->cluster->blocks[rank_of(place.address)], offset,
              bytes);
}

// Order passes from a thread to another through memory that the one writes and the other reads by
// strong operations, which wait for each other; those are no hazards themselves.
std::uint64_t flag_of(const Exec* x, const Place& place) {
  if (place.space != Space::kShared) return place.address;
  // Shared memory of different blocks; no global address is so small.
  return x->block->number << 32 | (place.address & 0xffff'ffff);
}
void take_flag(Exec* x, int lane, const Place& place) {
  x->block->remote = {};  // it may have learnt so that the others are done with its memory
  if (!x->grid->launch.is_programmatic) return;
  if (x->grid->flags.contains(flag_of(x, place))) x->warp->ordered |= std::uint32_t{1} << lane;
}
void give_flag(Exec* x, int lane, const Place& place) {
  if (place.of_cluster) {
    // It may tell the owner so what this block has seen, and that it is done with its memory.
    x->block->cluster->blocks[rank_of(place.address)]->remote = {};
  }
  if (!x->grid->launch.is_programmatic || (x->warp->ordered >> lane & 1) == 0) return;
  x->grid->flags.insert(flag_of(x, place));
}

// Which accesses order each other, as SharedWatch::synchronize takes it.
std::uint32_t object_of(const Exec* x, const Place& place) {
  if (place.space != Space::kShared) return SharedWatch::kGlobal;
  return place.of_cluster ? rank_of(place.address) : x->block->rank;
}

void pass_flag(Exec* x, int lane, const Place& place, bool takes, bool gives) {
  if (x->block->watch != nullptr) x->block->watch->synchronize(x, object_of(x, place));
  if (takes) take_flag(x, lane, place);
  if (gives) give_flag(x, lane, place);
}

}  // namespace

void watch_update(Exec* x, const Insn* i, int lane, const Region& region, std::uint64_t offset,
                  std::uint32_t bytes) {
  // Of one instruction the lanes need not be told apart: the first orders the warp.
  const bool first = lane == std::countr_zero(x->mask);
  if (first) x->block->watch->synchronize(x, x->block->rank);
  const Place place{Space::kShared, region.base + offset, false};
  take_flag(x, lane, place);
  give_flag(x, lane, place);
  watch_lane(x, i, lane, region, true, offset, bytes, Touch::kUpdate, true);
}

void mark_shared(Exec* x, BlockState& block, std::uint64_t offset, std::uint64_t bytes) {
  const bool own = &block == x->block;
  std::uint32_t& unwritten = own ? x->shared_unwritten : block.shared_unwritten;
  if (unwritten == 0) return;
  for (std::uint64_t word = offset / 4; word < (offset + bytes + 3) / 4; ++word) {
    if (block.shared_written[word] == 0) --unwritten;
    block.shared_written[word] = 1;
  }
  if (own && unwritten == 0) x->shared.written = nullptr;
}

bool check_span(Exec* x, const Insn* i, int lane, const Span& span, bool writes) {
  const Access access{x, i, lane, writes ? "writes" : "reads", span.bytes, span.aligned};
  const Place place = resolve(span.space, span.address);
  if (misaligned(access, place)) return false;
  if (place.space == Space::kLocal || place.space == Space::kParam) {
    outside(access, place);
    return false;
  }
  Region remote;
  const Region* region = region_of(access, place, &remote);
  if (region == nullptr) return false;
  const bool is_global = place.space == Space::kGlobal;
  if (is_global) (writes ? x->bytes_written : x->bytes_read) += span.bytes;
  if (writes || region->written == nullptr) return true;
  const std::uint64_t offset = place.address - region->base;
  const bool unwritten =
      is_global ? none_written(region->written + offset, span.bytes)
                : none_written(region->written + offset / 4, std::max(span.bytes / 4, 1u));
  if (unwritten) warn_unwritten(access, place);
  return true;
}

void watch_span(Exec* x, const Insn* i, int lane, const Span& span, Touch touch) {
  const Place place = resolve(span.space, span.address);
  if (place.space != Space::kGlobal) return;
  const Region* region = x->grid->snapshot->find(place.address);
  if (region == nullptr || region->shadow == nullptr) return;
  watch_lane(x, i, lane, *region, false, place.address - region->base, span.bytes, touch,
             touch == Touch::kUpdate);
}

std::byte* span_place(Exec* x, const Span& span, bool writes) {
  const Place place = resolve(span.space, span.address);
  if (place.space == Space::kShared) {
    const ClusterState& cluster = *x->block->cluster;
    const std::uint32_t rank = place.of_cluster ? rank_of(place.address) : x->block->rank;
    if (rank >= cluster.blocks.size()) return nullptr;
    BlockState& block = *cluster.blocks[rank];
    const std::uint64_t offset = place.address & ((1u << kRankShift) - 1);
    const bool gone = &block != x->block && block.live_warps == 0;
    if (gone || offset > block.shared.size() || block.shared.size() - offset < span.bytes) {
      return nullptr;
    }
    if (writes) mark_shared(x, block, offset, span.bytes);
    return block.shared.data() + offset;
  }
  const Region* region = x->grid->snapshot->find(place.address);
  if (region == nullptr || region->size - (place.address - region->base) < span.bytes) {
    return nullptr;
  }
  const std::uint64_t offset = place.address - region->base;
  if (writes && region->written != nullptr) std::memset(region->written + offset, 1, span.bytes);
  return region->host + offset;
}

bool load_lane(Exec* x, const Insn* i, int lane, Space space, std::uint64_t address, void* buffer,
               std::uint32_t bytes, bool strong) {
  const Access access{x, i, lane, "reads", bytes, bytes};
  const Place place = resolve(space, address);
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
  if (region->written != nullptr) {
    // A copy of a structure may read its padding: only what nothing wrote any byte of is worth a
    // warning.
    const bool unwritten =
        is_global ? none_written(region->written + offset, bytes)
                  : none_written(region->written + offset / 4, std::max(bytes / 4, 1u));
    if (unwritten) warn_unwritten(access, place);
  }
  if (strong) pass_flag(x, lane, place, true, false);
  if (region->shadow != nullptr) {
    watch_lane(x, i, lane, *region, !is_global, offset, bytes, Touch::kRead, strong);
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
  const Access access{x, i, lane, "writes", bytes, bytes};
  const Place place = resolve(space, address);
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
    fault(x, i, lane, CUDA_ERROR_ILLEGAL_ADDRESS, "out_of_bounds",
          "writes to the kernel's parameters, which are constant");
    return false;
  }
  Region remote;
  const Region* region = region_of(access, place, &remote);
  if (region == nullptr) return false;
  const bool is_global = place.space == Space::kGlobal;
  const std::uint64_t offset = place.address - region->base;
  if (strong) pass_flag(x, lane, place, false, true);
  if (region->shadow != nullptr) {
    watch_lane(x, i, lane, *region, !is_global, offset, bytes, Touch::kWrite, strong,
               {static_cast<const std::byte*>(buffer), 0});
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
  const Access access{x, i, lane, "updates", bytes, aligned == 0 ? bytes : aligned};
  const Place place = resolve(space, address);
  if (misaligned(access, place)) return nullptr;
  if (place.space == Space::kLocal || place.space == Space::kParam) {
    fault(x, i, lane, CUDA_ERROR_INVALID_ADDRESS_SPACE, "bad_atomic",
          fmt::format("an atomic operation on {} memory, at {:#x}", name_of(place.space),
                      place.address));
    return nullptr;
  }
  Region remote;
  const Region* region = region_of(access, place, &remote);
  if (region == nullptr) return nullptr;
  const bool is_global = place.space == Space::kGlobal;
  const std::uint64_t offset = place.address - region->base;
  if (region->written != nullptr) {
    const bool unwritten = is_global ? none_written(region->written + offset, bytes)
                                     : none_written(region->written + offset / 4, (bytes + 3) / 4);
    if (unwritten) warn_unwritten(access, place);
    mark(x, place, *region, offset, bytes);
  }
  pass_flag(x, lane, place, true, true);
  if (region->shadow != nullptr) {
    watch_lane(x, i, lane, *region, !is_global, offset, bytes, Touch::kUpdate, true);
  }
  if (is_global) {
    x->bytes_read += bytes;
    x->bytes_written += bytes;
    refill_region(x, i, place.address);
  }
  return region->host + offset;
}

namespace {

template <bool Compares>
const Insn* exchange_wide(Exec* x, const Insn* i) {
  constexpr std::uint32_t kBytes = 16;
  const bool narrow = (i->negated & 1) != 0;
  std::uint32_t unchanged = 0;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int l = std::countr_zero(left);
    const std::uint64_t base =
        narrow ? slot_at<std::uint32_t>(x, i->r[1])[l] : slot_at<std::uint64_t>(x, i->r[1])[l];
    std::byte* place = atomic_lane(x, i, l, static_cast<Space>(i->mode),
                                   base + static_cast<std::uint64_t>(i->imm), kBytes);
    if (place == nullptr) return nullptr;
    const auto value = [&](int k) { return x->frame + i->r[k] + std::size_t{kBytes} * l; };
    std::byte old[kBytes];
    const WholeTurn turn(place);
    std::memcpy(old, place, kBytes);
    const bool equal = !Compares || std::memcmp(old, value(2), kBytes) == 0;
    if (equal) std::memcpy(place, value(Compares ? 3 : 2), kBytes);
    unchanged += equal ? 0 : 1;
    if (i->r[0] != 0) std::memcpy(value(0), old, kBytes);
  }
  x->spin += unchanged;
  return i + 1;
}

}  // namespace

const Insn* op_exchange_wide(Exec* x, const Insn* i) {
  return exchange_wide<false>(x, i);
}
const Insn* op_swap_wide(Exec* x, const Insn* i) {
  return exchange_wide<true>(x, i);
}

bool refill_region(Exec* x, const Insn* i, std::uint64_t address) {
  const Region* region = x->grid->snapshot->find(address);
  if (region == nullptr) return false;
  x->regions[i->cache] = *region;
  return true;
}

}  // namespace baton::sim
