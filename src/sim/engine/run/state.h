#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine/async/async_state.h"
#include "sim/engine/judge/copied_reads.h"
#include "sim/engine/judge/flags.h"
#include "sim/engine/judge/grid_flags.h"
#include "sim/engine/judge/peer_clock.h"
#include "sim/engine/lower/function.h"
#include "sim/engine/memory/memory_impl.h"
#include "sim/engine/report/findings.h"
#include "sim/engine/report/output.h"
#include "sim/engine/report/trace.h"
#include "sim/engine/run/engine.h"
#include "sim/engine/run/exec.h"
#include "sim/engine/run/workspace.h"

namespace baton::sim {

// One activation of a function by some lanes of a warp. Lanes that called together share it.
struct CallFrame {
  std::byte* base = nullptr;  // registers
  const DecodedFunction* function = nullptr;
  const Insn* return_to = nullptr;  // null for the kernel itself
  const CallSite* call = nullptr;
  std::uint32_t parent = 0;
  std::uint32_t depth = 0;
  std::uint32_t local_base = 0;         // of the function's variables in local memory
  std::uint32_t lanes = 0;              // that have not returned yet; 0: free for another use
  std::uint32_t return_count = 0;       // instruction count of the caller at return_to
  std::unique_ptr<std::byte[]> memory;  // where `base` points; empty for the kernel's frame
  std::uint32_t memory_bytes = 0;
  // Where the stack of each lane ends in local memory, once one of them allocated there (stack.h).
  std::unique_ptr<std::array<std::uint32_t, kLanes>> stack_ends;
};

enum class Wait : std::uint8_t {
  kNone,       // can run
  kBarrier,    // bar.sync, bar.red: `id` is the barrier
  kConverge,   // for the other lanes of `members`, at this instruction
  kWarpSync,   // bar.warp.sync: for the other lanes of `members`, wherever they call it
  kGrid,       // griddepcontrol.wait
  kCluster,    // barrier.cluster.wait
  kMbarrier,   // mbarrier.try_wait: `members` is the mbarrier's offset in shared memory
  kWarpgroup,  // wgmma.wait_group: for the other warps to commit the group, too
};

// Lanes of a warp that stand at one place. Lanes of different fragments are disjoint, so a warp has
// 32 at most.
struct Fragment {
  const Insn* pc = nullptr;
  std::uint32_t mask = 0;
  std::uint32_t frame = 0;  // index in Warp::frames
  std::uint32_t from = 0;   // instruction count at pc
  Wait wait = Wait::kNone;
  std::uint8_t id = 0;
  std::uint32_t members = 0;
  const Insn* pending = nullptr;  // a bar.red whose result is still to be written
  bool timed_out = false;         // waited at an mbarrier as long as it may
};

struct Warp {
  std::uint32_t index = 0;
  std::uint32_t live = 0;  // lanes that have not exited
  // Which lanes come after which other grids; what of it their latest fence released; and what
  // flags that they have seen since will add after the next one.
  OrderedLanes ordered, released, seen;
  OrderedLanes released_to_device;  // by the latest fence of that scope
  std::uint32_t fenced = 0;         // lanes that executed a fence
  std::uint32_t fenced_for_device = 0;
  std::uint32_t count = 0;
  std::uint32_t current = 0;
  std::uint32_t turn = 0;  // the fragment that was chosen last out of turn: all get theirs
  // A fragment that was chosen out of turn, because another one spins: joins do not stop it.
  bool out_of_turn = false;
  bool rotate = false;       // choose one out of turn next
  bool spinning = false;     // gave up its last slice waiting for others
  std::uint32_t spin = 0;    // Exec::spin at the end of its last slice, which may end between polls
  std::uint32_t slices = 0;  // ended since the fragments last changed
  // How its latest slice left it, if that wrote nothing to global memory (fingerprint.h).
  struct Left {
    const Insn* pc = nullptr;
    std::uint64_t registers = 0, shared = 0;
    bool goes_round = false;  // as the slice before it did
  };
  Left left;
  std::array<Fragment, kLanes> fragments;
  std::vector<CallFrame> frames;
  std::vector<std::byte> local;  // words of all lanes side by side
  std::vector<std::uint32_t> local_written;
  // Lanes that arrived at the cluster's barrier and have not waited since, and whether the phase
  // that they arrived in is an odd one.
  std::uint32_t cluster_arrived = 0;
  std::uint32_t cluster_parity = 0;

