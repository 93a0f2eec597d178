#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace baton::cli {

// The result of `baton tune` as a picture: a bar for what each variant cost, beside the untuned
// program. SVG, or a page where the file's name ends in ".html".
std::string tune_plot(const nlohmann::ordered_json& result, const std::filesystem::path& file);

}  // namespace baton::cli
