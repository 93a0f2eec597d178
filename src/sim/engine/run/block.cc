#include "sim/engine/run/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/engine/async/bulk_copy.h"
#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/lower/frame.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/report/wait_report.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

constexpr std::int64_t kWarpSlice = 1 << 16;
constexpr std::int64_t kRound = 1 << 13;  // of a warp that is known to wait for others

void begin_warp(Warp* warp, const DecodedFunction& entry, std::uint32_t live, bool ordered) {
  warp->live = live;
  warp->ordered = warp->released = warp->released_to_device = warp->seen = {};
  if (ordered) warp->ordered.add(1, kAllLanes);
  warp->fenced = warp->fenced_for_device = 0;
  warp->count = 1;
  warp->current = warp->turn = 0;
  warp->out_of_turn = warp->rotate = warp->spinning = false;
  warp->spin = warp->slices = 0;
  warp->left = {};
  warp->fragments[0] = Fragment{};
  warp->fragments[0].pc = entry.code.data();
  warp->fragments[0].mask = live;
  for (CallFrame& frame : warp->frames) frame.lanes = 0;
  warp->frames[0].lanes = live;
  warp->frames[0].stack_ends = nullptr;
  std::fill(warp->local_written.begin(), warp->local_written.end(), 0);
  warp->cluster_arrived = warp->cluster_parity = 0;
}

// Runs one warp until it cannot or may not go on.
void run_warp(Exec* x, Warp* warp, std::int64_t slice) {
  x->warp = warp;
  x->ordered = warp->ordered.data();
  static constexpr std::uint8_t kNever = 0;
  x->apart = x->block->watch == nullptr ? &kNever : x->block->watch->apart_flag(x);
  x->shared.shadow =
      x->block->watch == nullptr ? nullptr : &x->block->watch->open(x->block->rank, x);
  x->slice = slice;
  x->spin = warp->spin;
  x->polls = 0;
  x->written_before = x->bytes_written;
  x->detours = 0;
  warp->spinning = false;
  const Insn* pc = resume(x);
  while (pc != nullptr) pc = pc->fn(x, pc);
  warp->spin = x->stop == Stop::kYield ? x->spin : 0;
}

// What others did to the block's shared memory must come before its exit.
void check_exit(Exec* x, const BlockState& block) {
  const RemoteTouch& touch = block.remote;
  if (touch.insn == nullptr || touch.phase < block.cluster_phases) return;
  GridState& grid = *x->grid;
  const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(touch.insn), 0, 0, 4};
  grid.logged.add(*grid.log, key, 1, [&] {
    driver::Finding finding(driver::FindingKind::kExitedBlock);
    finding.tag = driver::tag_of(grid.launch.note.get());
    finding.kernel = grid.launch.kernel->name;
    finding.block = {touch.block.x, touch.block.y, touch.block.z};
    finding.thread = thread_index(grid, touch.thread);
    finding.where = where_of(grid, touch.insn);
    finding.message = fmt::format(
        "touches {} bytes of shared memory of block ({}, {}, {}) of its cluster, which may exit "
        "before: it does not wait at the cluster's barrier after that",
        touch.bytes, block.index.x, block.index.y, block.index.z);
    return finding;
  });
}

BlockStop run_warps(Exec* x, BlockState* block, std::int64_t budget) {
  const auto warps = static_cast<std::uint32_t>(block->warps.size());
  std::uint32_t idle = 0;      // warps in a row that could not run
  std::uint32_t spinning = 0;  // warps in a row that only polled
  while (block->live_warps != 0) {
    if (idle == warps) return BlockStop::kWaiting;
    if (budget <= 0) return BlockStop::kBudget;
    if (spinning != 0 && spinning + idle >= warps) return BlockStop::kSpinning;
    Warp& warp = block->warps[block->cursor];
    block->cursor += block->step;
    if (block->cursor >= warps) block->cursor -= warps;
    if (warp.count == 0 || warp.runnable_fragments() == 0) {
      ++idle;
      continue;
    }
    const std::int64_t slice = std::min(warp.left.goes_round ? kRound : kWarpSlice, budget);
    const std::uint64_t before = x->warp_instructions;
    run_warp(x, &warp, slice);
    budget -= static_cast<std::int64_t>(x->warp_instructions - before);
    if (x->stop == Stop::kFault) return BlockStop::kFault;
    if (x->stop == Stop::kTrigger) return BlockStop::kTriggered;
    if (warp.count == 0) --block->live_warps;
    if (x->gives_way && block->live_warps != 0) return BlockStop::kBudget;
    if (warp.spinning) {
      ++spinning;
    } else {
      spinning = 0;
      idle = 0;
    }
  }
  if (!block->triggered) {
    x->grid->triggered_blocks.fetch_add(1, std::memory_order_relaxed);
    if (x->grid->launch.is_programmatic && !block->waited) {
      Ordering::instance().note_early_trigger(x->grid->launch.number);
    }
  }
  block->triggered = true;
  check_exit(x, *block);
  return BlockStop::kFinished;
}

}  // namespace

bool waits(const BlockState& block, Wait wait) {
  for (const Warp& warp : block.warps) {
    for (std::uint32_t k = 0; k < warp.count; ++k) {
      if (warp.fragments[k].wait == wait) return true;
    }
  }
  return false;
}

