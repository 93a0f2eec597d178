#include "sim/queue/queue.h"

#include <algorithm>

#include "sim/device/settings.h"
#include "sim/engine/judge/peer_order.h"
#include "sim/queue/execute.h"
#include "sim/queue/stream_word.h"

namespace baton::sim {
namespace {

// Slices without the end of a grid after which other work joins the running grids.
constexpr unsigned kPatience = 16;
// How long a host may neither wait nor ask before the device executes without that.
constexpr std::chrono::milliseconds kIdle{100};
constexpr std::chrono::microseconds kValueDelay{100};
// Turns that one question of the host is worth.
constexpr std::uint64_t kTurnsPerQuestion = 16;
// Submissions after which what is noted of memory is forgotten, before the numbers that it is noted
// by, which have 20 bits there (shadow.h), could be taken for others. What lies so far back is
// done.
constexpr std::uint64_t kAge = std::uint64_t{1} << 17;
// Warp instructions of polling alone after which it is looked whether it can end.
constexpr std::uint64_t kMostPolled = std::uint64_t{1} << 20;

thread_local bool t_inside_host_function = false;

}  // namespace

bool inside_host_function() {
  return t_inside_host_function;
}

Scheduler& Scheduler::instance() {
  static auto& instance = *new Scheduler;
  return instance;
}

DeviceQueue::DeviceQueue(Engine& engine, int ordinal) : engine_(engine), ordinal_(ordinal) {
  {
    const Lock lock(Scheduler::instance().mutex);
    Scheduler::instance().queues.push_back(this);
    if (sessions_.schedule() != schedule_) submit_setting(lock, sessions_.schedule());
  }
  thread_ = std::thread([this] { run(); });
}

DeviceQueue::~DeviceQueue() {
  close();
  if (thread_.joinable()) thread_.join();
  std::lock_guard lock(Scheduler::instance().mutex);
  std::erase(Scheduler::instance().queues, this);
}

CUresult DeviceQueue::error(const Lock&) const {
  return error_;
}

CUresult DeviceQueue::error() const {
  std::lock_guard lock(Scheduler::instance().mutex);
  return error_;
}

void DeviceQueue::wait(Lock& lock, CommandPtr command) {
  if (command == nullptr) return;
  host_asks(lock, *command);
  Scheduler& scheduler = Scheduler::instance();
  ++scheduler.waiting;
  for (DeviceQueue* queue : scheduler.queues) queue->work_.notify_all();
  scheduler.done.wait(lock, [&] { return command->done(); });
  --scheduler.waiting;
  host_learns(lock, *command);
}

bool DeviceQueue::poll(Lock& lock, CommandPtr command) {
  if (command == nullptr) return true;
  if (command->done()) {
    host_learns(lock, *command);
    return true;
  }
  host_asks(lock, *command);
  DeviceQueue& queue = *command->queue;
  if (queue.scheduler_.is_serial() || queue.in_host_function_) return false;
  queue.asked_ = kTurnsPerQuestion;
  queue.work_.notify_all();
  Scheduler::instance().done.wait(lock, [&] { return command->done() || queue.asked_ == 0; });
  if (!command->done()) return false;
  host_learns(lock, *command);
  return true;
}

bool DeviceQueue::executes_unasked() const {
  const Lock lock(Scheduler::instance().mutex);
  return scheduler_.is_serial();
}

NotesPtr DeviceQueue::begin_session(const driver::Simulator::Options& options) {
  Lock lock(Scheduler::instance().mutex);
  NotesPtr notes = sessions_.begin(options);
  if (sessions_.schedule() != schedule_) wait(lock, submit_setting(lock, sessions_.schedule()));
  return notes;
}

void DeviceQueue::end_session(const NotesPtr& notes) {
  Lock lock(Scheduler::instance().mutex);
  sessions_.end(notes);
  if (sessions_.schedule() != schedule_) submit_setting(lock, sessions_.schedule());
}

driver::LaunchProgress DeviceQueue::progress(const Notes& notes) const {
  const Lock lock(Scheduler::instance().mutex);
  driver::LaunchProgress progress{.ended = notes.ended};
  for (const Running& running : running_) {
    if (running.command->notes.get() == &notes) progress.running += running.grid->ended_share();
  }
  return progress;
}

// Also begins the schedule that is in force from its start again.
CommandPtr DeviceQueue::submit_setting(const Lock& lock, const Schedule& schedule) {
  schedule_ = schedule;
  return setting_ = submit(lock, Setting{schedule}, 0, unfinished(lock));
}

void DeviceQueue::drain() {
  Scheduler& scheduler = Scheduler::instance();
  Lock lock(scheduler.mutex);
  const std::uint64_t last = submitted_;
  const std::set<Ordering::Number> leaves = std::exchange(leaves_, {});
  for (const auto& [sequence, command] : unfinished_) host_asks(lock, *command);
  ++scheduler.waiting;
  for (DeviceQueue* queue : scheduler.queues) queue->work_.notify_all();
  scheduler.done.wait(lock,
                      [&] { return unfinished_.empty() || unfinished_.begin()->first > last; });
  --scheduler.waiting;
  for (const Ordering::Number leaf : leaves) Ordering::instance().host_learns(leaf);
}

bool DeviceQueue::is_idle() const {
  const Lock lock(Scheduler::instance().mutex);
  return unfinished_.empty();
}

driver::StoppedWork DeviceQueue::stop() {
  Scheduler& scheduler = Scheduler::instance();
  Lock lock(scheduler.mutex);
  if (unfinished_.empty()) return {};
  stop_requested_ = true;
  work_.notify_all();
  if (in_host_function_) return {{"a host function launched on a stream has not returned"}, {}};
  engine_.interrupt();  // until the thread has halted
  scheduler.done.wait(lock, [&] { return !stop_requested_; });
  return stopped_;
}

void DeviceQueue::recover() {
  drain();
  const Lock lock(Scheduler::instance().mutex);
  if (closing_ || !unfinished_.empty()) return;
  error_ = CUDA_SUCCESS;
  sessions_.fault().clear();
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

void DeviceQueue::run() {
  Lock lock(Scheduler::instance().mutex);
  const auto is_called = [&] { return closing_ || stop_requested_ || may_execute(lock); };
  while (!closing_) {
    if (!value_waits_.empty()) look_at_values(lock);
    if (stop_requested_) {
      halt(lock);
    } else if (running_.empty() && ready_.empty()) {
      leave_turns(ordinal_);
      end_question();
      unasked_ = false;
      if (value_waits_.empty()) {
        work_.wait(lock);
      } else {
        work_.wait_for(lock, kValueDelay);
      }
    } else if (!may_execute(lock)) {
      leave_turns(ordinal_);
      unasked_ = !work_.wait_for(lock, kIdle, is_called);
    } else {
      join_turns(ordinal_);
      if (asked_ != 0 && --asked_ == 0) Scheduler::instance().done.notify_all();
      if (CommandPtr next = take_startable(lock)) {
        start(lock, std::move(next));
      } else if (!running_.empty()) {
        advance(lock);
      }
    }
  }
  leave_turns(ordinal_);
  end_question();
  fail(lock, error_);
}

PeerTurn::Choose DeviceQueue::next_device() {
  return [this](std::size_t count, std::size_t own) { return scheduler_.next_device(count, own); };
}

bool DeviceQueue::may_execute(const Lock&) const {
  return scheduler_.is_serial() || unasked_ || asked_ != 0 || Scheduler::instance().waiting != 0;
}

void DeviceQueue::end_question() {
  if (std::exchange(asked_, 0) != 0) Scheduler::instance().done.notify_all();
}

CommandPtr DeviceQueue::take_startable(const Lock&) {
  if (ready_.empty()) return nullptr;
  if (!running_.empty() && !scheduler_.overlaps() && slices_ < kPatience) return nullptr;
  if (running_.size() >= engine_.chip().resident_grids) return nullptr;
  const std::size_t chosen = scheduler_.start(ready_.size(), !running_.empty());
  if (chosen >= ready_.size()) return nullptr;
  return ready_.extract(std::next(ready_.begin(), static_cast<std::ptrdiff_t>(chosen))).mapped();
}

void DeviceQueue::start(Lock& lock, CommandPtr command) {
  // Cancelling clears the work of what is outstanding; this one is taken out of its reach.
  Work work = std::move(command->work);
  if (const auto* setting = std::get_if<Setting>(&work)) {
    // All that was submitted before is done and nothing else has begun: no grid is under way.
    scheduler_ = GridScheduler(setting->schedule);
    engine_.set_schedule(setting->schedule);
    return reach(lock, command, Milestone::kDone);
  }
  if (std::holds_alternative<WaitValue>(work)) {
    command->work = std::move(work);
    value_waits_.push_back(std::move(command));
    return;
  }
  if (auto* turn = std::get_if<Turn>(&work)) return take_turn(lock, command, std::move(*turn));
  in_host_function_ = std::holds_alternative<HostCall>(work);
  t_inside_host_function = in_host_function_;
  // The function may wait for what the host does after its question.
  if (in_host_function_) end_question();
  lock.unlock();

  std::optional<PeerTurn> turn;
  if (std::holds_alternative<HostCall>(work)) {
    leave_turns(ordinal_);  // it may wait for what other devices do
  } else {
    turn.emplace(ordinal_, next_device());
  }
  if (running_.empty() && std::exchange(age_, command->number / kAge) != command->number / kAge) {
    engine_.forget_touches();
  }
  CUresult result = CUDA_SUCCESS;
  std::unique_ptr<Grid> grid;
  bool waits = false;
  if (auto* launch = std::get_if<GridLaunch>(&work)) {
    waits = launch->waits_for_others;
    result = begin_grid(engine_, std::move(*launch), command->notes->findings, &grid);
  } else {
    result = execute(work, *command);
  }
  const bool goes_on = result == CUDA_SUCCESS && std::holds_alternative<GridLaunch>(work);
  turn.reset();

  lock.lock();
  in_host_function_ = t_inside_host_function = false;
  if (goes_on) {
    if (running_.empty()) slices_ = 0;
    running_.push_back({command, std::move(grid), waits});
  } else {
    reach(lock, command, Milestone::kDone);
  }
  if (result != CUDA_SUCCESS) fail(lock, result);
  // The work may hold the last hold on a module or on staged bytes: it goes without the lock.
  lock.unlock();
  work = Join{};
  lock.lock();
}

// Ends the waits whose values have come.
void DeviceQueue::look_at_values(Lock& lock) {
  std::vector<CommandPtr> met;
  for (const CommandPtr& command : value_waits_) {
    const auto& wait = std::get<WaitValue>(command->work);
    const std::optional<bool> is_there = is_met(wait);
    if (!is_there) {
      return fail(lock,
                  freed_meanwhile("wait for a value", wait.word.place, command->notes->findings));
    }
    if (*is_there) met.push_back(command);
  }
  for (const CommandPtr& command : met) {
    note_met(std::get<WaitValue>(command->work), command->number);
    std::erase(value_waits_, command);
    reach(lock, command, Milestone::kDone);
  }
}

void DeviceQueue::advance(Lock& lock) {
  let_waiters_go(lock);
  if (is_stuck(lock)) return report_stuck(lock);
  lock.unlock();
  const CUresult result = advance_one();
  ++slices_;
  lock.lock();

  std::vector<Running> ended;
  std::erase_if(running_, [&](Running& running) {
    if (running.grid->state() == Grid::State::kRunning) return false;
    ended.push_back(std::move(running));
    return true;
  });
  CUresult fault = result;
  for (const Running& running : ended) {
    // Queues that keep going treat the grid as ended.
    const bool ends_alone = settings().keep_going || running.command->notes->options.keep_going;
    if (fault == CUDA_SUCCESS && !ends_alone) fault = running.grid->fault();
  }
  if (!ended.empty()) slices_ = 0;
  // Work that waits for a faulted grid must not run: the queue fails before the command completes.
  if (fault != CUDA_SUCCESS) fail(lock, fault);
  for (const Running& running : ended) {
    if (running.command->counted) *running.command->counted += running.grid->counters();
    ++running.command->notes->ended;
    reach(lock, running.command, Milestone::kDone);
  }
  for (const Running& running : running_) {
    if (running.grid->triggered()) {
      reach(lock, running.command, Milestone::kTriggered);
    } else if (running.grid->begun()) {
      reach(lock, running.command, Milestone::kBegun);
    }
  }
  lock.unlock();
  ended.clear();
  lock.lock();
}

// Advances the first grid, by the schedule's choice, that can go on. Where they do not take turns,
// all have their part.
CUresult DeviceQueue::advance_one() {
  const std::vector<std::size_t> order = scheduler_.turn(running_.size());
  std::vector<Grid*> grids;
  for (const std::size_t k : order) grids.push_back(running_[k].grid.get());
  CUresult result = CUDA_SUCCESS;
  Engine::Advance sum;
  const PeerTurn turn(ordinal_, next_device());
  const auto advance = [&](std::span<Grid* const> some) {
    const Running& first = running_[order[static_cast<std::size_t>(some.data() - grids.data())]];
    Engine::Advance one;
    result = advance_grids(engine_, some, scheduler_.slice(), first.command->notes->findings, &one);
    sum.executed += one.executed;
    sum.worked = sum.worked || one.worked;
  };
  if (!scheduler_.overlaps()) {
    advance(grids);
  } else {
    for (Grid*& grid : grids) {
      advance({&grid, 1});
      // One that polls lets the others pass: they may be what it waits for.
      if (result != CUDA_SUCCESS || sum.worked || grid->state() != Grid::State::kRunning) break;
    }
  }
  const bool ended = std::any_of(running_.begin(), running_.end(), [](const Running& running) {
    return running.grid->state() != Grid::State::kRunning;
  });
  if (sum.worked || ended) {
    fingerprint_ = 0;
    polled_ = 0;
  } else {
    polled_ += sum.executed;
  }
  return result;
}

// Whether all that runs has only polled for long, is as it was before that, and none is left that
// could change what it polls. A grid that reads strongly but computes or counts meanwhile is not.
bool DeviceQueue::is_stuck(const Lock& lock) {
  if (polled_ < kMostPolled || !ready_.empty() || !value_waits_.empty() || peers_may_help(lock)) {
    return false;
  }
  const bool expects_help = std::any_of(running_.begin(), running_.end(), [](const Running& each) {
    return !each.command->notes->options.alone || !each.command->notes->awaited;
  });
  if (expects_help) return false;
  polled_ = 0;
  std::uint64_t fingerprint = 1;
  for (const Running& running : running_) fingerprint += running.grid->fingerprint();
  return std::exchange(fingerprint_, fingerprint) == fingerprint;
}

// Whether another device may still write what the grids here poll. One without work may get some.
bool DeviceQueue::peers_may_help(const Lock&) const {
  if (!PeerOrder::instance().is_active()) return false;
  const auto& queues = Scheduler::instance().queues;
  return std::any_of(queues.begin(), queues.end(), [&](const DeviceQueue* queue) {
    return queue != this && queue->error_ == CUDA_SUCCESS &&
           (queue->polled_ < kMostPolled || !queue->ready_.empty());
  });
}

void DeviceQueue::report_stuck(Lock& lock) {
  lock.unlock();
  driver::Finding finding(driver::FindingKind::kLivelock);
  finding.is_fault = true;
  finding.message =
      "livelock: all running threads only poll for values that no other grid, copy or host will "
      "change:";
  std::set<Notes*> whose;
  for (const Running& running : running_) {
    Notes& notes = *running.command->notes;
    whose.insert(&notes);
    if (finding.kernel.empty()) {
      const auto operation = Ordering::instance().operation(running.command->number);
      finding.kernel = operation.name;
      finding.tag = driver::tag_of(operation.note.get());
    }
    // In the timeline each has a bar that begins here and does not end. The bytes are but the keys.
    const auto* bar = reinterpret_cast<const std::byte*>(running.grid.get());
    for (const std::string& line : running.grid->wait_report()) {
      finding.message += (finding.message.ends_with(':') ? " " : "; ") + line;
      if (notes.trace != nullptr) notes.trace->begin_stuck(bar++, "livelock: " + line);
    }
  }
  for (Notes* notes : whose) notes->findings.add(finding);
  lock.lock();
  fail(lock, CUDA_ERROR_LAUNCH_TIMEOUT);
}

void DeviceQueue::fail(Lock& lock, CUresult result) {
  if (error_ == CUDA_SUCCESS) error_ = result;
  auto cancelled = std::exchange(unfinished_, {});
  ready_.clear();
  // First all, so that none of them becomes ready through another.
  std::vector<Command::Dependent> dependents;
  for (auto& [sequence, command] : cancelled) {
    command->reached = Milestone::kDone;
    for (Command::Dependent& each : command->dependents) dependents.push_back(std::move(each));
    command->dependents.clear();
  }
  for (const Command::Dependent& dependent : dependents) {
    if (let_go(lock, dependent)) reach(lock, dependent.command, Milestone::kDone);
  }
  Scheduler::instance().done.notify_all();
  auto grids = std::exchange(running_, {});
  value_waits_.clear();
  lock.unlock();
  for (auto& [sequence, command] : cancelled) command->work = Join{};
  cancelled.clear();
  grids.clear();
  lock.lock();
}

driver::StoppedWork DeviceQueue::what_runs(Lock& lock) {
  std::vector<Ordering::Number> numbers;
  for (const Running& running : running_) numbers.push_back(running.command->number);
  const bool none_runs = numbers.empty();
  std::vector<std::string> waits;
  for (const CommandPtr& command : value_waits_) {
    waits.push_back(wait_text(std::get<WaitValue>(command->work)));
  }
  if (none_runs) {
    for (const auto& [key, command] : ready_) numbers.push_back(command->number);
  }
  lock.unlock();
  driver::StoppedWork what;
  what.lines = std::move(waits);
  for (const Running& running : running_) {
    for (std::string& line : running.grid->wait_report()) what.lines.push_back(std::move(line));
  }
  for (const Ordering::Number number : numbers) {
    const auto operation = Ordering::instance().operation(number);
    if (operation.note != nullptr) what.tags.push_back(operation.note->tag);
    if (none_runs && !what.tags.empty()) break;
  }
  lock.lock();
  return what;
}

void DeviceQueue::halt(Lock& lock) {
  driver::StoppedWork what = what_runs(lock);
  if (!unfinished_.empty()) fail(lock, CUDA_ERROR_LAUNCH_TIMEOUT);
  stopped_ = std::move(what);
  stop_requested_ = false;
  engine_.resume();
  Scheduler::instance().done.notify_all();
}

}  // namespace baton::sim
