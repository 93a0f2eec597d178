#pragma once

#include <string_view>
#include <vector>

namespace baton::tools {

// One row of a table that the library prints codes from.
struct Explanation {
  std::string_view id;       // "shared_race", "no_wait", "limit"
  std::string_view table;    // "finding", "cause of a verdict", "decision about an edge", "error"
  std::string_view detail;   // "error", "unknown", "status 2"
  std::string_view meaning;  // one sentence
  std::string_view page;     // of docs/, such as "simulator.md"
  std::string_view remedy;   // what helps
};

// All rows, by table. An id may be in several tables.
const std::vector<Explanation>& explanations();

// The names of groups of codes: "findings", "errors", "warnings".
std::vector<std::string_view> explained_groups();

// The rows with that id, and those of the group of that name. Throws kNotFound with the nearest.
std::vector<Explanation> explain(std::string_view id);

}  // namespace baton::tools
