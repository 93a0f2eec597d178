#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace baton::cli {

// The options of compute-sanitizer that `baton exec` does not have as its own. Some ask for what
// every run does, so they are taken and change nothing. The others are refused with what to write
// in their place. docs/from-compute-sanitizer.md has a row for each.

// How many words the option is, with its value: 1 or 2. 0: it is not such an option. `next` is the
// word behind it; empty where there is none.
std::size_t sanitizer_words(std::string_view word, std::string_view next);

// Leaves out the options that ask for what every run does. Throws kInvalidInput for the others,
// with the option, its value and the advice.
std::vector<std::string> without_sanitizer_options(const std::vector<std::string>& words);

}  // namespace baton::cli
