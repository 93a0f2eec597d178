#pragma once

#include <filesystem>
#include <vector>

#include "baton/program.h"

namespace baton {

// The files that a program names: its own, those that it includes, and those of its kernels and
// buffers. The headers of sources and the shards of a model's index are not among them.
std::vector<std::filesystem::path> input_files(const Program& program);

}  // namespace baton
