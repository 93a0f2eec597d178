#include "sim/engine/judge/access_place.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/lower/frame.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/memory/launch_ranges.h"
#include "sim/engine/memory/span_access.h"
#include "sim/engine/run/cluster_barrier.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {

using driver::FindingKind;

const char* name_of(const SpaceAddress& place) {
  switch (place.space) {
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kParam:
      return "parameter";
    default:
      break;
  }
  const bool is_global = window_of(place.address) == window_number(kGlobalWindow);
  return is_global && is_constant_address(place.address) ? "constant" : "global";
}

SpaceAddress resolve(Space space, std::uint64_t address) {
  if (space == Space::kConst) return {Space::kGlobal, address, false};
  if (space != Space::kGeneric) return {space, address, false};
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

std::uint32_t local_size(const CheckedAccess& a) {
  const Warp& warp = *a.x->warp;
  const CallFrame& frame = warp.frames[warp.fragments[warp.current].frame];
  return frame.stack_ends == nullptr ? a.x->local_size : stack_end(frame, a.lane);
}

bool misaligned(const CheckedAccess& a, const SpaceAddress& place) {
  if (place.address % a.aligned == 0) return false;
  fault(a.x, a.i, a.lane, CUDA_ERROR_MISALIGNED_ADDRESS, FindingKind::kMisaligned,
        fmt::format("{} {} bytes of {} memory at {:#x}, which is not a multiple of {}", a.verb,
                    a.bytes, name_of(place), place.address, a.aligned));
  return true;
}

namespace {

// Mostly the launch forgot the dynamic shared memory, or has more threads than the kernel's own
// arrays have elements. No launch can give what lies after the largest memory of a block, such as
// a negative index.
const char* shared_advice(const CheckedAccess& a, const SpaceAddress& place) {
  constexpr std::uint64_t kMost = 256 * 1024;  // no GPU gives a block more
  if (place.address >= kMost) return "";
  const bool has_own = a.x->shared.size > a.x->grid->launch.dynamic_shared;
  return has_own ? "; give the block fewer threads, or the launch more: shared = BYTES"
                 : "; give the launch more: shared = BYTES";
}

}  // namespace

void outside(const CheckedAccess& a, const SpaceAddress& place) {
  if (place.space == Space::kGlobal) {
    const DeviceMemory::Impl& memory = a.x->grid->memory->impl();
    auto kind = FindingKind::kOutOfBounds;
    switch (memory.classify(place.address)) {
      case AddressKind::kFreed:
        kind = FindingKind::kUseAfterFree;
        break;
      case AddressKind::kNull:
        kind = FindingKind::kNullPointer;
        break;
      case AddressKind::kHost:
        kind = FindingKind::kHostPointer;
        break;
      default:
        break;
    }
    fault(a.x, a.i, a.lane, CUDA_ERROR_ILLEGAL_ADDRESS, kind,
          fmt::format("{} {} bytes of {} memory at {:#x}: {}", a.verb, a.bytes, name_of(place),
                      place.address,
                      describe(*a.x->grid->memory, a.x->grid->launch.note.get(), place.address)));
    return;
  }
  const std::uint64_t size = place.space == Space::kShared  ? a.x->shared.size
                             : place.space == Space::kLocal ? local_size(a)
                                                            : a.x->params.size;
  fault(a.x, a.i, a.lane, CUDA_ERROR_ILLEGAL_ADDRESS, FindingKind::kOutOfBounds,
        fmt::format("{} {} bytes of {} memory at {:#x}, where {} has {} bytes{}", a.verb, a.bytes,
                    name_of(place), place.address,
                    place.space == Space::kShared  ? "the block"
                    : place.space == Space::kLocal ? "the thread"
                                                   : "the kernel",
                    size, place.space == Space::kShared ? shared_advice(a, place) : ""));
}

void warn_unwritten(const CheckedAccess& a, const SpaceAddress& place) {
  GridState& grid = *a.x->grid;
  if (place.space == Space::kLocal) {
    const Warp& warp = *a.x->warp;
    const CallFrame& frame = warp.frames[warp.fragments[warp.current].frame];
    if (grid.copied.has(*grid.kernel, *frame.function, a.i)) return;
  }
  const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(a.i), 0, 0, 5};
  grid.logged.add(*grid.log, key, 1, [&] {
    driver::Finding finding = finding_at(a.x, a.i, a.lane, FindingKind::kUninitialized);
    finding.message =
        place.space == Space::kGlobal
            ? fmt::format("reads {} bytes of global memory that nothing wrote, at {:#x}: {}",
                          a.bytes, place.address,
                          describe(*grid.memory, grid.launch.note.get(), place.address))
            : fmt::format("reads {} bytes of {} memory that nothing wrote, at {:#x}", a.bytes,
                          name_of(place), place.address);
    return finding;
  });
}

