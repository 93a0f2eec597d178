#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

// "; did you mean \"candidate\"?" where one is near, else "; " and `otherwise`. For the end of a
// message: it never goes on after a question.
std::string suggestion_or(std::string_view name, std::span<const std::string_view> candidates,
                          std::string_view otherwise);
std::string suggestion_or(std::string_view name, const std::vector<std::string>& candidates,
                          std::string_view otherwise);

}  // namespace baton
