#pragma once

#include "baton/program.h"

namespace baton {

// Checks all that can be known of a program without a device, its images and its symbols' values,
// and resolves the text of arguments into buffers and expressions. Throws kInvalidInput, or
// kNotFound for the name of something that does not exist, at the place of the part.
void validate(ProgramDefinition& program);

}  // namespace baton
