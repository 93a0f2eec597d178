#pragma once

#include <optional>
#include <string>

#include "baton/tune.h"
#include "cli/output/output.h"

namespace baton::cli {

// The record that a run or a measurement uses: a line, and "tuned" and "executor" of the JSON
// object. Nothing is said of no record.
void show_tuned(const std::optional<TuneRecord>& record, Output& output);

// "1.24 ms", or a count of warp instructions.
std::string tune_cost_text(double cost, bool is_time);

// What a search tried and found: a table and the result, and the JSON object.
void show_search(const TuneReport& report, Output& output);

}  // namespace baton::cli
