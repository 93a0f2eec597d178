#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/source_lines.h"

namespace baton::cli {

// A run as one page of HTML, which loads nothing and runs no script: the program as a picture of
// steps and edges, tables of steps and outputs, the timeline, and findings with their source.
// `result`: the JSON object of the run, with its "error" where it failed. `trace`: the timeline in
// the Trace Event Format; may be empty.
std::string run_page(const nlohmann::ordered_json& result, const std::string& trace,
                     tools::SourceLines& sources);

}  // namespace baton::cli
