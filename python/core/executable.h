#pragma once

#include <string_view>

#include "baton/loaded_program.h"
#include "baton/world.h"
#include "core/python.h"

namespace baton::python {

// A baton._core.Executable of a loaded program. `executor` is "stream" or "graph".
Ref make_executable(const LoadedProgram& loaded, std::string_view executor);

// "auto", "nccl", "peer" or "host".
CollectiveExecutor collectives_argument(std::string_view given);

}  // namespace baton::python
