#include "baton/executable.h"

#include "base/error.h"
#include "base/log.h"
#include "base/suggest.h"
#include "base/text.h"
#include "session/bound_program.h"

namespace baton {
namespace {

const bind::BoundBuffer& find_buffer(const BoundProgram& state, std::string_view name) {
  std::vector<std::string_view> known;
  for (const bind::BoundBuffer& buffer : state.buffers()) {
    if (buffer.definition->name == name) return buffer;
    known.push_back(buffer.definition->name);
  }
  throw error(ErrorCode::kNotFound, "the program {} has no buffer \"{}\"{}",
              printable(state.loaded.program().name()), printable(name), suggestion(name, known));
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
  return state_->loaded;
}

void Executable::bind(Bindings bindings) {
  state_->bind(std::move(bindings));
}

const std::vector<EdgeReport>& Executable::edges() const {
  return state_->edges();
}

const std::vector<Executable::BoundSymbol>& Executable::symbols() const {
  return state_->symbols();
}

const std::vector<std::int64_t>& Executable::shape(std::string_view buffer) const {
  const bind::BoundBuffer& found = find_buffer(*state_, buffer);
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
              printable(state_->loaded.program().name()), printable(buffer),
              suggestion(buffer, known));
}

std::vector<std::string> Executable::outputs() const {
  std::vector<std::string> names;
  for (const ProgramBuffer& buffer : program().buffers()) {
    if (buffer.role == BufferRole::kOutput || buffer.role == BufferRole::kInout) {
      names.push_back(buffer.name);
    }
  }
  return names;
}

}  // namespace baton
