#include "sim/engine/run/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "chip/occupancy.h"
#include "sim/engine/debug/debugger.h"
#include "sim/engine/judge/grid_races.h"
#include "sim/engine/judge/hazards.h"
#include "sim/engine/memory/kernel_heap.h"
#include "sim/engine/memory/launch_ranges.h"
#include "sim/engine/report/wait_report.h"
#include "sim/engine/run/cluster.h"
#include "sim/engine/run/fingerprint.h"
#include "sim/engine/run/workers.h"

namespace baton::sim {
namespace {

// Blocks that the device holds at once. The registers of PTX are an estimate, which must not keep
// out a block that others wait for, so they do not count.
std::uint64_t resident_limit(const EngineConfig& config, const GridState& grid) {
  const chip::BlockNeeds needs = {grid.threads, 0, grid.shared_bytes};
  const std::uint32_t per_sm =
      std::max(chip::fit_beside(config.chip->multiprocessor, {}, needs).blocks, 1u);
  const auto& part = grid.launch.sms;
  const auto sms = part != nullptr ? part->size() : static_cast<std::size_t>(config.sm_count);
  const std::uint64_t blocks = std::uint64_t{per_sm} * sms;
  return std::max<std::uint64_t>(blocks / grid.launch.cluster.count(), 1);
}

using Snapshot = DeviceMemory::Impl::Snapshot;

// What the grid may access of all memory.
std::shared_ptr<const Snapshot> memory_of(GridState* grid,
                                          const std::shared_ptr<const Snapshot>& all) {
  const driver::LaunchNote* const note = grid->launch.note.get();
  if (note == nullptr || note->ranges.empty()) return all;
  if (grid->restricted_from != all) {
    grid->restricted = restrict_to(*all, note->ranges);
    grid->restricted_from = all;
  }
  return grid->restricted;
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
  // Of all blocks, in instructions. It begins above 0, which programs take for "never".
  std::atomic<std::uint64_t> clock{1'000'000};
  std::atomic<bool> interrupted{false};
};

Engine::Engine(const EngineConfig& config, DeviceMemory& memory)
    : impl_(std::make_unique<Impl>(config, memory)) {}
Engine::~Engine() = default;

const chip::Chip& Engine::chip() const {
  return *impl_->config.chip;
}

std::unique_ptr<Grid> Engine::begin(GridLaunch launch) {
  auto grid = std::make_unique<GridState>();
  const LoadedKernel& kernel = *launch.kernel;
  if (launch.params.size() != kernel.param_bytes) {
    throw error(ErrorCode::kInvalidInput,
                "kernel {} takes {} bytes of parameters, the launch has {}", kernel.name,
                kernel.param_bytes, launch.params.size());
  }
  const std::uint64_t threads = launch.block.count();
  const chip::Chip& chip = *impl_->config.chip;
  if (threads == 0 || threads > chip.threads_per_block || launch.grid.count() == 0) {
    throw error(ErrorCode::kLimit, "a launch of {} blocks of {} threads; a block has 1 to {}",
                launch.grid.count(), threads, chip.threads_per_block);
  }
  const Extent3& cluster = launch.cluster;
  const std::uint32_t largest_cluster = std::max(chip.largest_cluster, 1u);
  if (cluster.count() == 0 || cluster.count() > largest_cluster || launch.grid.x % cluster.x != 0 ||
      launch.grid.y % cluster.y != 0 || launch.grid.z % cluster.z != 0) {
    throw error(ErrorCode::kLimit,
                "clusters of {} x {} x {} blocks in a grid of {} x {} x {}: a cluster has 1 to {} "
                "blocks and divides the grid",
                cluster.x, cluster.y, cluster.z, launch.grid.x, launch.grid.y, launch.grid.z,
                largest_cluster);
  }
  const bool is_debugged = impl_->config.debugger != nullptr;
  grid->kernel = is_debugged              ? launch.module->debugged(kernel)
                 : launch.counts_accesses ? launch.module->counting(kernel)
                                          : kernel.decoded;
  grid->launch = std::move(launch);
  grid->id = impl_->next_grid++;
  grid->threads = static_cast<std::uint32_t>(threads);
  grid->warps = (grid->threads + kLanes - 1) / kLanes;
  grid->total_clusters = grid->launch.grid.count() / grid->launch.cluster.count();
  const std::uint64_t shared =
      std::uint64_t{grid->kernel->static_shared} + grid->launch.dynamic_shared;
  if (shared > chip.shared_per_block_optin) {
    throw error(ErrorCode::kLimit,
                "kernel {} needs {} bytes of shared memory a block; {} are there",
                grid->launch.kernel->name, shared, chip.shared_per_block_optin);
  }
  grid->shared_bytes = static_cast<std::uint32_t>(shared);
  grid->prerequisites_done = !grid->launch.waits_for_others;
  grid->stops_at_trigger = impl_->workers.schedule().kind != ScheduleKind::kSerial;
  grid->watches_shared = impl_->config.watch_shared && shared != 0;
  grid->sm_count = impl_->config.sm_count;
  grid->clock_khz = impl_->config.clock_khz;
  grid->device_clock = &impl_->clock;
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
  grid->log = grid->launch.log != nullptr ? grid->launch.log : &impl_->log;
  grid->memory = &impl_->memory;
  grid->config = &impl_->config;
  if (grid->kernel->uses_heap) impl_->memory.impl().heap().begin_use();
  begin_watch(grid.get());
  if (is_debugged) impl_->config.debugger->begin(*grid);
  if (grid->launch.trace != nullptr) {
    const Extent3& blocks = grid->launch.grid;
    const Extent3& block = grid->launch.block;
    grid->trace = grid->launch.trace;
    grid->trace->begin_grid({grid->id,
                             grid->launch.number,
                             grid->launch.kernel->name,
                             {blocks.x, blocks.y, blocks.z},
                             {block.x, block.y, block.z},
                             grid->shared_bytes,
                             driver::tag_of(grid->launch.note.get()),
                             grid->launch.early});
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
    const Advance one =
        impl_->workers.run(grid, memory_of(grid, snapshot), share, impl_->interrupted);
    sum.executed += one.executed;
    sum.worked = sum.worked || one.worked;
    if (grid->trace != nullptr && grid->triggered()) grid->trace->note_triggered(grid->id);
    if (grid->state() == Grid::State::kRunning) continue;
    if (grid->races != nullptr) grid->races->report_held(*grid);
    if (grid->trace != nullptr) grid->trace->end_grid(grid->id, grid->counters());
    impl_->memory.impl().settle();
    impl_->print(grid->output.take());
  }
  return sum;
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

std::vector<std::string> GridState::wait_report() const {
  std::lock_guard lock(mutex);
  WaitReport where(*this);
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

const Region* GridState::region_at(std::uint64_t address, Region* storage) const {
  if (const Region* const region = snapshot->find(address)) return region;
  return memory->impl().heap().find(address, storage) ? storage : nullptr;
}

void GridState::set_fault(std::uint64_t cluster, CUresult code, driver::Finding finding) {
  std::lock_guard lock(mutex);
  now.store(State::kFaulted, std::memory_order_release);
  if (error != CUDA_SUCCESS && cluster >= faulted_cluster) return;
  error = code;
  faulted_cluster = cluster;
  fault_found = std::move(finding);
}

void GridState::log_fault() {
  std::optional<driver::Finding> finding;
  {
    std::lock_guard lock(mutex);
    finding.swap(fault_found);
  }
  if (finding) log->add(std::move(*finding));
}

void GridState::add(const driver::Counters& counted) {
  std::lock_guard lock(mutex);
  totals += counted;
}

}  // namespace baton::sim
