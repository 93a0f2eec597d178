#pragma once

#include <filesystem>

#include "compile/nvrtc/toolkit.h"

namespace baton::compiler {

// Where no complete set of CUDA's headers was found, and NVRTC has its own inside (13.3 and later):
// has them written into a folder of `cache`, once for each build of NVRTC, and puts that folder
// before those of the toolkit. cuda.h is not among them. A failure is logged, and leaves the
// toolkit without headers. Processes and threads may do this at the same time.
void add_bundled_headers(Toolkit& toolkit, const std::filesystem::path& cache);

// The same with the compile cache's folder. Without a cache there is no place for headers.
void add_bundled_headers(Toolkit& toolkit);

}  // namespace baton::compiler
