#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "sim/engine/async/acquired_maps.h"
#include "sim/engine/async/mbarrier.h"
#include "sim/engine/async/tensor_tile.h"
#include "sim/engine/async/wgmma_state.h"
#include "sim/engine/isa/insn.h"
#include "sim/engine/isa/reduce.h"
#include "sim/engine/memory/span_access.h"

namespace baton::sim {

struct BlockState;

// What a block's threads have asked for that is still to happen. Nothing of it happens before
// a thread waits for it: a program that does not wait sees the memory as it was before. Every
// record keeps the instruction that it comes from.

// cp.async, or cp.async.mbarrier.arrive, by lanes of one warp that executed it together.
struct ThreadCopy {
  const Insn* insn = nullptr;
  const DecodedFunction* function = nullptr;
  std::uint32_t lanes = 0;                       // for which it has not happened
  std::uint8_t bytes = 0;                        // copied by each; 0: an arrival
  bool no_inc = false;                           // of an arrival
  std::array<std::uint32_t, kLanes> to = {};     // in the block's shared memory; of the mbarrier
  std::array<std::uint32_t, kLanes> group = {};  // commits of the lane before this
  std::array<std::array<std::byte, 16>, kLanes> data = {};  // as read when it was asked for
};

// cp.async.bulk, cp.reduce.async.bulk, also of tensors, st.async and red.async by one thread.
struct BulkCopy {
  const Insn* insn = nullptr;
  const DecodedFunction* function = nullptr;
  std::uint32_t rank = 0;    // of the thread's block in the cluster
  std::uint32_t thread = 0;  // in its block
  MemorySpan from;           // no bytes: the data are here already
  MemorySpan to;
  // What stands for global memory in place of `from` or `to`: part of a tensor. Several blocks may
  // be sent one.
  std::shared_ptr<const TensorTile> tile;
  std::uint32_t byte_mask = 0xffff;  // which of every 16 bytes are written
  Reduce reduce;                     // none: a copy
  std::vector<std::byte> data;       // once read
  bool has_data = false;
  std::uint32_t mark = 0;    // offset of the mbarrier, or the number of the group
  std::uint32_t ticket = 0;  // of SharedWatch::note_bulk
};

// Lanes that were told at an mbarrier of their block that a phase still goes on, though it was over
// (mbarrier.cc).
struct PutOff {
  std::uint32_t offset = 0;  // of the mbarrier
  std::uint64_t phase = 0;   // MbarrierRecord::phase
  std::uint32_t lanes = 0;
};

struct WarpAsync {
  std::deque<ThreadCopy> copies;
  std::array<std::uint32_t, kLanes> committed = {};       // groups of cp.async
  std::array<std::uint32_t, kLanes> bulk_committed = {};  // groups of bulk copies
  std::vector<PutOff> put_off;                            // one of each mbarrier
};

struct AsyncState {
  std::vector<MbarrierRecord> mbarriers;
  std::vector<WarpAsync> warps;    // by warp; empty while nothing asynchronous happened
  std::vector<BulkCopy> arriving;  // an mbarrier of this block awaits them
  std::vector<BulkCopy> leaving;   // in bulk groups of this block's threads
  AcquiredMaps maps;
  WgmmaState wgmma;
  std::uint32_t arrivals = 0;  // of cp.async.mbarrier.arrive that are to come, by lane

  void clear();
};

// Of a warp of the block.
WarpAsync& warp_async(BlockState& block, std::uint32_t warp);

// The most copies that a warp, or a block, has under way. With one more, the oldest is done early.
inline constexpr std::size_t kMostUnderWay = 1024;

}  // namespace baton::sim