void report_deadlock(Exec* x, const ClusterState& cluster) {
  WaitReport wait_report(*x->grid);
  wait_report.add(cluster);
  const std::vector<std::string> lines = wait_report.lines();
  // In the timeline each has a bar that begins here and does not end. Fragments are but the keys.
  static_assert(WaitReport::kMostGroups < kLanes);
  if (Trace* trace = x->grid->trace) {
    const auto& bars = cluster.blocks.front()->warps.front().fragments;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      trace->begin_stuck(&bars[k], "deadlock: " + lines[k]);
    }
  }
  for (const auto& block : cluster.blocks) {
    for (Warp& warp : block->warps) {
      if (warp.count == 0) continue;
      x->block = block.get();
      x->warp = &warp;
      warp.current = 0;
      fault(x, place_in_code(warp.fragments[0]), std::countr_zero(warp.fragments[0].mask),
            CUDA_ERROR_LAUNCH_TIMEOUT, driver::FindingKind::kDeadlock,
            fmt::format("deadlock: no thread of the {} can go on ({})",
                        cluster.blocks.size() == 1 ? "block" : "cluster", fmt::join(lines, "; ")));
      return;
    }
  }
}

std::unique_ptr<BlockState> make_block(const GridState& grid, std::uint32_t rank) {
  const DecodedFunction& entry = *grid.kernel->entry;
  auto block = std::make_unique<BlockState>();
  block->rank = rank;
  block->frame_stride = (entry.frame_bytes + 63) / 64 * 64;
  block->frames = std::make_unique<std::byte[]>(std::size_t{block->frame_stride} * grid.warps + 64);
  const auto start = reinterpret_cast<std::uintptr_t>(block->frames.get());
  std::byte* frames = block->frames.get() + (64 - start % 64) % 64;
  const std::uint32_t reserved = grid.kernel->reserved_shared;
  const std::uint32_t shared =
      reserved == 0 ? grid.shared_bytes : (grid.shared_bytes + 15) / 16 * 16 + reserved;
  block->shared.resize(shared);
  block->shared_written.resize((shared + 3) / 4);
  block->warps.resize(grid.warps);
  for (std::uint32_t w = 0; w < grid.warps; ++w) {
    Warp& warp = block->warps[w];
    warp.index = w;
    warp.frames.resize(1);
    warp.frames[0].base = frames + std::size_t{w} * block->frame_stride;
    warp.frames[0].function = &entry;
    fill_frame(grid, *block, entry, w, 0, warp.frames[0].base);
    grow_local(warp, entry.local_bytes);
  }
  return block;
}

void begin_block(const GridState& grid, const Extent3& index, BlockState* block) {
  const Extent3& blocks = grid.launch.grid;
  block->index = index;
  block->number = index.x + blocks.x * (index.y + std::uint64_t{blocks.y} * index.z);
  block->live_threads = grid.threads;
  block->live_warps = grid.warps;
  block->cursor = 0;
  block->step = 1;
  block->clock = 0;
  block->triggered = block->waited = false;
  block->cluster_phases = 0;
  block->remote = {};
  block->async.clear();
  std::fill(block->shared.begin(), block->shared.end(), std::byte{0});
  std::fill(block->shared_written.begin(), block->shared_written.end(), 0);
  // What the system has for itself is cleared, as programs expect.
  const std::uint32_t reserved = grid.kernel->reserved_shared / 4;
  std::fill_n(block->shared_written.rbegin(), reserved, 1);
  block->shared_unwritten = static_cast<std::uint32_t>(block->shared_written.size()) - reserved;
  block->barriers_in_use = 0;
  for (Warp& warp : block->warps) {
    const std::uint32_t rest = grid.threads - warp.index * kLanes;
    begin_warp(&warp, *grid.kernel->entry,
               rest >= kLanes ? kAllLanes : (std::uint32_t{1} << rest) - 1,
               !grid.launch.is_programmatic);
    fill_block_slots(grid, *block, *grid.kernel->entry, warp.frames[0].base);
  }
}

namespace {

// What a block does now comes after all that blocks did before.
void begin_clock(const GridState& grid, BlockState* block) {
  const std::uint64_t now = grid.device_clock->load(std::memory_order_relaxed);
  block->clock = std::max(block->clock, now);
}

void end_clock(const GridState& grid, const BlockState& block) {
  std::uint64_t now = grid.device_clock->load(std::memory_order_relaxed);
  while (now < block.clock &&
         !grid.device_clock->compare_exchange_weak(now, block.clock, std::memory_order_relaxed)) {
  }
}

}  // namespace

BlockStop run_block(Exec* x, BlockState* block, std::int64_t budget) {
  begin_clock(*x->grid, block);
  x->block = block;
  x->shared.base = std::uint64_t{block->rank} << kRankShift;
  x->shared.size = block->shared.size();
  x->shared.host = block->shared.data();
  x->shared_unwritten = block->shared_unwritten;
  x->shared.written = block->shared_unwritten == 0 ? nullptr : block->shared_written.data();
  const std::uint64_t before = x->warp_instructions;
  block->clock -= before;  // op_clock adds what x counts
  const BlockStop stop = run_warps(x, block, budget);
  if (stop == BlockStop::kFinished) finish_async(x);
  block->clock += x->warp_instructions;
  end_clock(*x->grid, *block);
  block->shared_unwritten = x->shared_unwritten;
  return stop;
}

}  // namespace baton::sim
