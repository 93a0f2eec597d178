#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace baton::cli {

// The steps of a run, each step of the program once, and the edges between its launches with their
// verdicts, as an SVG element. `result`: the JSON object of a run.
std::string program_picture(const nlohmann::ordered_json& result);

// The timeline of a trace as an SVG element: the bars of launches by slots, of copies and fills,
// and arrows to what started early. Without a trace, the steps one after another by their times.
// Empty where neither is known.
std::string timeline_picture(const nlohmann::ordered_json& result, const std::string& trace);

}  // namespace baton::cli
