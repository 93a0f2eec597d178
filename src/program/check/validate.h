#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "baton/program.h"

namespace baton {

struct Validation {
  std::vector<std::string> warnings;
  std::set<std::string, std::less<>> setup_names;  // symbols and buffers
};

// Checks all that can be known of a program without a device, its images and its symbols' values,
// and resolves the text of arguments into buffers and expressions. Throws kInvalidInput, or
// kNotFound for the name of something that does not exist, at the place of the part.
Validation validate(ProgramDefinition& program);

}  // namespace baton
