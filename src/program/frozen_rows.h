#pragma once

#include <optional>
#include <string>

#include "baton/program.h"
#include "program/reader/table_reader.h"

namespace baton {

class ProgramScope;

// The value of `frozen` of a buffer: "pos[0]", or { count = "pos[0]", axis = 1 }. Nothing where the
// key is missing. Throws kInvalidInput at the place of what is wrong.
std::optional<FrozenRows> read_frozen_rows(const TableReader& buffer);

// The value that reads as equal rows.
std::string toml_frozen_rows(const FrozenRows& rows);

// Throws kInvalidInput for a cache without frozen rows, and for others with them; for a counter
// that is not a buffer of integers, and an axis that the buffer lacks. Throws kNotFound for an
// unknown one.
void check_frozen_rows(const ProgramBuffer& buffer, const ProgramScope& scope);

}  // namespace baton
