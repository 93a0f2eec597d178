#pragma once

#include <string>
#include <string_view>

namespace baton {

// A program's text with a comment in place of the CUDA source in it: the values of `text` and
// `prelude` of its kernels. Lines keep their numbers. `name` is the text's in messages. Throws
// kInvalidInput for what is not TOML.
std::string without_sources(std::string_view toml, const std::string& name);

}  // namespace baton
