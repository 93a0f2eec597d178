#include "session/bound_program.h"

#include <algorithm>
#include <chrono>

#include "base/array/array.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "bind/binding.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "edges/judgement.h"
#include "play/failed_run.h"
#include "play/note_steps.h"
#include "play/run_watch.h"
#include "play/sender.h"
#include "program/buffer_roles.h"
#include "runtime/crossing.h"
#include "session/run/run_observer.h"
#include "session/run/simulated_run.h"
#include "session/run/traced_run.h"
#include "session/world/collective_choice.h"
#include "session/world/rank_agreement.h"

namespace baton {
namespace {

constexpr std::chrono::milliseconds kProgressInterval{250};

// Calls the user's progress callback a few times a second.
std::function<void()> progress_tick(const RunOptions& options, const RunProgress& progress) {
  if (!options.progress) return {};
  auto next = std::chrono::steady_clock::now() + kProgressInterval;
  return [&options, &progress, next]() mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now < next) return;
    next = now + kProgressInterval;
    options.progress(progress);
  };
}

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

bool meets(const bind::BoundBuffer& a, DeviceAddress b, std::uint64_t b_bytes) {
  return edges::may_lead_to(a.address(), a.bytes, b, b_bytes);
}

bool overlaps(const bind::BoundBuffer& a, DeviceAddress b, std::uint64_t b_bytes) {
  return a.bytes != 0 && b_bytes != 0 && a.address() < b + b_bytes && b < a.address() + a.bytes;
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

// A graph of instrumented kernels is laid out anew: its launches may have other blocks, and
// records.
void BoundProgram::note_changes(const bind::TapeChanges& changes) {
  if (!is_instrumented_) {
    player_->note_changes(changes, binding_, binding_ + 1);
  }
  ++binding_;
}

bool BoundProgram::update(std::span<const std::int64_t> symbols) {
  if (!uses_) uses_.emplace(state_->plan, symbols.size(), *tape_, decided_by_values_);
  if (!update_.evaluate(*tape_, *uses_, symbols, buffers())) return false;
  try {
    update_.commit(*tape_);
  } catch (...) {
    uses_.reset();
    tape_.reset();
    throw;
  }
  note_changes(update_.changes());
  log(LogLevel::kInfo, "{}: symbols take new values in place", printable(state_->program.name()));
  return true;
}

ProgramValues BoundProgram::values_with(std::vector<BoundSymbol> symbols) const {
  ProgramValues values{std::move(symbols), unbound_buffers(state_->program)};
  for (std::size_t i = 0; i < values.buffers.size(); ++i) {
    const bind::BoundBuffer& now = buffers()[i];
    bind::BoundBuffer& buffer = values.buffers[i];
    buffer.shape = bind::bind_shape(*buffer.definition, values.symbols);
    if (buffer.shape != now.shape) {
      throw error_at(buffer.definition->where, ErrorCode::kInvalidInput,
                     "the new values change the shape of the buffer {} from {} to {}; bind the "
                     "program anew for them, which allocates it again",
                     buffer.definition->name, shape_text(now.shape), shape_text(buffer.shape));
    }
    buffer.elements = now.elements;
    buffer.bytes = now.bytes;
    buffer.shards = now.shards;
    buffer.given = now.given;
  }
  return values;
}

void BoundProgram::set(std::span<const SymbolValue> values) {
  require_bound("set");
  next_symbols_.clear();
  for (const BoundSymbol& symbol : symbols_) next_symbols_.push_back(symbol.value);
  for (const SymbolValue& value : values) {
    const auto found = std::ranges::find(symbols_, value.symbol, &BoundSymbol::name);
    if (found == symbols_.end()) {
      std::vector<std::string_view> known;
      for (const BoundSymbol& symbol : symbols_) known.push_back(symbol.name);
      throw error(ErrorCode::kNotFound, "the program {} has no symbol \"{}\"{}",
                  printable(state_->program.name()), printable(value.symbol),
                  suggestion(value.symbol, known));
    }
    next_symbols_[static_cast<std::size_t>(found - symbols_.begin())] = value.value;
  }
  const auto rename = [&](std::vector<BoundSymbol>& symbols) {
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      if (symbols[i].value == next_symbols_[i]) continue;
      symbols[i].value = next_symbols_[i];
      symbols[i].source = bind::kCallSource;
    }
  };
  bool is_shape = false;
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_[i].value == next_symbols_[i]) continue;
    if (state_->program.symbols()[i].of_world) {
      throw error(ErrorCode::kInvalidInput,
                  "the world sets the symbol {}, which is {} here; leave it out", symbols_[i].name,
                  symbols_[i].value);
    }
    if (state_->decides_groups[i]) {
      throw error(
          ErrorCode::kInvalidInput,
          "groups of ranks have sizes by the symbol {}; make another executable for another "
          "value",
          symbols_[i].name);
    }
    is_shape = is_shape || state_->decides_shape[i];
    const auto sizes_it = [i](const bind::PlannedPart& part) { return part.sms.uses_slot(i); };
    if (std::ranges::any_of(state_->plan.parts, sizes_it)) {
      throw error(ErrorCode::kInvalidInput,
                  "parts of the SMs have sizes by the symbol {}; bind the program anew for another "
                  "value, which splits the device again",
                  symbols_[i].name);
    }
    if (state_->setup && state_->setup->uses_symbol(i)) {
      throw error(ErrorCode::kInvalidInput,
                  "setup steps depend on the symbol {}; bind the program anew for another "
                  "value, which executes them again",
                  symbols_[i].name);
    }
  }
  state_->requirements.check(next_symbols_);
  if (is_shape) {
    std::vector<BoundSymbol> symbols = symbols_;
    rename(symbols);
    values_with(std::move(symbols));  // throws for another shape
  }
  if (update(next_symbols_)) return rename(symbols_);
  std::vector<BoundSymbol> symbols = symbols_;
  rename(symbols);
  ProgramValues all = values_with(std::move(symbols));
  ResolvedProgram resolved = accept(state_->resolve(all, collectives_->peers()));
  take(std::move(resolved), std::move(all.symbols));
}

