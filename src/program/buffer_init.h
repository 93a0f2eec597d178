#pragma once

#include "baton/program.h"
#include "program/reader/table_reader.h"

namespace baton {

class TomlTable;

// The key `init` of a buffer: a name ("zeros"), or a distribution with its numbers
// ({ normal = 0.02 }, { uniform = [-1, 1] }).

// Reads the key into the buffer, if it is there. Throws kInvalidInput at its place.
void read_init(const TableReader& table, ProgramBuffer& buffer);
// Throws kInvalidInput for a distribution that the buffer's dtype cannot hold.
void check_init(const ProgramBuffer& buffer);
// Adds the key that reads as an equal init; nothing for kNone. A file has a key of its own.
void write_init(const ProgramBuffer& buffer, TomlTable& table);

}  // namespace baton
