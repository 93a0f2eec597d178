#include "session/setup.h"

#include <utility>

#include "program/buffer_roles.h"
#include "session/loaded_program.h"

namespace baton {
namespace {

Program setup_program(const Program& program) {
  ProgramDefinition definition = program.definition();
  definition.steps = std::exchange(definition.setup, {});
  for (ProgramBuffer& buffer : definition.buffers) {
    const bool is_used = program.setup_names().contains(buffer.name);
    if (is_used && is_made_by_setup(buffer)) buffer.role = BufferRole::kScratch;
  }
  return Program(std::move(definition));
}

}  // namespace

PlannedSetup::PlannedSetup(const Program& program,
                           const std::function<Kernel(const std::string& name)>& kernel,
                           bind::ParamNaming naming)
    : program_(setup_program(program)),
      plan_(bind::make_plan(program_, unbound_buffers(program_), PdlMode::kOff, kernel,
                            std::move(naming))) {
  for (const ProgramBuffer& buffer : program.buffers()) {
    buffers_.push_back(program.setup_names().contains(buffer.name));
  }
}

bool PlannedSetup::uses_symbol(std::size_t symbol) const {
  return bind::uses_slot(plan_.steps, symbol);
}

bind::BufferTable PlannedSetup::table(const bind::BufferTable& table) const {
  bind::BufferTable result = unbound_buffers(program_);
  for (std::size_t i = 0; i < table.size(); ++i) {
    result[i].shape = table[i].shape;
    result[i].elements = table[i].elements;
    result[i].bytes = table[i].bytes;
    result[i].given = table[i].given;
  }
  return result;
}

}  // namespace baton
