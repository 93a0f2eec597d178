#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/hash/hash.h"

namespace baton::compiler {

// What tells one build of a library from another, as far as the cache goes: its size, its beginning
// and its end. Nothing where it cannot be read. Nothing is loaded.
std::optional<std::string> library_identity(const std::filesystem::path& library);

// Adds that of NVRTC, and of the built-in code beside it, to `hash`. False where they cannot be
// read.
bool add_compiler(Sha256& hash, const std::filesystem::path& nvrtc);

}  // namespace baton::compiler
