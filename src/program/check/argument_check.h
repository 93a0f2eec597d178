#pragma once

#include "program/expression/scope.h"

namespace baton {

// Resolves the text of a launch's argument into a buffer or an expression, and checks the argument
// against the names of the program. Throws kInvalidInput or kNotFound at the place of what is
// wrong.
void check_argument(LaunchArgument& argument, const ProgramScope& scope);

}  // namespace baton
