#include "baton/executable.h"

#include "base/array/npy.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "bind/shards.h"
#include "program/buffer_roles.h"
#include "session/bound_program.h"

namespace baton {
namespace {

// What the object has, unless it was moved from.
template <typename Pointer>
BoundProgram& live(const Pointer& state) {
  if (state) [[likely]]
    return *state;
  throw error(ErrorCode::kInvalidInput,
              "the executable was moved from; use the one that it was moved into");
}

// One call of an executable.
ExclusiveUse use(BoundProgram& state, std::string_view call) {
  return ExclusiveUse(state.in_use, call, state.loaded);
}

const bind::BoundBuffer& bound_buffer(const BoundProgram& state, std::string_view name,
                                      std::string_view what) {
  const bind::BoundBuffer& found = state.buffers()[state.buffer(name)];
  if (!state.bound()) {
    throw error(ErrorCode::kInvalidInput, "the {} of {} is known once the program is bound", what,
                name);
  }
  return found;
}

}  // namespace

// Freeing memory that a kernel may use waits for the kernel, and one that was stopped for taking
// too long may never end.
void Executable::Release::operator()(BoundProgram* state) const noexcept {
  if (!state->still_runs()) {
    delete state;
    return;
  }
  try {
    log(LogLevel::kInfo,
        "{} still runs what was stopped: its memory and modules stay until the process ends",
        state->loaded.device().name());
  } catch (...) {
    // Nothing is left to tell it to.
  }
}

Executable::Executable(LoadedProgram program, ExecutorKind executor) {
  auto state = program.state_;
  state_.reset(new BoundProgram(std::move(program), std::move(state), executor));
}
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;
Executable::~Executable() = default;

Executable Executable::prepare(const Program& program, const Device& device,
                               const PrepareOptions& options) {
  return Executable(LoadedProgram::load(program, device, options.load()), options.executor);
}

const LoadedProgram& Executable::loaded() const {
  return live(state_).loaded;
}

void Executable::bind(Bindings bindings) {
  const ExclusiveUse guard = use(live(state_), "bind");
  state_->bind(std::move(bindings));
}

const std::vector<EdgeReport>& Executable::edges() const {
  return live(state_).edges();
}

const std::vector<CollectiveEdgeReport>& Executable::collective_edges() const {
  return live(state_).collective_edges();
}

const std::vector<Executable::BoundSymbol>& Executable::symbols() const {
  return live(state_).symbols();
}

const std::vector<std::int64_t>& Executable::shape(std::string_view buffer) const {
  return bound_buffer(live(state_), buffer, "shape").shape;
}

const Memory& Executable::memory(std::string_view buffer) const {
  return *bound_buffer(live(state_), buffer, "memory").memory;
}

DeviceArray Executable::array(std::string_view buffer) const {
  const bind::BoundBuffer& found = bound_buffer(live(state_), buffer, "memory");
  return {found.definition->dtype, found.shape, found.address()};
}

void Executable::enqueue(const Stream& stream) {
  const ExclusiveUse guard = use(live(state_), "enqueue");
  state_->enqueue(stream);
}

void Executable::prepare(const Stream& stream) {
  const ExclusiveUse guard = use(live(state_), "prepare");
  state_->prepare(stream);
}

void Executable::initialise(const Stream& stream) {
  const ExclusiveUse guard = use(live(state_), "initialise");
  state_->initialise(stream);
}

void Executable::wait(const Stream& stream, const WaitOptions& options) {
  const ExclusiveUse guard = use(live(state_), "wait");
  state_->wait(stream, options);
}

void Executable::set(Span<const SymbolValue> values) {
  const ExclusiveUse guard = use(live(state_), "set");
  state_->set(values);
}

void Executable::set_memory(std::string_view buffer, const DeviceArray& array) {
  const ExclusiveUse guard = use(live(state_), "set_memory");
  state_->set_memory(buffer, array);
}

void Executable::reset(std::string_view state, const Stream& stream) {
  const ExclusiveUse guard = use(live(state_), "reset");
  state_->reset(state, stream);
}

const RunReport& Executable::run(const RunOptions& options) {
  const ExclusiveUse guard = use(live(state_), "run");
  state_->run(options);
  return state_->report;
}

const RunReport& Executable::report() const {
  return live(state_).report;
}

const Array& Executable::output(std::string_view buffer) const {
  const auto found = live(state_).outputs.find(buffer);
  if (found != state_->outputs.end()) return found->second;
  const std::vector<std::string> known = outputs();
  for (const std::string& name : known) {
    if (name != buffer) continue;
    if (state_->buffers()[state_->buffer(buffer)].given) {
      throw error(ErrorCode::kInvalidInput, "the output {} is in the memory that it was given",
                  buffer);
    }
    throw error(ErrorCode::kInvalidInput, "the output {} is known after a run", buffer);
  }
  throw error(ErrorCode::kNotFound, "the program {} has no output \"{}\"{}",
              printable(state_->loaded.program().name()), printable(buffer),
              suggestion(buffer, known));
}

Array Executable::contents(std::string_view buffer) const {
  const ExclusiveUse guard = use(live(state_), "contents");
  return state_->contents(buffer);
}

std::vector<ExpectedOutput> Executable::compare_expected() const {
  std::vector<ExpectedOutput> compared;
  for (const ProgramBuffer& buffer : program().buffers()) {
    if (buffer.expect.empty()) continue;
    Array want = read_npy(buffer.expect, buffer.dtype);
    const Array& got = output(buffer.name);
    // Rank 0 has the whole once the outputs were gathered.
    if (want.shape != got.shape && !buffer.shards.empty()) {
      want = bind::part_of(std::move(want), bound_buffer(live(state_), buffer.name, "shape"),
                           buffer.expect.string());
    }
    compared.push_back({buffer.name, buffer.expect,
                        compare(got, want, default_tolerance(buffer.dtype),
                                fmt::format("the output {}", buffer.name))});
  }
  return compared;
}

const World& Executable::world() const {
  return live(state_).world();
}

std::vector<std::int64_t> Executable::whole_shape(std::string_view buffer) const {
  return bind::whole_shape(bound_buffer(live(state_), buffer, "shape"));
}

void Executable::gather_outputs() {
  const ExclusiveUse guard = use(live(state_), "gather_outputs");
  state_->gather_outputs();
}

std::vector<std::string> Executable::outputs() const {
  std::vector<std::string> names;
  for (const ProgramBuffer& buffer : program().buffers()) {
    if (facts_of(buffer.role).is_result) names.push_back(buffer.name);
  }
  return names;
}

}  // namespace baton
