#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "baton/error.h"
#include "baton/finding.h"

namespace baton::tools {

// One `[[suppress]]` table of a file of suppressions: findings that are known and do not count. A
// finding matches if it has all that the table names.
struct Suppression {
  SourceLocation place;              // of the table
  std::string kind;                  // "uninitialized"; empty: any
  std::optional<std::regex> kernel;  // searched in the name, as written and as the image has it
  std::optional<std::regex> where;   // searched in the place
  std::optional<std::regex> message;
  std::string reason;
  std::size_t matches = 0;  // findings that it took
};

// Reads a file of suppressions (docs/exec.md). Throws kInvalidInput with the place of what is wrong
// in it: a key or a kind that does not exist, a bad regular expression, a table that names nothing;
// and the errors of reading a file.
std::vector<Suppression> read_suppressions(const std::filesystem::path& file);

// The first suppression that the finding matches, or null.
Suppression* find_suppression(std::vector<Suppression>& all, const FindingReport& finding);

}  // namespace baton::tools
