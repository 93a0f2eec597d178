#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/draft/draft_kernel.h"

namespace baton::tools {

// The size along one axis by the extent of buffers: in the draft, the first with which a trial ends
// in time; and in trials. Trials of a line and of a square have 100 elements, which index kernels
// need, as random integers go to 99. It is smaller than a block and no multiple of a warp, so that
// the kernel's own bounds count. Their other number is larger than a block, so that the number of
// blocks counts. The small number is for a first look, which is quick whatever the kernel does.
struct Sides {
  std::vector<std::int64_t> draft;
  std::vector<std::int64_t> trials;
  std::int64_t small = 0;
  int axes = 1;
  std::string_view box;  // of a tensor map
};
const Sides& sides_of(Extent extent);

// A program file with a step for each kernel. `path` is the kernels' file as the text names it.
std::string draft_text(const KernelFile& file, const std::vector<DraftKernel>& kernels,
                       const std::string& name, const std::filesystem::path& origin,
                       std::int64_t elements, const std::string& path);

}  // namespace baton::tools
