#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace baton::cli {

// The result of `baton bench` as pictures: a bar for each step, the distribution of whole runs, and
// each step's time over its bytes below the roof of the measured ceiling, where there is one. SVG,
// or a page where the file's name ends in ".html".
std::string bench_plot(const nlohmann::ordered_json& result, const std::filesystem::path& file);

}  // namespace baton::cli
