#include "sim/engine/run/workers.h"

#include <algorithm>
#include <utility>

#include "sim/engine/judge/peer_order.h"
#include "sim/engine/run/block.h"
#include "sim/engine/run/cluster.h"

namespace baton::sim {
namespace {

// A block runs this long before others of its grid, which it may wait for, get a turn.
constexpr std::int64_t kBlockSlice = 1 << 20;
constexpr std::uint64_t kWarpsWorthSharing = 64;
// Instructions of a warp.
constexpr std::uint64_t kUndecided = std::uint64_t{1} << 16;

// Whether a cluster is known to do more than poll or wait. Where its slices are over before that
// shows, it is taken for working once all of its warps had the time to show it.
bool works(BlockStop stop, std::uint64_t executed, const GridState& grid, ClusterState* cluster) {
  const bool polls = stop == BlockStop::kSpinning || stop == BlockStop::kWaiting ||
                     (stop == BlockStop::kBudget && cluster->spun);
  if (!polls && stop != BlockStop::kBudget) return true;
  cluster->undecided = polls ? 0 : cluster->undecided + executed;
  if (cluster->undecided < kUndecided * grid.warps * cluster->blocks.size()) return false;
  cluster->undecided = 0;
  return true;
}

// Returns how many are parked now.
std::uint64_t park(GridState* grid, std::unique_ptr<ClusterState> cluster) {
  std::lock_guard lock(grid->mutex);
  // One that polls lets all others pass, one that merely ran long goes on next.
  if (cluster->spun || grid->due != 0) {
    grid->parked.push_back(std::move(cluster));
  } else {
    grid->parked.push_front(std::move(cluster));
  }
  return grid->parked.size();
}

// All that are parked go on before the cluster does, if any of them may poll.
void let_pollers_go(GridState* grid, ClusterState* cluster) {
  std::lock_guard lock(grid->mutex);
  cluster->spun = std::any_of(grid->parked.begin(), grid->parked.end(), [](const auto& other) {
    return other->spun || other->looked_at_flag;
  });
  if (cluster->spun) grid->due = grid->parked.size();
}

void finish(GridState* grid, std::unique_ptr<ClusterState> cluster) {
  std::lock_guard lock(grid->mutex);
  --grid->resident;
  grid->spare.push_back(std::move(cluster));
  const std::uint64_t finished =
      grid->finished_clusters.fetch_add(1, std::memory_order_relaxed) + 1;
  if (finished == grid->total_clusters) {
    auto running = Grid::State::kRunning;
    grid->now.compare_exchange_strong(running, Grid::State::kFinished, std::memory_order_release);
    grid->spare.clear();
  }
}

// A cluster that comes before the one that faulted and has not ended, or null.
std::unique_ptr<ClusterState> take_before_fault(GridState* grid) {
  std::lock_guard lock(grid->mutex);
  const auto found =
      std::find_if(grid->parked.begin(), grid->parked.end(),
                   [&](const auto& cluster) { return cluster->number < grid->faulted_cluster; });
  if (grid->error == CUDA_SUCCESS || found == grid->parked.end()) return nullptr;
  std::unique_ptr<ClusterState> cluster = std::move(*found);
  grid->parked.erase(found);
  return cluster;
}

}  // namespace

WorkerPool::WorkerPool(unsigned count) {
  if (count == 0) count = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned k = 0; k < count; ++k) workers_.push_back(std::make_unique<Worker>());
  for (unsigned k = 1; k < count; ++k) {
    threads_.emplace_back(
        [this, worker = workers_[k].get()](std::stop_token stop) { loop(stop, worker); });
  }
}

WorkerPool::~WorkerPool() {
  for (std::jthread& thread : threads_) thread.request_stop();
  wake_.notify_all();
}

void WorkerPool::loop(std::stop_token stop, Worker* worker) {
  std::uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [&] { return generation_ != seen; })) return;
      seen = generation_;
    }
    work(worker);
    std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