namespace {

// The owner must not exit before the phase of the cluster's barrier that covers the access.
void note_remote(const CheckedAccess& a, BlockState* owner) {
  const std::uint32_t phase = covering_phase(*a.x->warp, a.lane, a.x->block->cluster->barrier);
  RemoteTouch& last = owner->remote;
  if (last.insn != nullptr && last.phase >= phase) return;
  last.insn = a.i;
  last.phase = phase;
  last.bytes = a.bytes;
  last.block = a.x->block->index;
  last.thread = a.x->warp->index * kLanes + static_cast<std::uint32_t>(a.lane);
}

// "Distributed shared memory" of the CUDA programming guide: all blocks whose memory is used must
// have begun.
void check_begun(const CheckedAccess& a, std::uint32_t rank) {
  SharedWatch* watch = a.x->block->watch;
  if (watch == nullptr || watch->has_begun(a.x, rank)) return;
  report(a.x, a.i, a.lane, FindingKind::kUnstartedBlock,
         fmt::format("{} {} bytes of shared memory of block {} of its cluster, which may not have "
                     "begun: wait at the cluster's barrier before that",
                     a.verb, a.bytes, rank));
}

// The shared memory of another block of the cluster, or false after a fault.
bool find_remote(const CheckedAccess& a, const SpaceAddress& place, Region* region) {
  const ClusterState& cluster = *a.x->block->cluster;
  const std::uint32_t rank = rank_of(place.address);
  if (place.address >> (kRankShift + kRankBits) != 0 || rank >= cluster.blocks.size()) {
    fault(a.x, a.i, a.lane, CUDA_ERROR_ILLEGAL_ADDRESS, FindingKind::kOutOfBounds,
          fmt::format("{} {} bytes of shared memory at {:#x}, of block {} in a cluster of {}",
                      a.verb, a.bytes, place.address, rank, cluster.blocks.size()));
    return false;
  }
  BlockState& block = *cluster.blocks[rank];
  if (block.live_warps == 0) {
    fault(
        a.x, a.i, a.lane, CUDA_ERROR_ILLEGAL_ADDRESS, FindingKind::kExitedBlock,
        fmt::format("{} {} bytes of shared memory of block {} of its cluster, which has exited: a "
                    "block must not exit before the others have done with its memory",
                    a.verb, a.bytes, rank));
    return false;
  }
  check_begun(a, rank);
  note_remote(a, &block);
  region->base = std::uint64_t{rank} << kRankShift;
  region->size = block.shared.size();
  region->host = block.shared.data();
  region->written = block.shared_unwritten == 0 ? nullptr : block.shared_written.data();
  region->shadow = block.watch == nullptr ? nullptr : &block.watch->open(rank, a.x);
  return true;
}

}  // namespace

const Region* region_of(const CheckedAccess& a, const SpaceAddress& place, Region* remote) {
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
    region = a.x->grid->region_at(place.address, remote);
  }
  const std::uint64_t offset = region == nullptr ? 0 : place.address - region->base;
  if (region == nullptr || offset > region->size || region->size - offset < a.bytes) {
    outside(a, place);
    return nullptr;
  }
  return region;
}

void check_written(const CheckedAccess& a, const SpaceAddress& place, const Region& region,
                   std::uint64_t offset) {
  // Of shared memory words are known, of global memory bytes.
  const bool is_global = place.space == Space::kGlobal;
  const std::uint8_t* written = region.written + (is_global ? offset : offset / 4);
  const std::uint32_t count = is_global ? a.bytes : std::max(a.bytes / 4, 1u);
  if (std::all_of(written, written + count, [](std::uint8_t w) { return w == 0; })) {
    warn_unwritten(a, place);
  }
}

void mark(Exec* x, const SpaceAddress& place, const Region& region, std::uint64_t offset,
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

}  // namespace baton::sim
