// What is submitted to a queue comes after what: commands wait here until others have got as far as
// they ask, and let others go when they get somewhere themselves.

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/device/settings.h"
#include "sim/queue/launch_window.h"
#include "sim/queue/queue.h"

namespace baton::sim {
namespace {

Ordering::Kind kind_of(const Dependency& dependency) {
  if (dependency.at == Milestone::kDone) return Ordering::Kind::kFull;
  if (!dependency.is_programmatic) return Ordering::Kind::kLoose;
  return dependency.at == Milestone::kTriggered ? Ordering::Kind::kTriggered
                                                : Ordering::Kind::kBegun;
}

bool is_programmatic(const Ordering::Edge& edge) {
  return edge.kind == Ordering::Kind::kTriggered || edge.kind == Ordering::Kind::kBegun;
}

// The command is held back until the earlier one, which may be null, has got that far.
void wait_for(const CommandPtr& command, const CommandPtr& earlier, Milestone at) {
  if (earlier == nullptr || earlier->reached >= at) return;
  earlier->dependents.push_back({command, at, false});
  ++command->blockers;
}

Ordering::Operation kind_of_operation(const Work& work) {
  if (const auto* launch = std::get_if<GridLaunch>(&work)) {
    return {launch->kernel->name,
            launch->kernel->decoded,
            {launch->grid.x, launch->grid.y, launch->grid.z},
            {launch->block.x, launch->block.y, launch->block.z},
            launch->note};
  }
  if (std::holds_alternative<Copy>(work)) return {"copy"};
  if (std::holds_alternative<Fill>(work)) return {"fill"};
  if (std::holds_alternative<Free>(work)) return {"free"};
  if (std::holds_alternative<HostFree>(work)) return {"free"};
  if (std::holds_alternative<Alloc>(work) || std::holds_alternative<Allocated>(work)) {
    return {"allocation"};
  }
  if (std::holds_alternative<WriteValue>(work)) return {"write of a value"};
  if (std::holds_alternative<WaitValue>(work)) return {"wait for a value"};
  return {};
}

Ordering::Operation operation_of(const Work& work, int device) {
  Ordering::Operation operation = kind_of_operation(work);
  operation.device = device;
  return operation;
}

}  // namespace

CommandPtr DeviceQueue::submit(const Lock& lock, Work work, int priority,
                               std::span<const Dependency> after) {
  return submit(lock, std::move(work), priority, after, std::nullopt);
}

CommandPtr DeviceQueue::submit(const Lock& lock, Work work, int priority,
                               std::span<const Dependency> after,
                               const std::optional<Origin>& origin,
                               std::vector<Ordering::Edge> edges) {
  auto command = std::make_shared<Command>();
  command->queue = this;
  command->priority = priority;
  if (error_ != CUDA_SUCCESS) {
    command->reached = Milestone::kDone;
    return command;
  }
  if (origin) {
    command->notes = origin->notes;
  } else {
    const NotesPtr own = sessions_.of_caller();
    command->notes = own != nullptr ? own : sessions_.common();
    command->notes->awaited = false;
  }
  command->sequence = ++submitted_;
  command->work = std::move(work);
  unfinished_.emplace(command->sequence, command);
  for (const Dependency& dependency : after) depend(lock, command, dependency, &edges);
  if (const auto* free = std::get_if<Free>(&command->work)) {
    free->heap->note_free(free->address, command);
  } else if (const auto* alloc = std::get_if<Alloc>(&command->work)) {
    // Not an edge: whether the program ordered the two is another question.
    wait_for(command, alloc->heap->last_free(alloc->address), Milestone::kDone);
  }
  if (origin) {
    // The conditional came before a new schedule, and so does what is inside of it.
    command->number =
        Ordering::instance().add(edges, operation_of(command->work, ordinal_), origin->inside);
  } else {
    if (setting_ != nullptr && !setting_->done()) depend(lock, command, {setting_}, &edges);
    command->number = Ordering::instance().add(edges, operation_of(command->work, ordinal_));
    for (const Ordering::Edge& edge : edges) {
      if (edge.kind == Ordering::Kind::kFull) leaves_.erase(edge.from);
    }
    leaves_.insert(command->number);
  }
  if (auto* launch = std::get_if<GridLaunch>(&command->work)) {
    LaunchWindow* const window = settings().launches.get();
    if (window != nullptr && command->notes == sessions_.common() &&
        !window->take(launch->kernel->name)) {
      command->notes = sessions_.uncounted();
    }
    launch->number = command->number;
    launch->log = &command->notes->findings;
    launch->trace = command->notes->trace.get();
    launch->counts_accesses = command->notes->options.count_accesses;
    launch->watched = command->notes->options.watch != driver::Simulator::Watch::kOff;
    launch->finds_own_races = command->notes->options.races != Races::kUsual;
    launch->keeps_to_model = command->notes->options.races == Races::kModel;
    launch->waits_for_others = command->awaited != 0;
    for (const Ordering::Edge& edge : edges) {
      if (launch->trace != nullptr && is_programmatic(edge)) launch->early.push_back(edge.from);
    }
    launch->is_programmatic = std::any_of(edges.begin(), edges.end(), is_programmatic);
  }
  if (command->blockers != 0) return command;
  if (finish_at_once(lock, *command)) {
    reach(lock, command, Milestone::kDone);
  } else {
    make_ready(lock, command);
  }
  return command;
}

std::vector<Dependency> DeviceQueue::unfinished(const Lock&) const {
  std::vector<Dependency> all;
  for (const auto& [sequence, command] : unfinished_) all.push_back({command});
  return all;
}

CommandPtr DeviceQueue::submit_after_all(const Lock& lock, Work work) {
  std::vector<Ordering::Edge> edges;
  for (const Ordering::Number leaf : leaves_) edges.push_back({leaf, Ordering::Kind::kFull});
  return submit(lock, std::move(work), 0, unfinished(lock), std::nullopt, std::move(edges));
}

// The conditional's command stays unfinished from its first turn to its last.
void DeviceQueue::take_turn(const Lock& lock, const CommandPtr& command, Turn turn) {
  const CommandPtr conditional = turn.conditional != nullptr ? turn.conditional : command;
  const bool is_first = conditional == command;
  const Origin origin{conditional->notes, {conditional->number, is_first ? 0 : command->number}};
  const auto submit_inside = [&](Work work, std::span<const Dependency> after) {
    return submit(lock, std::move(work), conditional->priority, after, origin);
  };
  const auto submitted = turn.turns->next(submit_inside);
  if (submitted) {
    std::vector<Dependency> all;
    for (const CommandPtr& each : *submitted) all.push_back({each});
    submit_inside(Turn{turn.turns, conditional}, all);
  }
  if (!is_first) reach(lock, command, Milestone::kDone);
  if (!submitted) reach(lock, conditional, Milestone::kDone);
}

void DeviceQueue::depend(const Lock& lock, const CommandPtr& command, const Dependency& dependency,
                         std::vector<Ordering::Edge>* edges) {
  const CommandPtr& earlier = dependency.command;
  if (earlier == nullptr) return;
  const bool is_grid = std::holds_alternative<GridLaunch>(command->work);
  const bool passes_on =
      std::holds_alternative<Join>(command->work) || std::holds_alternative<Record>(command->work);
  edges->push_back({earlier->number, kind_of(dependency)});
  for (const CommandPtr& grid : earlier->early) {
    if (is_grid) {
      depend(lock, command, {grid, Milestone::kTriggered, true}, edges);
    } else if (passes_on) {
      command->early.push_back(grid);
    } else {
      depend(lock, command, {grid}, edges);
    }
  }
  if (dependency.is_programmatic && passes_on) command->early.push_back(earlier);
  wait_for(command, earlier, dependency.at);
  if (dependency.is_programmatic && is_grid && !earlier->done()) {
    earlier->dependents.push_back({command, Milestone::kDone, true});
    ++command->awaited;
  }
}

void DeviceQueue::host_asks(const Lock&, Command& command) {
  if (command.notes != nullptr) command.notes->awaited = true;
}

void DeviceQueue::host_learns(const Lock&, Command& command) {
  if (std::exchange(command.known_done, true) || command.number == 0) return;
  Ordering::instance().host_learns(command.number);
}

// Lets grids go on that waited in griddepcontrol.wait for what has completed.
void DeviceQueue::let_waiters_go(const Lock&) {
  for (Running& running : running_) {
    if (!running.waits || running.command->awaited != 0) continue;
    running.waits = false;
    running.grid->release_wait();
  }
}

void DeviceQueue::reach(const Lock& lock, const CommandPtr& first, Milestone milestone) {
  // What follows may be done at once, and so on: a long chain must not be a deep recursion.
  std::vector<std::pair<CommandPtr, Milestone>> open = {{first, milestone}};
  while (!open.empty()) {
    const CommandPtr command = std::move(open.back().first);
    const Milestone at = open.back().second;
    open.pop_back();
    if (command->reached >= at) continue;
    command->reached = at;
    if (at == Milestone::kDone) command->queue->unfinished_.erase(command->sequence);
    std::erase_if(command->dependents, [&](const Command::Dependent& dependent) {
      if (dependent.at > at) return false;
      if (let_go(lock, dependent)) open.emplace_back(dependent.command, Milestone::kDone);
      return true;
    });
    if (at == Milestone::kDone) Scheduler::instance().done.notify_all();
  }
}

// One thing less that the command waits for. True where that makes it done.
bool DeviceQueue::let_go(const Lock& lock, const Command::Dependent& dependent) {
  Command& later = *dependent.command;
  if (dependent.waits) {
    if (--later.awaited == 0) later.queue->work_.notify_all();
    return false;
  }
  if (--later.blockers != 0 || later.done()) return false;
  if (later.queue->finish_at_once(lock, later)) return true;
  later.queue->make_ready(lock, dependent.command);
  return false;
}

// What needs no thread to be done: the order between others, and the time.
bool DeviceQueue::finish_at_once(const Lock&, Command& command) {
  if (auto* record = std::get_if<Record>(&command.work)) {
    *record->occurrence = {std::chrono::steady_clock::now()};
    return true;
  }
  return std::holds_alternative<Join>(command.work) ||
         std::holds_alternative<Allocated>(command.work);
}

void DeviceQueue::make_ready(const Lock&, const CommandPtr& command) {
  ready_.emplace(Key{command->priority, command->sequence}, command);
  work_.notify_all();
}

}  // namespace baton::sim
