#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "baton/program.h"

namespace baton {

// Whether a program file may include others. The text in a bundle stands alone.
enum class Includes : std::uint8_t { kRead, kRefuse };

// The definition that a text describes. Names and values are not checked yet.
ProgramDefinition read_definition_text(std::string_view toml, std::string name,
                                       const std::filesystem::path& directory, Includes includes);
// Program's constructor. Errors that know no place are those of the text of that name.
Program check_program(ProgramDefinition program, const std::string& name);
// Program::from_text, with a say about includes.
Program read_program_text(std::string_view toml, const std::string& name,
                          const std::filesystem::path& directory, Includes includes);

}  // namespace baton
