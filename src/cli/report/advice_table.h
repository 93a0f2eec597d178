#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baton/edge.h"
#include "cli/output/output.h"

namespace baton::cli {

// An edge, as the tables beside this one name it, and one piece of advice about it.
struct AdviceRow {
  std::string edge;
  EdgeAdvice advice;
};

// A table of what may save most, of all edges. Shows nothing where there are no rows. `all`: not
// only the first rows.
void show_advice(std::vector<AdviceRow> rows, bool all, Output& output);

nlohmann::ordered_json json_of(const std::vector<EdgeAdvice>& advice);

}  // namespace baton::cli
