#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "instructions/suite.h"

namespace baton::instructions {

// One PTX module with an entry `case_N` for each case N. An entry takes (inputs, results, count
// of rows, and the case's own parameters): thread i works on row i of both arrays, 8 bytes an
// operand.
std::string module_text(const std::string& declarations, std::span<const Case* const> cases);
std::string entry_name(std::size_t index);

}  // namespace baton::instructions
