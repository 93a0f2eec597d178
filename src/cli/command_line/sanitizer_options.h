#pragma once

#include <string_view>

namespace baton::cli {

// What to do in the place of an option that compute-sanitizer has and `baton exec` has not; empty
// for other options.
std::string_view sanitizer_advice(std::string_view option);

}  // namespace baton::cli
