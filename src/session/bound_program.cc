#include "session/bound_program.h"

#include <algorithm>

#include "base/array/array.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text/text.h"
#include "bind/binding.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "play/failed_run.h"
#include "play/note_steps.h"
#include "play/run_watch.h"
#include "play/sender.h"
#include "program/buffer_roles.h"
#include "runtime/crossing.h"
#include "session/world/collective_choice.h"
#include "session/world/rank_agreement.h"

namespace baton {
namespace {

void log_edges(const std::vector<CollectiveEdgeReport>& edges) {
  for (const CollectiveEdgeReport& edge : edges) {
    log(LogLevel::kInfo, "edge {} -> {} is {}: {}; it is {}: {}", edge.from.label, edge.to.label,
        to_string(edge.verdict), edge.reason, edge.programmatic ? "programmatic" : "full",
        edge.decision_reason);
  }
}

void log_edges(const std::vector<EdgeReport>& edges) {
  for (const EdgeReport& edge : edges) {
    log(LogLevel::kInfo, "edge {} -> {} is {}: {}; it is {}: {}", edge.from, edge.to,
        to_string(edge.verdict), edge.reason, edge.programmatic ? "programmatic" : "full",
        edge.decision_reason);
  }
}

std::unique_ptr<play::Player> make_player(ExecutorKind kind, const Device& device) {
  switch (kind) {
    case ExecutorKind::kStream:
      return play::make_stream_player(device);
    case ExecutorKind::kGraph:
      return play::make_graph_player(device);
  }
  throw error(ErrorCode::kInvalidInput, "unknown executor {}", static_cast<int>(kind));
}

play::Lanes make_lanes(const Device& device, const bind::Tape& tape,
                       const std::shared_ptr<const SharedParts>& parts) {
  return play::Lanes(device, tape.lanes(), tape.events(),
                     parts == nullptr ? std::span<const SmPart>() : parts->parts);
}

}  // namespace

BoundProgram::BoundProgram(LoadedProgram program, std::shared_ptr<const LoadedProgramState> state,
                           ExecutorKind executor)
    : loaded(std::move(program)),
      state_(std::move(state)),
      executor_(executor),
      is_instrumented_(state_->kernels.is_instrumented()),
      stream_(state_->device),
      player_(make_player(executor, state_->device)),
      memory_(*state_) {}

void BoundProgram::require_bound(std::string_view call) const {
  if (bound()) return;
  throw error(ErrorCode::kInvalidInput, "{} needs a bound program, and {} is not; bind it first",
              call, printable(state_->program.name()));
}

ResolvedProgram BoundProgram::accept(ResolvedProgram resolved) const {
  log_edges(resolved.edges);
  log_edges(resolved.collective_edges);
  // The simulated GPU finds each write of a weight when it happens, with its thread.
  const bool is_found = resolved.writes_weight && state_->device.driver().simulator != nullptr;
  if (resolved.forbidden_write && !is_found) throw std::move(*resolved.forbidden_write);
  if (resolved.refusal) throw std::move(*resolved.refusal);
  return resolved;
}

bool BoundProgram::needs_setup(const ProgramValues& values, const ProgramMemory::Next& next) const {
  const std::optional<PlannedSetup>& setup = state_->setup;
  if (!setup) return false;
  if (!is_set_up_) return true;
  for (std::size_t i = 0; i < next.kept.size(); ++i) {
    if (setup->uses_buffer(i) && !next.kept[i]) return true;
  }
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    if (setup->uses_symbol(i) && symbols_[i].value != values.symbols[i].value) return true;
  }
  return false;
}

void BoundProgram::execute_setup(ResolvedProgram resolved, const WaitOptions& limits) {
  bind::Tape& tape = resolved.bound.tape;
  play::Lanes lanes = make_lanes(state_->device, tape, resolved.parts);
  tape.settle(buffers(), resolved.decisions, lanes.part_streams());
  tape.set_events(lanes.events());
  const play::LaunchTags tags;
  const play::RunWatch watch(state_->device, limits.timeout, limits.interrupt, {}, &world_);
  try {
    play::send_all({state_->device, stream_, tape, buffers(), 0, tags, lanes, *collectives_});
    watch.wait([this] { return stream_.done(); });
  } catch (Error& failure) {
    play::name_launch(failure, state_->device, tape, tags);
    failure.note("in the setup of " + printable(state_->program.name()));
    play::stop_enqueued(failure, watch, state_->device, tape, tags);
    note_stop(failure, stream_, watch);
    throw;
  }
}

void BoundProgram::take(ResolvedProgram resolved, std::vector<BoundSymbol> symbols) {
  auto tape = std::make_unique<bind::Tape>(std::move(resolved.bound.tape));
  if (!lanes_) lanes_.emplace(make_lanes(state_->device, *tape, resolved.parts));
  tape->settle(buffers(), resolved.decisions, lanes_->part_streams());
  parts_ = std::move(resolved.parts);
  if (executor_ == ExecutorKind::kStream) tape->set_events(lanes_->events());
  // The last binding stays up to here.
  uses_.reset();
  tape_ = std::move(tape);
  symbols_ = std::move(symbols);
  edges_ = std::move(resolved.edges);
  collective_edges_ = std::move(resolved.collective_edges);
  warnings_ = std::move(resolved.warnings);
  written_ = std::move(resolved.bound.written);
  steps_ = resolved.bound.steps;
  decided_by_values_ = std::move(resolved.decided_by_values);
  ++binding_;
}

