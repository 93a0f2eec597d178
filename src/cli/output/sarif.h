#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace baton::cli {

// A command's JSON object as a SARIF 2.1.0 log (OASIS, "Static Analysis Results Interchange
// Format"): a result for each finding, each edge that is not proven, each warning, and the error.
// Places below `root`, an absolute folder, are relative to it.
std::string sarif_of(const nlohmann::ordered_json& result, int exit_status,
                     const std::string& root);

}  // namespace baton::cli
