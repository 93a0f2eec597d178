#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "sim/engine/run/block_scheduler.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

// The host threads that execute blocks. The thread that calls `run` works too, so one worker means
// no other thread.
class WorkerPool {
 public:
  // `count` workers; 0 for one a core.
  explicit WorkerPool(unsigned count);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs blocks of the grid, about `budget` warp instructions in all, until it ends, `interrupted`
  // is set or none of its blocks can go on without another grid. With another schedule than kSerial
  // the calling thread alone works, and stops where the grid's last block triggers. Returns how
  // many warp instructions were executed.
  Engine::Advance run(GridState* grid, std::shared_ptr<const DeviceMemory::Impl::Snapshot> snapshot,
                      std::uint64_t budget, const std::atomic<bool>& interrupted);

  // Not while grids are run.
  void set_schedule(const Schedule& schedule) { scheduler_ = BlockScheduler(schedule); }
  const Schedule& schedule() const { return scheduler_.schedule(); }

 private:
  struct Job {
    GridState* grid = nullptr;
    const DeviceMemory::Impl::Snapshot* snapshot = nullptr;
    std::atomic<std::int64_t> budget{0};
    std::atomic<std::uint64_t> executed{0};
    std::atomic<bool> worked{false};
    const std::atomic<bool>* interrupted = nullptr;
  };
  // What one worker keeps between runs.
  struct Worker {
    std::vector<Region> regions;
    std::shared_ptr<const DeviceMemory::Impl::Snapshot> snapshot;  // that `regions` come from
    std::uint64_t grid = 0;
  };

  void work(Worker* worker);
  void loop(std::stop_token stop, Worker* worker);

  Job job_;
  BlockScheduler scheduler_{Schedule{}};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::condition_variable done_;
  std::uint64_t generation_ = 0;
  unsigned busy_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::jthread> threads_;
};

}  // namespace baton::sim