Engine::Advance WorkerPool::run(GridState* grid,
                                std::shared_ptr<const DeviceMemory::Impl::Snapshot> snapshot,
                                std::uint64_t budget, const std::atomic<bool>& interrupted) {
  for (auto& worker : workers_) {
    // Regions that were found in another state of memory, or by another kernel, are forgotten.
    if (worker->snapshot != snapshot || worker->grid != grid->id) {
      worker->regions.assign(grid->kernel->regions + 1, Region{});
      worker->snapshot = snapshot;
      worker->grid = grid->id;
    }
  }
  grid->snapshot = snapshot.get();
  job_.grid = grid;
  job_.snapshot = snapshot.get();
  job_.budget.store(static_cast<std::int64_t>(std::min<std::uint64_t>(budget, INT64_MAX / 2)));
  job_.interrupted = &interrupted;
  // Waking the others takes as long as a few thousand instructions.
  job_.executed = 0;
  job_.worked = false;
  // Who allocates gets the same addresses in each run.
  const bool alone = grid->cluster_flags != nullptr || grid->kernel->uses_heap ||
                     grid->config->debugger != nullptr || !scheduler_.is_serial() ||
                     threads_.empty() || grid->total_clusters == 1 ||
                     grid->launch.grid.count() * grid->warps < kWarpsWorthSharing;
  if (!alone) {
    std::lock_guard lock(mutex_);
    busy_ = static_cast<unsigned>(threads_.size());
    ++generation_;
    wake_.notify_all();
  }
  work(workers_[0].get());
  if (!alone) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return busy_ == 0; });
  }
  grid->log_fault();
  grid->snapshot = nullptr;
  for (auto& worker : workers_) worker->snapshot = nullptr;
  return {job_.executed, job_.worked || grid->reads_time};
}

void WorkerPool::work(Worker* worker) {
  GridState* grid = job_.grid;
  Exec x;
  x.grid = grid;
  x.regions = worker->regions.data();
  x.params.size = grid->launch.params.size();
  x.params.host = grid->launch.params.data();
  std::uint64_t blocks = 0;
  std::uint64_t waiting = 0;
  const bool triggered = grid->triggered();
  const bool has_peers = PeerOrder::instance().is_active();
  const std::int64_t slice = kBlockSlice * static_cast<std::int64_t>(grid->launch.cluster.count());
  while (grid->state() == Grid::State::kRunning &&
         !job_.interrupted->load(std::memory_order_relaxed)) {
    const std::int64_t left = job_.budget.load(std::memory_order_relaxed);
    if (left <= 0) break;
    std::unique_ptr<ClusterState> cluster = scheduler_.next(grid);
    if (cluster == nullptr) break;
    const std::uint64_t before = x.warp_instructions;
    const BlockStop stop = run_cluster(&x, cluster.get(), scheduler_.slice(std::min(left, slice)));
    // Even a cluster that did nothing costs something, or pollers could go round for ever.
    job_.budget.fetch_sub(static_cast<std::int64_t>(x.warp_instructions - before) + 64,
                          std::memory_order_relaxed);
    if (works(stop, x.warp_instructions - before, *grid, cluster.get())) {
      job_.worked.store(true, std::memory_order_relaxed);
    }
    if (stop == BlockStop::kFinished) {
      for (const auto& block : cluster->blocks) {
        if (grid->trace != nullptr) grid->trace->end_block(block.get());
      }
      blocks += cluster->blocks.size();
      waiting = 0;
      finish(grid, std::move(cluster));
      if (grid->stops_at_trigger && !triggered && grid->triggered()) break;
      continue;
    }
    if (std::exchange(x.gives_way, false)) {
      job_.worked.store(true, std::memory_order_relaxed);
      let_pollers_go(grid, cluster.get());
    }
    if (stop == BlockStop::kSpinning || stop == BlockStop::kWaiting) cluster->spun = true;
    // What polls may poll for another device, which executes meanwhile only if this one does not.
    const bool waits =
        stop == BlockStop::kWaiting || (stop == BlockStop::kSpinning && has_peers);
    waiting = waits ? waiting + 1 : 0;
    const std::uint64_t parked = park(grid, std::move(cluster));
    if (stop == BlockStop::kFault || waiting > parked) break;
    if (grid->stops_at_trigger && !triggered && grid->triggered()) break;
  }
  // Clusters begin in order, so one before the first that faulted has begun. It may fault too:
  // which fault is told does not depend on how fast each worker is.
  while (scheduler_.is_serial()) {
    const std::unique_ptr<ClusterState> cluster = take_before_fault(grid);
    if (cluster == nullptr) break;
    run_cluster(&x, cluster.get(), kBlockSlice);
  }
  driver::Counters counted;
  counted.warp_instructions = x.warp_instructions;
  counted.lane_instructions = x.lane_instructions;
  counted.bytes_read = x.bytes_read;
  counted.bytes_written = x.bytes_written;
  counted.blocks = blocks;
  if (grid->launch.counts_accesses) counted.accesses = x.accesses;
  job_.executed.fetch_add(x.warp_instructions, std::memory_order_relaxed);
  grid->add(counted);
}

}  // namespace baton::sim
