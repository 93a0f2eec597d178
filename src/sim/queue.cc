#include "sim/queue.h"

#include <algorithm>

#include "sim/execute.h"

namespace baton::sim {
namespace {

// Warp instructions between two looks at what else is to be done, shared by the running grids.
constexpr std::uint64_t kSlice = std::uint64_t{1} << 20;
// Slices without the end of a grid after which other work joins the running grids.
constexpr unsigned kPatience = 16;
// Grids that a device of compute capability 9.0 holds at once (CUDA programming guide, table of
// technical specifications).
constexpr std::size_t kMaxResidentGrids = 128;

thread_local bool t_inside_host_function = false;

}  // namespace

bool inside_host_function() {
  return t_inside_host_function;
}

Scheduler& Scheduler::instance() {
  static auto& instance = *new Scheduler;
  return instance;
}

DeviceQueue::DeviceQueue(Engine& engine, FindingLog& findings)
    : engine_(engine), findings_(findings), thread_([this] { run(); }) {}

DeviceQueue::~DeviceQueue() {
  close();
  if (thread_.joinable()) thread_.join();
}

CommandPtr DeviceQueue::submit(const Lock& lock, Work work, int priority,
                               std::span<const CommandPtr> after) {
  auto command = std::make_shared<Command>();
  command->queue = this;
  command->priority = priority;
  if (error_ != CUDA_SUCCESS) {
    command->done = true;
    return command;
  }
  command->sequence = ++submitted_;
  command->work = std::move(work);
  unfinished_.emplace(command->sequence, command);
  for (const CommandPtr& earlier : after) {
    if (earlier == nullptr || earlier->done) continue;
    earlier->dependents.push_back(command);
    ++command->blockers;
  }
  if (command->blockers == 0) make_ready(lock, command);
  return command;
}

CUresult DeviceQueue::error(const Lock&) const {
  return error_;
}

CUresult DeviceQueue::error() const {
  std::lock_guard lock(Scheduler::instance().mutex);
  return error_;
}

void DeviceQueue::wait(Lock& lock, const CommandPtr& command) {
  if (command == nullptr) return;
  Scheduler::instance().done.wait(lock, [&] { return command->done; });
}

void DeviceQueue::drain() {
  Scheduler& scheduler = Scheduler::instance();
  Lock lock(scheduler.mutex);
  const std::uint64_t last = submitted_;
  scheduler.done.wait(lock,
                      [&] { return unfinished_.empty() || unfinished_.begin()->first > last; });
}

std::vector<std::string> DeviceQueue::stop() {
  Scheduler& scheduler = Scheduler::instance();
  Lock lock(scheduler.mutex);
  if (unfinished_.empty()) return {};
  stop_requested_ = true;
  work_.notify_all();
  if (in_host_function_) return {"a host function launched on a stream has not returned"};
  engine_.interrupt();
  scheduler.done.wait(lock, [&] { return !stop_requested_; });
  return standing_;
}

void DeviceQueue::close() {
  Lock lock(Scheduler::instance().mutex);
  if (error_ == CUDA_SUCCESS) error_ = CUDA_ERROR_CONTEXT_IS_DESTROYED;
  closing_ = true;
  work_.notify_all();
  engine_.interrupt();
  if (in_host_function_ || !thread_.joinable()) return;
  lock.unlock();
  thread_.join();
}

driver::Counters DeviceQueue::counters() const {
  std::lock_guard lock(Scheduler::instance().mutex);
  return counters_;
}

void DeviceQueue::run() {
  Lock lock(Scheduler::instance().mutex);
  while (!closing_) {
    if (stop_requested_) {
      halt(lock);
    } else if (CommandPtr next = take_startable(lock)) {
      start(lock, std::move(next));
    } else if (!running_.empty()) {
      advance(lock);
    } else {
      work_.wait(lock);
    }
  }
  fail(lock, error_);
}

CommandPtr DeviceQueue::take_startable(const Lock&) {
  if (ready_.empty()) return nullptr;
  if (!running_.empty() && slices_ < kPatience) return nullptr;
  if (running_.size() >= kMaxResidentGrids) return nullptr;
  return ready_.extract(ready_.begin()).mapped();
}

void DeviceQueue::start(Lock& lock, CommandPtr command) {
  // Cancelling clears the work of what is outstanding; this one is taken out of its reach.
  Work work = std::move(command->work);
  in_host_function_ = std::holds_alternative<HostCall>(work);
  t_inside_host_function = in_host_function_;
  lock.unlock();

  CUresult result = CUDA_SUCCESS;
  if (auto* launch = std::get_if<GridLaunch>(&work)) {
    std::unique_ptr<Grid> grid;
    result = begin_grid(engine_, std::move(*launch), findings_, &grid);
    if (result == CUDA_SUCCESS) {
      if (running_.empty()) slices_ = 0;
      running_.push_back({command, std::move(grid)});
    }
  } else {
    result = execute(work, findings_);
  }
  const bool goes_on = result == CUDA_SUCCESS && std::holds_alternative<GridLaunch>(work);
  auto* record = std::get_if<Record>(&work);
  const auto now = std::chrono::steady_clock::now();

  lock.lock();
  in_host_function_ = t_inside_host_function = false;
  if (record != nullptr) *record->occurrence = {now, counters_};
  if (!goes_on) complete(lock, command);
  if (result != CUDA_SUCCESS) fail(lock, result);
  // The work may hold the last hold on a module or on staged bytes: it goes without the lock.
  lock.unlock();
  work = Join{};
  lock.lock();
}

void DeviceQueue::advance(Lock& lock) {
  std::vector<Grid*> grids;
  grids.reserve(running_.size());
  for (const Running& running : running_) grids.push_back(running.grid.get());
  lock.unlock();
  CUresult result = advance_grids(engine_, grids, kSlice, findings_);
  ++slices_;

  std::vector<Running> ended;
  std::erase_if(running_, [&](Running& running) {
    if (running.grid->state() == Grid::State::kRunning) return false;
    ended.push_back(std::move(running));
    return true;
  });
  driver::Counters sum;
  for (const Running& running : ended) {
    const driver::Counters counters = running.grid->counters();
    sum.warp_instructions += counters.warp_instructions;
    sum.lane_instructions += counters.lane_instructions;
    sum.bytes_read += counters.bytes_read;
    sum.bytes_written += counters.bytes_written;
    sum.blocks += counters.blocks;
    if (result == CUDA_SUCCESS) result = running.grid->fault();
  }
  if (!ended.empty()) slices_ = 0;

  lock.lock();
  counters_.warp_instructions += sum.warp_instructions;
  counters_.lane_instructions += sum.lane_instructions;
  counters_.bytes_read += sum.bytes_read;
  counters_.bytes_written += sum.bytes_written;
  counters_.blocks += sum.blocks;
  // What waits for a faulted grid must not run: the queue fails before the command is done.
  if (result != CUDA_SUCCESS) fail(lock, result);
  for (const Running& running : ended) complete(lock, running.command);
  lock.unlock();
  ended.clear();
  lock.lock();
}

void DeviceQueue::complete(const Lock& lock, const CommandPtr& command) {
  if (command->done) return;
  command->done = true;
  unfinished_.erase(command->sequence);
  for (const CommandPtr& dependent : std::exchange(command->dependents, {})) {
    if (--dependent->blockers == 0 && !dependent->done) {
      dependent->queue->make_ready(lock, dependent);
    }
  }
  Scheduler::instance().done.notify_all();
}

void DeviceQueue::make_ready(const Lock&, const CommandPtr& command) {
  ready_.emplace(Key{command->priority, command->sequence}, command);
  work_.notify_all();
}

void DeviceQueue::fail(Lock& lock, CUresult result) {
  if (error_ == CUDA_SUCCESS) error_ = result;
  auto cancelled = std::exchange(unfinished_, {});
  ready_.clear();
  // First all, so that none of them becomes ready through another.
  for (auto& [sequence, command] : cancelled) command->done = true;
  for (auto& [sequence, command] : cancelled) {
    for (const CommandPtr& dependent : std::exchange(command->dependents, {})) {
      if (--dependent->blockers == 0 && !dependent->done) {
        dependent->queue->make_ready(lock, dependent);
      }
    }
  }
  Scheduler::instance().done.notify_all();
  auto grids = std::exchange(running_, {});
  lock.unlock();
  for (auto& [sequence, command] : cancelled) command->work = Join{};
  cancelled.clear();
  grids.clear();
  lock.lock();
}

void DeviceQueue::halt(Lock& lock) {
  lock.unlock();
  std::vector<std::string> standing;
  for (const Running& running : running_) {
    for (std::string& line : running.grid->standing()) standing.push_back(std::move(line));
  }
  lock.lock();
  if (!unfinished_.empty()) fail(lock, CUDA_ERROR_LAUNCH_TIMEOUT);
  standing_ = std::move(standing);
  stop_requested_ = false;
  Scheduler::instance().done.notify_all();
}

}  // namespace baton::sim
