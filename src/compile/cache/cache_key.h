#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "compile/request.h"

namespace baton::compiler {

// What a compile depends on, as SHA-256 in hexadecimal: the texts, options and entries as written,
// the contents of what is included, the architecture, the compiler's and CUDA's headers' identity,
// Baton's version. No path is in it, but where the source can see its own (__FILE__, assert) or a
// debugger is to (-G). Nothing, and the reason in `*obstacle`, where the result cannot be told by
// these.
std::optional<std::string> cache_key(const Request& request, std::string* obstacle);

}  // namespace baton::compiler
