#pragma once

#include <filesystem>
#include <vector>

#include "tools/draft/draft_kernel.h"

namespace baton::tools {

// The kernels of a file in the order of a draft's steps. Those of a source are in the order of
// their lines, with those of included files first: compilers put templates and static kernels last.
// Those of an image keep its order.
std::vector<const KernelFacts*> kernels_in_order(const KernelFile& file,
                                                 const std::filesystem::path& origin);

}  // namespace baton::tools
