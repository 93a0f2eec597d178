#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/schedule.h"
#include "chip/chip.h"
#include "driver/simulator.h"
#include "sim/engine/judge/ordering.h"
#include "sim/engine/lower/module.h"
#include "sim/engine/memory/memory.h"

namespace baton::sim {

class Debugger;
class FindingLog;
class TextureTable;
class Trace;

struct Extent3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

// What the engine needs to know of the device.
struct EngineConfig {
  const chip::Chip* chip = nullptr;  // never null in an engine
  int sm_count = 1;
  std::uint32_t clock_khz = 1'000'000;
  // Receives what kernels print, when their grid ends, on the thread that advances it. Standard
  // output where it is empty.
  std::function<void(std::string_view)> print;
  // A thread sets the condition of a graph (cudaGraphSetConditional). Returns false for a handle of
  // none. Called by the workers.
  std::function<bool(std::uint64_t handle, std::uint32_t value)> set_condition;
  // Stops kernels for a debugger; null: there is none.
  std::shared_ptr<Debugger> debugger;
  // What kernels' handles of textures and surfaces stand for; null: for nothing.
  std::shared_ptr<const TextureTable> textures;
  bool watch_shared = false;  // look for races in shared memory
  unsigned workers = 0;       // host threads that execute blocks; 0: one a core
};

struct GridLaunch {
  std::shared_ptr<LoadedModule> module;
  const LoadedKernel* kernel = nullptr;
  Extent3 grid;
  Extent3 block;
  Extent3 cluster;                // blocks, which divide the grid's; 1, 1, 1 without clusters
  bool explicit_cluster = false;  // %is_explicit_cluster
  // All blocks are resident at once and share a barrier (grid.sync of cooperative groups).
  bool cooperative = false;
  // griddepcontrol.wait waits until Grid::release_wait; else there is nothing to wait for.
  bool waits_for_others = false;
  // Some other grid need only have triggered, or begun, before this one; it may be done by now.
  bool is_programmatic = false;
  Ordering::Number number = 0;  // in Ordering; 0: nothing else may touch memory meanwhile
  std::uint32_t dynamic_shared = 0;
  // The multiprocessors that its blocks may run on, by number; null: all of the device.
  std::shared_ptr<const std::vector<std::uint32_t>> sms;
  std::vector<std::byte> params;  // kernel->param_bytes bytes, laid out by the kernel's offsets
  // Where findings and what the grid does are noted; null: in the engine's own log, and nowhere.
  // Both outlive the grid.
  FindingLog* log = nullptr;
  Trace* trace = nullptr;
  std::vector<Ordering::Number> early;  // for the trace: grids of which it awaited the trigger
  bool watched = true;           // whether its accesses of global memory are checked, where any are
  bool counts_accesses = false;  // Counters::accesses
  bool finds_own_races = false;  // those of global memory among its own warps, where any are noted
  bool keeps_to_model = false;   // also what the memory model calls a race and kernels count on
  std::shared_ptr<const driver::LaunchNote> note;  // null: the caller told nothing
};

// One launched grid: which blocks are still to start, which are resident, and the whole state of
// every resident warp. All state is explicit, so a grid can stop anywhere and go on later, beside
// others. Owned by whoever began it; touched by Engine::advance and, between its calls, by that
// caller's thread.
class Grid {
 public:
  enum class State { kRunning, kFinished, kFaulted };
  virtual ~Grid() = default;

  virtual State state() const = 0;
  // CUDA_SUCCESS until faulted; then what the driver would report (CUDA_ERROR_ILLEGAL_ADDRESS, …).
  virtual CUresult fault() const = 0;
  // Whether every block has begun; and has triggered its dependents (griddepcontrol.
  // launch_dependents, or by ending).
  virtual bool begun() const = 0;
  virtual bool triggered() const = 0;
  // Of its blocks. Any thread may ask.
  virtual double ended_share() const = 0;
  // All grids that griddepcontrol.wait waits for have completed. Not while the grid is advanced.
  virtual void release_wait() = 0;
  // Stands for what all resident threads hold (fingerprint.h).
  virtual std::uint64_t fingerprint() const = 0;
  virtual driver::Counters counters() const = 0;
  // Where the resident warps stand, one line a group of warps at one place: for time-outs.
  virtual std::vector<std::string> wait_report() const = 0;
};

// Executes grids on one simulated device.
class Engine {
 public:
  Engine(const EngineConfig& config, DeviceMemory& memory);
  ~Engine();

  const chip::Chip& chip() const;

  std::unique_ptr<Grid> begin(GridLaunch launch);

  // Advances the given grids, all resident at once, by about `budget` warp instructions in all, and
  // returns sooner where one of them ended or `interrupt` was called. Independent blocks run on the
  // engine's worker threads. Only the device's own thread calls this.
  struct Advance {
    std::uint64_t executed = 0;  // warp instructions
    // Else all that ran only polled, or waited; a slice that was over too soon to tell is not work.
    bool worked = false;
  };
  Advance advance(std::span<Grid* const> grids, std::uint64_t budget);

  // How the grids advanced from now on order their blocks. With any schedule but kSerial one thread
  // executes them, and `advance` also returns where the last block of a grid triggers.
  void set_schedule(const Schedule& schedule);

  // Forgets which operations touched memory so far. Not while grids run.
  void forget_touches();

  // Makes `advance` return soon, the one that runs and all that follow until `resume`. Thread-safe.
  void interrupt();
  void resume();

  // Findings of grids without a log of their own, in the order first seen, equal ones merged with a
  // count. Thread-safe.
  std::vector<driver::Finding> findings() const;
  std::vector<driver::Finding> take_findings();

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace baton::sim