  Fragment& fragment() { return fragments[current]; }
  std::uint32_t runnable_fragments() const {
    std::uint32_t runnable = 0;
    for (std::uint32_t k = 0; k < count; ++k) runnable += fragments[k].wait == Wait::kNone ? 1 : 0;
    return runnable;
  }
};

struct Barrier {
  std::uint32_t expected = 0;         // threads; 0: all of the block
  std::uint32_t arrived = 0;          // threads
  OrderedLanes::Sources ordered = 0;  // what some thread that arrived comes after
  std::uint32_t count = 0;            // bar.red.popc
  bool all = true;
  bool any = false;
  std::vector<std::uint32_t> lanes;  // arrived, a mask for each warp
  std::vector<const Insn*> sites;    // where each warp arrived first
};

constexpr int kBarriers = 16;

struct ClusterState;

// The access by another block of the cluster that its owner must outlast longest.
struct RemoteTouch {
  const Insn* insn = nullptr;  // null: none
  std::uint32_t phase = 0;     // of the cluster's barrier that covers it
  std::uint32_t bytes = 0;
  Extent3 block;  // whose thread it was
  std::uint32_t thread = 0;
};

class GridRaces;
class SharedWatch;
struct SharedWatchDeleter {
  void operator()(SharedWatch* watch) const;
};

// A resident block, or the storage of one that is reused for the next block of the same grid.
struct BlockState {
  ClusterState* cluster = nullptr;  // owns this
  std::uint32_t rank = 0;           // in the cluster
  Extent3 index;
  std::uint64_t number = 0;
  std::vector<Warp> warps;
  std::unique_ptr<std::byte[]> frames;  // of all warps
  std::uint32_t frame_stride = 0;
  std::vector<std::byte> shared;
  std::vector<std::uint8_t> shared_written;  // a byte a word
  SharedWatch* watch = nullptr;              // the cluster's
  std::uint32_t shared_unwritten = 0;
  std::array<Barrier, kBarriers> barriers;
  std::uint32_t barriers_in_use = 0;  // a bit for each: a phase of it goes on
  std::uint32_t live_threads = 0;
  std::uint32_t live_warps = 0;
  std::uint32_t cursor = 0;  // the warp whose turn it is
  std::uint32_t step = 1;    // from there to the next one
  std::uint64_t clock = 0;   // warp instructions this block executed
  bool triggered = false;    // executed griddepcontrol.launch_dependents
  AsyncState async;
  bool waited = false;  // executed griddepcontrol.wait
  // Phases of the cluster's barrier that some thread waited for; and what others did to the block's
  // shared memory that nothing but that barrier orders before its exit.
  std::uint32_t cluster_phases = 0;
  RemoteTouch remote;
};

// Of all threads of a cluster. Phases follow each other; a thread arrives once in each.
struct ClusterBarrier {
  std::uint32_t live_threads = 0;  // that have not exited
  std::uint32_t arrived = 0;       // of those, in the present phase
  std::uint32_t phase = 0;
  // What some thread that arrived in this phase comes after, and in some phase before.
  OrderedLanes::Sources arriving_ordered = 0, ordered = 0;
};

// The blocks of a resident cluster, one alone in grids without clusters, or storage of one.
struct ClusterState {
  std::uint64_t number = 0;                         // in its grid
  std::vector<std::unique_ptr<BlockState>> blocks;  // by rank
  // Of all blocks' shared memory; null where there is nothing to race for.
  std::unique_ptr<SharedWatch, SharedWatchDeleter> watch;
  std::uint32_t live_blocks = 0;
  std::uint32_t cursor = 0;     // the block whose turn it is
  bool looked_at_flag = false;  // since it last went on; told where races inside grids are found
  bool spun = false;            // some warp waited for others by polling since this was cleared
  // Warp instructions since it was last known whether the cluster only polls.
  std::uint64_t undecided = 0;
  std::uint32_t time_outs = 0;  // of waits at mbarriers, with no phase of any ending in between
  ClusterBarrier barrier;
};

class EngineImpl;

struct GridState final : public Grid {
  GridLaunch launch;
  std::shared_ptr<const DecodedKernel> kernel;
  std::uint64_t id = 0;
  std::uint32_t shared_bytes = 0;
  std::uint64_t total_clusters = 0;
  std::uint32_t threads = 0;
  std::uint32_t warps = 0;
  std::uint64_t max_resident = 1;  // clusters
  int sm_count = 1;                // of the device, whatever part of it the launch has
  std::uint32_t clock_khz = 1;
  std::atomic<std::uint64_t>* device_clock = nullptr;  // the engine's
  FindingLog* log = nullptr;
  PrintedText output;
  Workspaces::Hold workspace;  // of a cooperative launch
  DeviceMemory* memory = nullptr;
  const EngineConfig* config = nullptr;                    // the engine's
  const DeviceMemory::Impl::Snapshot* snapshot = nullptr;  // while it is being advanced
  // Of a launch with ranges: what it may access, and the snapshot that this was made from.
  std::shared_ptr<const DeviceMemory::Impl::Snapshot> restricted, restricted_from;

