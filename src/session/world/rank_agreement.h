#pragma once

#include <cstdint>

#include "baton/executable.h"
#include "baton/world.h"
#include "session/loaded_program.h"

namespace baton {

// Compares the bound programs of the ranks of a world: their devices, symbols and steps. Then the
// ranks of each group compare their collectives with the elements of each, and two ranks their
// messages. Throws kInvalidInput, on every rank, for the first difference.
void agree_on(const World& world, const LoadedProgramState& state, ExecutorKind executor,
              const ProgramValues& values, const Bindings& given);

}  // namespace baton