void BoundProgram::bind(Bindings given) {
  play::require_limit(given.setup.timeout);
  enter_world(given);
  in_world([&] {
    bind_rank(std::move(given));
    // Allocations and uploads may wait for all devices of the process. No rank runs meanwhile,
    // because a collective that it comes to would wait for those that still bind.
    if (world_.ranks() > 1) world_.meet("the end of the bind");
  });
}

void BoundProgram::bind_rank(Bindings given) {
  ProgramValues values = state_->values(given);
  keep_groups(values.symbols);
  if (world_.ranks() > 1) {
    agree_on(world_, *state_, executor_, values, given);
    if (has_collectives(*state_)) choose_collectives(values.symbols, given.collectives);
  }
  prepare_epilogues(values.symbols);
  ProgramMemory::Next next;
  if (bound()) {
    // Other values may be set in place, if all memory stays.
    ProgramMemory::Next same = memory_.read(given, values.buffers);
    if (memory_.stays(values.buffers, same) && !needs_setup(values, same)) {
      if (update(values.slots())) {
        outputs.clear();
        symbols_ = std::move(values.symbols);
        memory_.keep(std::move(same), given.seed);
        return;
      }
    }
    next = std::move(same);
  }
  ResolvedProgram resolved = accept(state_->resolve(values, collectives_->peers()));
  if (!bound()) next = memory_.read(given, values.buffers);

  std::optional<ResolvedProgram> setup;
  if (needs_setup(values, next)) setup = accept(state_->resolve_setup(values));

  if (lanes_) change_parts(resolved.parts);
  // From here on only allocations, uploads and the setup throw. They need the old buffers gone.
  uses_.reset();
  tape_.reset();
  outputs.clear();
  memory_.allocate(std::move(values.buffers), std::move(next), given.seed, stream_);
  if (setup) {
    is_set_up_ = false;
    memory_.protect(true);
    memory_.freeze(true);
    execute_setup(std::move(*setup), given.setup);
    is_set_up_ = true;
  }
  memory_.protect(false);
  memory_.freeze(false);
  take(std::move(resolved), std::move(values.symbols));
}

void BoundProgram::change_parts(const std::shared_ptr<const SharedParts>& parts) {
  if (parts == parts_) return;
  state_->device.synchronize();
  player_->check_conditions(stream_);
  uses_.reset();
  tape_.reset();
  player_ = make_player(executor_, state_->device);  // graphs have nodes in the old parts
  lanes_.reset();
  parts_.reset();
}

void BoundProgram::initialise(const Stream& stream) {
  require_bound("initialise");
  require_one_device("program", state_->device, "stream", stream.device());
  memory_.initialise(stream);
}

play::PlayTarget BoundProgram::target(const Stream& stream) {
  return {state_->device, stream,  *tape_,        buffers(), binding_,
          tags_,          *lanes_, *collectives_, records()};
}

trace::LaunchRecords* BoundProgram::make_records() {
  if (records_ && records_of_ == binding_) return &*records_;
  std::uint64_t blocks = play::count_traced_blocks(*tape_);
  // How often the steps of conditions run is not known.
  if (tape_->has_conditions() && blocks != 0) {
    blocks = std::max(blocks, trace::LaunchRecords::kMostBlocks / 4);
  }
  blocks = std::min(blocks, trace::LaunchRecords::kMostBlocks);
  if (!records_ || records_->blocks() < blocks) {
    records_.reset();
    records_.emplace(state_->device, blocks);
    // Runs without a trace write there too.
    records_->clear(stream_);
    stream_.synchronize();
  }
  records_of_ = binding_;
  return &*records_;
}

void BoundProgram::prepare(const Stream& stream) {
  require_bound("prepare");
  require_one_device("program", state_->device, "stream", stream.device());
  player_->prepare(target(stream));
}

void BoundProgram::enqueue(const Stream& stream) {
  if (!bound() || !memory_.is_initialised()) [[unlikely]] {
    require_bound("enqueue");
    require_one_device("program", state_->device, "stream", stream.device());
    if (stream.is_capturing()) {
      throw error(ErrorCode::kInvalidInput,
                  "the buffers of {} have no contents yet, and a capture cannot upload them; "
                  "initialise the program before the capture begins",
                  printable(state_->program.name()));
    }
    memory_.initialise(stream);
  }
  try {
    player_->enqueue(target(stream));
  } catch (Error& failure) {
    // Before what a launch or a copy says of it.
    require_one_device("program", state_->device, "stream", stream.device());
    play::name_launch(failure, state_->device, *tape_, tags_);
    throw;
  }
}

Array BoundProgram::contents(std::string_view name) const {
  require_bound("contents");
  return memory_.contents_of(buffer(name), stream_);
}

void BoundProgram::reset(std::string_view name, const Stream& stream) {
  require_bound("reset");
  const std::size_t index = buffer(name);
  const bind::BoundBuffer& found = buffers()[index];
  if (!is_kept(found.definition->role) || found.given) {
    throw error(ErrorCode::kInvalidInput,
                "a reset gives a state its first contents again; the buffer {} has {}", name,
                found.given ? "memory of the caller"
                            : fmt::format("the role {}", to_string(found.definition->role)));
  }
  memory_.reset(index, stream);
}

}  // namespace baton
