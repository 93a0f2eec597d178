#include "sim/engine/run/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "sim/engine/judge/hazards.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/report/standing.h"
#include "sim/engine/run/cluster.h"
#include "sim/engine/run/fingerprint.h"
#include "sim/engine/run/workers.h"

namespace baton::sim {
namespace {

constexpr std::uint32_t kThreadsPerSm = 2048;
constexpr std::uint32_t kBlocksPerSm = 32;
constexpr std::uint32_t kSharedPerSm = 228 * 1024;
constexpr std::uint64_t kMostBlocksOfCluster = 16;  // compute capability 9.0

std::uint64_t resident_limit(const EngineConfig& config, const GridState& grid) {
  const std::uint32_t shared = grid.shared_bytes + kReservedShared;
  const std::uint32_t per_sm =
      std::min({kBlocksPerSm, kThreadsPerSm / std::max(grid.threads, 1u), kSharedPerSm / shared});
  const std::uint64_t blocks =
      std::uint64_t{std::max(per_sm, 1u)} * static_cast<std::uint64_t>(config.sm_count);
  return std::max<std::uint64_t>(blocks / grid.launch.cluster.count(), 1);
}

}  // namespace

struct Engine::Impl {
  Impl(const EngineConfig& engine_config, DeviceMemory& device_memory)
      : config(engine_config),
        memory(device_memory),
        workspaces(device_memory),
        workers(engine_config.workers) {}

  void print(const std::string& text) {
    if (text.empty()) return;
    if (config.print) {
      config.print(text);
    } else {
      std::fwrite(text.data(), 1, text.size(), stdout);
    }
  }

