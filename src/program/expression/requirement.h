#pragma once

#include <string>
#include <vector>

#include "baton/program.h"
#include "program/reader/document.h"

namespace baton {

// The value of `require` in a program file: a list of comparisons, each a text or a table
// NAME = "comparison", or one such table. Throws kInvalidInput at the place of what is wrong.
std::vector<Requirement> read_requirements(const Document& document, const DocumentNode& node);

// The value that reads as equal requirements.
std::string toml_requirements(const std::vector<Requirement>& requirements);

}  // namespace baton
