#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace baton::cli {

// A command's JSON object as JUnit XML, in the form that Jenkins, GitLab and GitHub's actions read:
// a test case for each finding and each edge. Errors are failures; a command that could not answer
// is an error. Without any there is one test case, which passes.
std::string junit_of(const nlohmann::ordered_json& result, int exit_status);

}  // namespace baton::cli
