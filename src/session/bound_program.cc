#include "session/bound_program.h"

#include <algorithm>
#include <chrono>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "base/npy.h"
#include "base/text.h"
#include "bind/binding.h"
#include "bind/initialise.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "session/simulated_run.h"

namespace baton {
namespace {

// Fills outputs before a run on a device that cannot tell who reads or writes: a value that no
// computation is likely to leave in every byte.
constexpr std::uint8_t kPoison = 0xC7;

constexpr std::chrono::milliseconds kProgressInterval{250};

// A variable has what its image says even where the program says nothing.
bool is_initialised(const ProgramBuffer& buffer) {
  return buffer.init != BufferInit::kNone || buffer.variable;
}

// Whether the buffer is read before it is written, so that something must be in it.
bool needs_contents(const ProgramBuffer& buffer) {
  return buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight ||
         buffer.role == BufferRole::kInout;
}

// Whether the buffer is downloaded after a run.
bool is_result(const bind::BoundBuffer& buffer) {
  const BufferRole role = buffer.definition->role;
  return !buffer.given && (role == BufferRole::kOutput || role == BufferRole::kInout);
}

// Whether `bind` uploads the buffer, once: nothing writes it.
bool is_own_weight(const bind::BoundBuffer& buffer) {
  return buffer.definition->role == BufferRole::kWeight && !buffer.given &&
         !buffer.definition->variable;
}

bool is_given(const bind::BoundBuffer& buffer, const Bindings& given) {
  return std::ranges::any_of(
      given.inputs, [&](const auto& input) { return input.first == buffer.definition->name; });
}

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

}  // namespace

BoundProgram::BoundProgram(LoadedProgram program, std::shared_ptr<const LoadedProgramState> state,
                           ExecutorKind executor)
    : loaded(std::move(program)),
      state_(std::move(state)),
      stream_(state_->device),
      player_(make_player(executor, state_->device)),
      buffers_(std::make_unique<bind::BufferTable>(unbound_buffers(state_->program))) {}

void BoundProgram::bind(Bindings given) {
  ProgramValues values = state_->values(given);
  if (rebind(values, given)) return;
  ResolvedProgram resolved = state_->resolve(values);
  log_edges(resolved.edges);
  // The simulated GPU finds each write of a weight when it happens, with its thread.
  const bool is_found = resolved.writes_weight && state_->device.driver().simulator != nullptr;
  if (resolved.forbidden_write && !is_found) throw std::move(*resolved.forbidden_write);
  if (resolved.refusal) throw std::move(*resolved.refusal);
  std::vector<bool> kept, given_weights;
  for (const bind::BoundBuffer& buffer : values.buffers) {
    kept.push_back(stays(buffer, given));
    given_weights.push_back(is_given(buffer, given));
  }
  Contents read = read_contents(given, values.buffers);

  // From here on only allocations and uploads throw. They need the old buffers gone.
  uses_.reset();
  tape_.reset();
  outputs.clear();
  auto table = std::make_unique<bind::BufferTable>(std::move(values.buffers));
  allocate(*table, kept);
  buffers_ = std::move(table);
  contents_ = std::move(read);
  given_weights_ = std::move(given_weights);
  symbols_ = std::move(values.symbols);
  edges_ = std::move(resolved.edges);
  warnings_ = std::move(resolved.warnings);
  written_ = std::move(resolved.bound.written);
  steps_ = resolved.bound.steps;
  seed_ = given.seed;
  ++binding_;
  initialise(true, kept);
  auto tape = std::make_unique<bind::Tape>(std::move(resolved.bound.tape));
  tape->settle(*buffers_, resolved.decisions);
  tape_ = std::move(tape);
  decided_by_values_ = std::move(resolved.decided_by_values);
}

bool BoundProgram::rebind(ProgramValues& values, Bindings& given) {
  if (!bound()) return false;
  const auto same_memory = [](const bind::BoundBuffer& a, const bind::BoundBuffer& b) {
    return a.shape == b.shape && a.given == b.given;
  };
  if (!std::ranges::equal(*buffers_, values.buffers, same_memory)) return false;
  for (const bind::BoundBuffer& buffer : *buffers_) {
    if (is_own_weight(buffer) && !stays(buffer, given)) return false;
  }
  if (!uses_) {
    uses_.emplace(state_->plan, values.symbols.size(), *tape_, decided_by_values_);
  }
  std::optional<bind::TapeUpdate> update =
      bind::TapeUpdate::evaluate(*tape_, *uses_, values.slots(), *buffers_);
  if (!update) return false;
  Contents read = read_contents(given, values.buffers);
  try {
    update->commit();
  } catch (...) {
    uses_.reset();
    tape_.reset();
    throw;
  }
  outputs.clear();
  contents_ = std::move(read);
  symbols_ = std::move(values.symbols);
  seed_ = given.seed;
  ++binding_;
  log(LogLevel::kInfo, "{}: symbols take new values in place",
      printable(state_->program.name()));
  return true;
}

bool BoundProgram::stays(const bind::BoundBuffer& wanted, const Bindings& given) const {
  if (tape_ == nullptr || !is_own_weight(wanted)) return false;
  const std::string& name = wanted.definition->name;
  const std::size_t index = bind::buffer_index(*buffers_, name);
  const bind::BoundBuffer& now = (*buffers_)[index];
  return is_own_weight(now) && !is_given(wanted, given) && !given_weights_[index] && now.shape == wanted.shape &&
         (wanted.definition->init != BufferInit::kRandom || given.seed == seed_);
}

BoundProgram::Contents BoundProgram::read_contents(Bindings& given,
                                                   const bind::BufferTable& table) const {
  Contents result;
  for (auto& [name, array] : given.inputs) result.emplace(name, std::move(array));
  for (const bind::BoundBuffer& buffer : table) {
    const ProgramBuffer& definition = *buffer.definition;
    if (buffer.given || result.count(definition.name) != 0) continue;
    if (!is_initialised(definition) && needs_contents(definition)) {
      throw error_at(definition.where, ErrorCode::kInvalidInput,
                     "nothing initialises the buffer {} of role {}; give it an --input, or an init "
                     "or a file in the program",
                     definition.name, to_string(definition.role));
    }
    if (definition.init != BufferInit::kFile || stays(buffer, given)) continue;
    try {
      Array array = read_npy(definition.file, definition.dtype);
      if (array.shape != buffer.shape) {
        throw error(ErrorCode::kInvalidInput,
                    "{} holds an array of shape {}, the buffer {} has the shape {}",
                    definition.file.string(), shape_text(array.shape), definition.name,
                    shape_text(buffer.shape));
      }
      result.emplace(definition.name, std::move(array));
    } catch (Error& failure) {
      failure.at(definition.where);
      throw;
    }
  }
  return result;
}

void BoundProgram::allocate(bind::BufferTable& table, const std::vector<bool>& kept) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (kept[i]) table[i].memory = std::move((*buffers_)[i].memory);
  }
  *buffers_ = unbound_buffers(state_->program);
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (kept[i]) continue;
    bind::BoundBuffer& buffer = table[i];
    const ProgramBuffer& definition = *buffer.definition;
    try {
      buffer.memory.emplace(buffer.given
                                ? Memory::adopt(state_->device, *buffer.given, buffer.bytes)
                            : definition.variable ? variable(buffer)
                                                  : Memory(state_->device, buffer.bytes));
    } catch (Error& failure) {
      failure.at(definition.where);
      throw;
    }
    if (definition.variable || buffer.given) continue;  // its module or its owner has named it
    buffer.memory->set_name(bind::title_of(buffer));
  }
}

