#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "baton/program.h"
#include "program/reader/table_reader.h"

namespace baton {

// The parts of a program file, as ProgramDefinition takes them: types and keys are checked here,
// names and values by Program's constructor. Relative paths start from `directory`, the file's
// folder.

std::optional<std::string> read_name(const Document& document);

struct IncludedProgram {
  std::filesystem::path path;
  SourceLocation where;  // in the file that includes it
};
std::vector<IncludedProgram> read_includes(const Document& document,
                                           const std::filesystem::path& directory);

// Adds the document's own parts to those of the files that it includes. Its symbols replace those
// of equal names from number `replaceable` on.
void read_parts(const Document& document, const std::filesystem::path& directory,
                std::size_t replaceable, ProgramDefinition& program);

// Messages call the steps by `prefix` and their number: "step 3", and inside a group "step 3.0".
std::vector<ProgramStep> read_steps(const Document& document, const DocumentNode& steps,
                                    const std::string& prefix);

}  // namespace baton
