#pragma once

#include <string>
#include <vector>

#include "baton/program.h"

namespace baton {

// Checks all that can be known of a program without a device, its images and its symbols' values,
// and resolves the text of arguments into buffers and expressions. Throws kInvalidInput, or
// kNotFound for the name of something that does not exist, at the place of the part. Returns the
// warnings.
std::vector<std::string> validate(ProgramDefinition& program);

}  // namespace baton