void BoundProgram::set_memory(std::string_view name, const DeviceArray& array) {
  require_bound("set_memory");
  const std::size_t index = buffer(name);
  const bind::BoundBuffer& now = buffers()[index];
  const ProgramBuffer& definition = *now.definition;
  // No binding changes a dtype.
  if (array.dtype != definition.dtype) {
    throw error(
        ErrorCode::kInvalidInput,
        "the memory for {} holds {}, the buffer has the dtype {}; give memory of that dtype",
        definition.name, to_string(array.dtype), to_string(definition.dtype));
  }
  if (definition.variable) {
    throw error(ErrorCode::kInvalidInput,
                "the buffer {} is the variable {} of kernel {}, which has memory of its own",
                definition.name, definition.variable->name, definition.variable->kernel);
  }
  if (array.dtype != definition.dtype || array.shape != now.shape) {
    throw error(ErrorCode::kInvalidInput,
                "the memory for {} is {} {}, the bound program wants {} {}; bind it anew for "
                "another shape",
                definition.name, to_string(array.dtype), shape_text(array.shape),
                to_string(definition.dtype), shape_text(now.shape));
  }
  if (now.given == array.address) return;
  bind::check_memory(now, array.address, state_->device);
  if (state_->setup && state_->setup->uses_buffer(index)) {
    throw error(ErrorCode::kInvalidInput,
                "setup steps use the buffer {}; bind the program anew for other memory, which "
                "executes them again",
                definition.name);
  }
  // Verdicts depend on which memory of the caller overlaps, or is close, and on lines of caches.
  bool stays = now.given && tape_->can_move(static_cast<std::uint32_t>(index));
  stays = stays && (!definition.frozen || edges::suits_frozen_rows(*now.given) ==
                                              edges::suits_frozen_rows(array.address));
  for (std::size_t i = 0; i < buffers().size(); ++i) {
    if (i == index) continue;
    const bind::BoundBuffer& other = buffers()[i];
    if (!other.given && overlaps(other, array.address, now.bytes)) {
      throw error(ErrorCode::kInvalidInput,
                  "the memory for {} overlaps that of {}, which is the program's own; give both "
                  "memory of yours",
                  definition.name, other.definition->name);
    }
    stays =
        stays && !meets(other, *now.given, now.bytes) && !meets(other, array.address, now.bytes);
  }
  if (stays) {
    const auto number = static_cast<std::uint32_t>(index);
    const std::uint64_t distance = array.address - *now.given;
    memory_.adopt(index, array.address);
    memory_.freeze(false);
    tape_->move_buffer(number, distance);
    note_changes(bind::changes_of_buffer(*tape_, number));
    return;
  }
  ProgramValues values = values_with(symbols_);
  values.buffers[index].given = array.address;
  ResolvedProgram resolved = accept(state_->resolve(values, collectives_->peers()));
  tape_.reset();
  memory_.adopt(index, array.address);
  memory_.freeze(false);
  take(std::move(resolved), symbols_);
}

void BoundProgram::initialise(const Stream& stream) {
  require_bound("initialise");
  require_one_device("program", state_->device, "stream", stream.device());
  memory_.initialise(stream);
}

