#include "baton/executable.h"

#include "base/error.h"
#include "base/log.h"
#include "base/suggest.h"
#include "base/text.h"
#include "exec/executable_state.h"

namespace baton {
namespace {

const exec::BoundBuffer& find_buffer(const ExecutableState& state, std::string_view name) {
  std::vector<std::string_view> known;
  for (const exec::BoundBuffer& buffer : state.buffers()) {
    if (buffer.definition->name == name) return buffer;
    known.push_back(buffer.definition->name);
  }
  throw error(ErrorCode::kNotFound, "the program {} has no buffer \"{}\"{}",
              printable(state.program.name()), printable(name), suggestion(name, known));
}

}  // namespace

std::string_view to_string(EdgeVerdict verdict) noexcept {
  constexpr std::string_view kNames[] = {"proven", "unsafe", "unknown"};
  return kNames[static_cast<std::size_t>(verdict)];
}

// Freeing memory that a kernel may use waits for the kernel, and one that was stopped for taking
// too long may never end.
void Executable::Release::operator()(ExecutableState* state) const noexcept {
  if (!state->still_runs()) {
    delete state;
    return;
  }
  try {
    log(LogLevel::kInfo,
        "{} still runs what was stopped: its memory and modules stay until the process ends",
        state->device.name());
  } catch (...) {
    // Nothing is left to tell it to.
  }
}

std::string_view to_string(KernelRewrite::Change::Kind kind) noexcept {
  constexpr std::string_view kNames[] = {"wait", "trigger", "plain load"};
  return kNames[static_cast<std::size_t>(kind)];
}

Executable::Executable(std::unique_ptr<ExecutableState, Release> state)
    : state_(std::move(state)) {}
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;
Executable::~Executable() = default;

Executable Executable::prepare(const Program& program, const Device& device,
                               const PrepareOptions& options) {
  return Executable(
      std::unique_ptr<ExecutableState, Release>(new ExecutableState(program, device, options)));
}

const Program& Executable::program() const {
  return state_->program;
}
const Device& Executable::device() const {
  return state_->device;
}

const Module& Executable::module(std::string_view kernel) const {
  return state_->kernels.module(kernel);
}

const std::vector<Executable::KernelModule>& Executable::modules() const {
  return state_->kernels.modules();
}

void Executable::bind(Bindings bindings) {
  state_->bind(std::move(bindings));
}

CheckReport Executable::check(Bindings bindings) {
  return state_->check(std::move(bindings));
}

const std::vector<EdgeReport>& Executable::edges() const {
  return state_->edges();
}

const std::vector<Executable::BoundSymbol>& Executable::symbols() const {
  return state_->symbols;
}

const std::vector<std::int64_t>& Executable::shape(std::string_view buffer) const {
  const exec::BoundBuffer& found = find_buffer(*state_, buffer);
  if (!state_->bound()) {
    throw error(ErrorCode::kInvalidInput, "the shape of {} is known once the program is bound",
                buffer);
  }
  return found.shape;
}

const RunReport& Executable::run(const RunOptions& options) {
  state_->run(options);
  return state_->report;
}

const RunReport& Executable::report() const {
  return state_->report;
}

const Array& Executable::output(std::string_view buffer) const {
  const auto found = state_->outputs.find(buffer);
  if (found != state_->outputs.end()) return found->second;
  const std::vector<std::string> known = outputs();
  for (const std::string& name : known) {
    if (name != buffer) continue;
    if (find_buffer(*state_, buffer).given) {
      throw error(ErrorCode::kInvalidInput, "the output {} is in the memory that it was given",
                  buffer);
    }
    throw error(ErrorCode::kInvalidInput, "the output {} is known after a run", buffer);
  }
  throw error(ErrorCode::kNotFound, "the program {} has no output \"{}\"{}",
              printable(state_->program.name()), printable(buffer), suggestion(buffer, known));
}

std::vector<std::string> Executable::outputs() const {
  std::vector<std::string> names;
  for (const ProgramBuffer& buffer : state_->program.buffers()) {
    if (buffer.role == BufferRole::kOutput || buffer.role == BufferRole::kInout) {
      names.push_back(buffer.name);
    }
  }
  return names;
}

}  // namespace baton
