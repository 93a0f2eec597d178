#pragma once

#include "baton/program.h"
#include "program/reader/table_reader.h"

namespace baton {

// Reads the attributes among the members of a table: a step, or [kernels.k.launch]. Throws
// kInvalidInput at the member's place for a value of the wrong type.
ProgramAttributes read_attributes(const TableReader& table);

}  // namespace baton