  std::atomic<std::uint64_t> next_cluster{0};
  std::atomic<std::uint64_t> finished_clusters{0};
  std::atomic<std::uint64_t> triggered_blocks{0};  // or ended without having triggered
  std::atomic<State> now{State::kRunning};
  bool stops_at_trigger = false;  // as the schedule wants it
  bool watches_shared = false;
  std::atomic<bool> reads_time{false};  // whoever waits for time to pass does not wait in vain
  Trace* trace = nullptr;               // null where there is none
  // Ordering::Relation to others, by their numbers' low bits; filled in when asked for.
  std::unique_ptr<std::atomic<std::uint8_t>[]> relations;
  // Of the grid's own accesses with each other; null where that is not looked for.
  std::shared_ptr<GridRaces> races;
  // Whether flags may order it and grids of other devices (peer_order.h).
  bool orders_peers = false;
  // By which its clusters order each other; null where that is not followed.
  std::unique_ptr<GridFlags> cluster_flags;
  // What its threads know of other grids from the beginning, and from the wait on, once it was
  // asked for.
  std::array<std::optional<PeerClock>, 2> inherited;
  LoggedFindings logged;
  CopiedReads copied;
  FlagTable shared_flags;  // in shared memory; those in global memory are the memory's own
  AcquiredGrids acquired;
  // Whether all grids that griddepcontrol.wait waits for have completed. A grid without a
  // programmatic dependency starts after them.
  std::atomic<bool> prerequisites_done{true};
  mutable std::mutex mutex;  // guards what follows
  std::deque<std::unique_ptr<ClusterState>> parked;
  std::size_t due = 0;  // of these, that go on first, whatever the schedule (Exec::gives_way)
  std::vector<std::unique_ptr<ClusterState>> spare;
  std::uint64_t resident = 0;
  CUresult error = CUDA_SUCCESS;
  // Of several faults that of the cluster with the least number counts, whichever came first.
  std::uint64_t faulted_cluster = UINT64_MAX;
  std::optional<driver::Finding> fault_found;  // until it is logged
  driver::Counters totals;

  State state() const override { return now.load(std::memory_order_acquire); }
  CUresult fault() const override;
  std::uint64_t fingerprint() const override;
  driver::Counters counters() const override;
  std::vector<std::string> wait_report() const override;
  bool begun() const override {
    return next_cluster.load(std::memory_order_relaxed) == total_clusters;
  }
  double ended_share() const override {
    return static_cast<double>(finished_clusters.load(std::memory_order_relaxed)) /
           static_cast<double>(total_clusters);
  }
  // That a block runs on, by the block's number.
  std::uint32_t multiprocessor_of(std::uint64_t block) const {
    if (launch.sms != nullptr) return (*launch.sms)[block % launch.sms->size()];
    return static_cast<std::uint32_t>(block % static_cast<std::uint64_t>(sm_count));
  }
  bool triggered() const override {
    return triggered_blocks.load(std::memory_order_relaxed) == launch.grid.count();
  }
  void release_wait() override;

  // The global memory that holds the address, or null. Not all is kept; `storage` holds the rest.
  const Region* region_at(std::uint64_t address, Region* storage) const;

  void set_fault(std::uint64_t cluster, CUresult code, driver::Finding finding);
  // After the workers stopped.
  void log_fault();
  void add(const driver::Counters& counters);
};

}  // namespace baton::sim
