#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/draft_kernel.h"

namespace baton::tools {

// N by the extent of buffers: in the draft, and in trials. Each extent has a trial whose value is
// smaller than a block and no multiple of a warp, so that the kernel's own bounds count.
struct Sides {
  std::int64_t draft;
  std::array<std::int64_t, 2> trials;
  std::string_view shape;
  std::string_view box;  // of a tensor map
};
const Sides& sides_of(Extent extent);

// A program file with a step for each kernel. `path` is the kernels' file as the text names it.
std::string draft_text(const KernelFile& file, const std::vector<DraftKernel>& kernels,
                       const std::string& name, const std::filesystem::path& origin,
                       std::int64_t elements, const std::string& path);

}  // namespace baton::tools