Memory BoundProgram::variable(const bind::BoundBuffer& buffer) const {
  const ModuleVariable& variable = *buffer.definition->variable;
  Memory memory = state_->kernels.module(variable.kernel).variable(variable.name);
  if (memory.bytes() < buffer.bytes) {
    throw error(ErrorCode::kInvalidInput,
                "the buffer {} ({} {}) has {} bytes, the variable {} of kernel {} has {}",
                buffer.definition->name, to_string(buffer.definition->dtype),
                shape_text(buffer.shape), buffer.bytes, variable.name, variable.kernel,
                memory.bytes());
  }
  return memory;
}

const Array* BoundProgram::contents(const ProgramBuffer& buffer) const {
  const auto found = contents_.find(buffer.name);
  return found == contents_.end() ? nullptr : &found->second;
}

void BoundProgram::initialise(bool weights, const std::vector<bool>& kept) {
  const bool poison = state_->device.driver().simulator == nullptr;
  for (std::size_t i = 0; i < buffers_->size(); ++i) {
    const bind::BoundBuffer& buffer = (*buffers_)[i];
    if (buffer.given || is_own_weight(buffer) != weights || (weights && kept[i])) continue;
    const ProgramBuffer& definition = *buffer.definition;
    const Array* given = contents(definition);
    bind::initialise(buffer, given, seed_, stream_);
    if (poison && is_result(buffer) && given == nullptr && !is_initialised(definition)) {
      buffer.memory->fill(kPoison, 1, buffer.bytes, 0, stream_);
    }
    if (weights) contents_.erase(definition.name);
  }
}