std::function<void()> BoundProgram::watch_collectives(std::function<void()> tick) const {
  if (!collectives_->by_nccl()) return tick;
  return [this, tick = std::move(tick)] {
    collectives_->check();
    if (tick) tick();
  };
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

void BoundProgram::wait(const Stream& stream, const WaitOptions& options) {
  require_bound("wait");
  play::require_limit(options.timeout);
  require_one_device("program", state_->device, "stream", stream.device());
  in_world([&] { wait_for_rank(stream, options); });
}

void BoundProgram::wait_for_rank(const Stream& stream, const WaitOptions& options) {
  const play::RunWatch watch(state_->device, options.timeout, options.interrupt,
                             watch_collectives({}), &world_);
  try {
    watch.wait([&] { return stream.done(); });
    player_->check_conditions(stream);
  } catch (Error& failure) {
    play::name_launch(failure, state_->device, *tape_, tags_);
    play::stop_enqueued(failure, watch, state_->device, *tape_, tags_);
    collectives_->note_others(failure);
    note_stop(failure, stream, watch);
    throw;
  }
}

void BoundProgram::run(const RunOptions& options) {
  play::require_limit(options.timeout);
  if (RunObserver::is_wanted(options) && executor_ != ExecutorKind::kStream) {
    throw error(ErrorCode::kInvalidInput,
                "a graph is one launch, so that nothing can be seen between its steps; take the "
                "stream executor");
  }
  if (!bound()) bind({});
  in_world([&] { run_rank(options); });
}

void BoundProgram::run_rank(const RunOptions& options) {
  for (const std::string& name : options.results) buffer(name);
  outputs.clear();
  stopped_.reset();
  const bool overlaps = tape_->lanes() > 1 ||
                        std::ranges::any_of(edges_, &EdgeReport::programmatic) ||
                        std::ranges::any_of(collective_edges_, &CollectiveEdgeReport::programmatic);
  SimulatedRun simulated(state_->device, options, overlaps, is_instrumented_, report);
  try {
    play(options);
  } catch (Error& failure) {
    play::name_launch(failure, state_->device, *tape_, tags_);
    collectives_->note_others(failure);
    simulated.collect(*tape_, tags_);
    throw;
  }
  const std::vector<std::string> errors = simulated.collect(*tape_, tags_);
  if (errors.empty()) return;
  Error failure = error(ErrorCode::kFault, "the device found {} error{} in the program's kernels",
                        errors.size(), errors.size() == 1 ? "" : "s");
  for (const std::string& text : errors) failure.note(text);
  throw failure;
}

Array BoundProgram::contents(std::string_view name) const {
  require_bound("contents");
  return memory_.contents_of(buffer(name), stream_);
}

void BoundProgram::play(const RunOptions& options) {
  play::RunLog run_log(report, state_->plan, buffers(), steps_, options.join_executions);
  report.warnings = warnings_;
  report.collectives = collectives_report_;
  report.parts = part_reports(parts_, *tape_, state_->plan.launches);
  memory_.initialise(stream_);
  RunProgress progress{.run = 0, .steps_done = 0, .steps = steps_};
  const play::RunWatch watch(state_->device, options.timeout, options.interrupt,
                             watch_collectives(progress_tick(options, progress)), &world_);
  std::optional<RunObserver> observer;
  try {
    if (RunObserver::is_wanted(options)) observer.emplace(options, memory_, stream_, report);
    for (std::uint64_t run = 0; run < options.repeat; ++run) {
      progress.run = run;
      progress.steps_done = 0;
      std::optional<TracedRun> traced;
      if (options.trace && records() != nullptr && run + 1 == options.repeat) {
        traced.emplace(state_->device, stream_, *records());
      }
      // On a GPU events between the launches would be seen in the timeline.
      const bool events =
          options.time_steps && (!traced || state_->device.driver().simulator != nullptr);
      player_->play({target(stream_), steps_, run_log, watch, progress.steps_done, events,
                     options.steps_apart, observer && run == 0 ? &*observer : nullptr});
      if (traced) traced->finish(*tape_, tags_, state_->kernels, edges_, report);
      world_.check();
      if (run == 0) {
        const bool with_states = !options.wants_states || options.wants_states();
        outputs = memory_.download(stream_, options.results, with_states);
        watch.wait([this] { return stream_.done(); });
        // The steps that a run did not get to may write an output.
        if (!observer || !observer->ended()) {
          for (std::string& warning : memory_.unwritten(outputs, written_)) {
            report.warnings.push_back(std::move(warning));
          }
        }
      }
      if (observer) observer->finish();
      if (options.after_run) options.after_run(run);
    }
  } catch (Error& failure) {
    watch.stop(failure);
    note_stop(failure, stream_, watch);
    throw;
  }
  run_log.finish();
}

}  // namespace baton