  EngineConfig config;
  DeviceMemory& memory;
  FindingLog log;
  Workspaces workspaces;
  WorkerPool workers;
  std::uint64_t next_grid = 1;
  Trace* trace = nullptr;
  std::atomic<bool> interrupted{false};
};

Engine::Engine(const EngineConfig& config, DeviceMemory& memory)
    : impl_(std::make_unique<Impl>(config, memory)) {}
Engine::~Engine() = default;

std::unique_ptr<Grid> Engine::begin(GridLaunch launch) {
  auto grid = std::make_unique<GridState>();
  const LoadedKernel& kernel = *launch.kernel;
  if (launch.params.size() != kernel.param_bytes) {
    throw error(ErrorCode::kInvalidInput,
                "kernel {} takes {} bytes of parameters, the launch has {}", kernel.name,
                kernel.param_bytes, launch.params.size());
  }
  const std::uint64_t threads = launch.block.count();
  if (threads == 0 || threads > 1024 || launch.grid.count() == 0) {
    throw error(ErrorCode::kLimit, "a launch of {} blocks of {} threads; a block has 1 to 1024",
                launch.grid.count(), threads);
  }
  const Dim3& cluster = launch.cluster;
  if (cluster.count() == 0 || cluster.count() > kMostBlocksOfCluster ||
      launch.grid.x % cluster.x != 0 || launch.grid.y % cluster.y != 0 ||
      launch.grid.z % cluster.z != 0) {
    throw error(ErrorCode::kLimit,
                "clusters of {} x {} x {} blocks in a grid of {} x {} x {}: a cluster has 1 to {} "
                "blocks and divides the grid",
                cluster.x, cluster.y, cluster.z, launch.grid.x, launch.grid.y, launch.grid.z,
                kMostBlocksOfCluster);
  }
  grid->kernel = kernel.decoded;
  grid->launch = std::move(launch);
  grid->id = impl_->next_grid++;
  grid->threads = static_cast<std::uint32_t>(threads);
  grid->warps = (grid->threads + kLanes - 1) / kLanes;
  grid->total_clusters = grid->launch.grid.count() / grid->launch.cluster.count();
  const std::uint64_t shared =
      std::uint64_t{grid->kernel->static_shared} + grid->launch.dynamic_shared;
  if (shared > impl_->config.shared_per_block) {
    throw error(ErrorCode::kLimit,
                "kernel {} needs {} bytes of shared memory a block; {} are there",
                grid->launch.kernel->name, shared, impl_->config.shared_per_block);
  }
  grid->shared_bytes = static_cast<std::uint32_t>(shared);
  grid->prerequisites_done = !grid->launch.waits_for_others;
  grid->stops_at_trigger = impl_->workers.schedule().kind != ScheduleKind::kSerial;
  grid->watches_shared = impl_->config.watch_shared && shared != 0 && grid->warps > 1;
  grid->sm_count = impl_->config.sm_count;
  grid->clock_khz = impl_->config.clock_khz;
  grid->max_resident = resident_limit(impl_->config, *grid);
  if (grid->launch.cooperative) {
    grid->max_resident = grid->total_clusters;
    grid->workspace = impl_->workspaces.take();
    if (grid->workspace.address() == 0) {
      throw error(ErrorCode::kOutOfMemory,
                  "no memory for the barrier of the cooperative launch of kernel {}",
                  grid->launch.kernel->name);
    }
  }
  grid->log = &impl_->log;
  grid->memory = &impl_->memory;
  begin_watch(grid.get());
  if (impl_->trace != nullptr) {
    const Dim3& blocks = grid->launch.grid;
    grid->trace = impl_->trace;
    grid->trace->begin_grid(
        grid->id, grid->launch.kernel->name,
        fmt::format("({}, {}, {}) blocks of {} threads", blocks.x, blocks.y, blocks.z, threads),
        grid->launch.is_programmatic);
  }
  return grid;
}

Engine::Advance Engine::advance(std::span<Grid* const> grids, std::uint64_t budget) {
  const auto snapshot = impl_->memory.impl().snapshot();
  std::vector<GridState*> running;
  for (Grid* grid : grids) {
    auto* state = static_cast<GridState*>(grid);
    if (state->state() == Grid::State::kRunning) running.push_back(state);
  }
  if (running.empty()) return {};
  Advance sum;
  const std::uint64_t share = std::max<std::uint64_t>(budget / running.size(), 1);
  for (GridState* grid : running) {
    if (impl_->interrupted.load(std::memory_order_relaxed)) break;
    const Advance one = impl_->workers.run(grid, snapshot, share, impl_->interrupted);
    sum.executed += one.executed;
    sum.worked = sum.worked || one.worked;
    if (grid->trace != nullptr && grid->triggered()) grid->trace->note_triggered(grid->id);
    if (grid->state() == Grid::State::kRunning) continue;
    if (grid->trace != nullptr) grid->trace->end_grid(grid->id);
    impl_->memory.impl().settle();
    impl_->print(grid->output.take());
  }
  return sum;
}

void Engine::set_trace(Trace* trace) {
  impl_->trace = trace;
}

void Engine::set_schedule(const Schedule& schedule) {
  impl_->workers.set_schedule(schedule);
}

void Engine::forget_touches() {
  impl_->memory.impl().forget_touches();
}

void Engine::interrupt() {
  impl_->interrupted.store(true, std::memory_order_relaxed);
}

void Engine::resume() {
  impl_->interrupted.store(false, std::memory_order_relaxed);
}

std::vector<driver::Finding> Engine::findings() const {
  return impl_->log.list();
}
std::vector<driver::Finding> Engine::take_findings() {
  return impl_->log.take();
}

CUresult GridState::fault() const {
  std::lock_guard lock(mutex);
  return error;
}

std::uint64_t GridState::fingerprint() const {
  std::lock_guard lock(mutex);
  std::uint64_t sum = next_cluster.load(std::memory_order_relaxed);
  for (const auto& cluster : parked) {
    for (const auto& block : cluster->blocks) sum += fingerprint_of(*block);
  }
  return sum;
}

driver::Counters GridState::counters() const {
  std::lock_guard lock(mutex);
  return totals;
}

std::vector<std::string> GridState::standing() const {
  std::lock_guard lock(mutex);
  Standing where(*this);
  for (const auto& cluster : parked) where.add(*cluster);
  return where.lines();
}

void GridState::release_wait() {
  prerequisites_done.store(true, std::memory_order_release);
  std::lock_guard lock(mutex);
  bool waited = false;
  for (const auto& cluster : parked) waited = release_grid_waits(*cluster, trace) || waited;
  if (waited && launch.is_programmatic) Ordering::instance().note_wait(launch.number);
}

void GridState::set_fault(CUresult code) {
  std::lock_guard lock(mutex);
  if (error == CUDA_SUCCESS) error = code;
  now.store(State::kFaulted, std::memory_order_release);
}

void GridState::add(const driver::Counters& counted) {
  std::lock_guard lock(mutex);
  totals += counted;
}

}  // namespace baton::sim