void BoundProgram::run(const RunOptions& options) {
  if (!bound()) bind({});
  outputs.clear();
  stopped_ = false;
  const bool overlaps = std::ranges::any_of(edges_, &EdgeReport::programmatic);
  SimulatedRun simulated(state_->device, options, *buffers_, overlaps, report);
  try {
    play(options);
  } catch (Error& failure) {
    stopped_ = failure.code() == ErrorCode::kTimeout || failure.code() == ErrorCode::kInterrupted;
    play::name_launch(failure, state_->device, *tape_, tags_);
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

bool BoundProgram::still_runs() const noexcept {
  if (!stopped_) return false;
  try {
    return !stream_.done();
  } catch (...) {
    return false;  // it ended with a failure, which the run has reported
  }
}

void BoundProgram::play(const RunOptions& options) {
  play::RunLog run_log(report, state_->plan, *buffers_, steps_, options.join_executions);
  report.warnings = warnings_;
  initialise(false, {});
  RunProgress progress{.run = 0, .steps_done = 0, .steps = steps_};
  const play::RunWatch watch(state_->device, options.timeout, options.interrupt,
                             progress_tick(options, progress));
  try {
    for (std::uint64_t run = 0; run < options.repeat; ++run) {
      progress.run = run;
      progress.steps_done = 0;
      player_->play({state_->device, stream_, *tape_, *buffers_, binding_, steps_, run_log, watch,
                     tags_, progress.steps_done, options.time_steps, options.steps_apart});
      if (run == 0) {
        download(watch);
        note_unwritten();
      }
      if (options.after_run) options.after_run(run);
    }
  } catch (Error& failure) {
    watch.stop(failure);
    throw;
  }
  run_log.finish();
}

void BoundProgram::download(const play::RunWatch& watch) {
  for (const bind::BoundBuffer& buffer : *buffers_) {
    if (!is_result(buffer)) continue;
    Array& array = outputs[buffer.definition->name];
    array = {buffer.definition->dtype, buffer.shape, std::string(buffer.bytes, '\0')};
    buffer.memory->download(array.bytes.data(), buffer.bytes, 0, stream_);
  }
  watch.wait([this] { return stream_.done(); });
}

void BoundProgram::note_unwritten() {
  driver::Simulator* const simulator = state_->device.driver().simulator;
  const bool poisoned = simulator == nullptr;
  for (std::size_t i = 0; i < buffers_->size(); ++i) {
    const bind::BoundBuffer& buffer = (*buffers_)[i];
    const ProgramBuffer& definition = *buffer.definition;
    if (definition.role != BufferRole::kOutput || buffer.bytes == 0) continue;
    // Kernels write variables by their names, which no argument shows. The earlier contents of the
    // caller's memory are not known.
    if (definition.variable || buffer.given) continue;
    const bool untouched = !poisoned && simulator->untouched(buffer.address(), buffer.bytes);
    if (!written_[i] || untouched) {
      report.warnings.push_back(fmt::format("no step writes the output {}, at {}", definition.name,
                                            definition.where.to_string()));
      continue;
    }
    const std::string& bytes = outputs[definition.name].bytes;
    if (poisoned && !is_initialised(definition) &&
        bytes.find_first_not_of(static_cast<char>(kPoison)) == std::string::npos) {
      report.warnings.push_back(
          fmt::format("perhaps no step writes the output {}, at {}: it holds what it held before "
                      "the run",
                      definition.name, definition.where.to_string()));
    }
  }
}

}  // namespace baton
