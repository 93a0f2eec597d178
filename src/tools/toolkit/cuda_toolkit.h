#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace baton::tools {

// The folders that PATH names.
std::vector<std::filesystem::path> program_folders();

// The folders where a CUDA toolkit may be, the preferred first: CUDA_HOME, CUDA_PATH, those whose
// nvcc is on PATH, /usr/local/cuda.
std::vector<std::filesystem::path> toolkit_folders();

// The line by which a ptxas that Baton wrote is recognised: it must not call itself.
inline constexpr std::string_view kPtxasWrapperMark = "# Baton's ptxas";

// Whether a file is there that is not such a wrapper.
bool is_real_program(const std::filesystem::path& path);

// The toolkit at `from`, or the first one that is found. Distributions put scripts on PATH that
// call the nvcc of a toolkit elsewhere; `from` may name a folder of these. Throws kNotFound where
// there is none.
std::filesystem::path find_toolkit(const std::optional<std::filesystem::path>& from);

}  // namespace baton::tools
