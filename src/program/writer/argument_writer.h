#pragma once

#include <string>

#include "baton/program.h"
#include "program/writer/toml_table.h"

namespace baton {

// The value in TOML that read_argument reads as an equal argument. Throws kInvalidInput for an
// argument that a program file cannot have.
std::string toml_argument(const LaunchArgument& argument);

// Adds the keys that read_attributes reads as equal attributes.
void write_attributes(const ProgramAttributes& attributes, TomlTable& table);

}  // namespace baton
