#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace baton::tools {

// Runs NVIDIA's ptxas with these arguments, and keeps the PTX that it was given inside the cubin
// that it wrote (image/kept_ptx.h), where it was given one text and wrote a file. Returns ptxas'
// status. It is the one that BATON_PTXAS names, or is found in the customary places. Throws
// kNotFound where there is none.
int run_ptxas(const std::vector<std::string>& arguments, const std::atomic<bool>& stop);

// Writes a program that is called as ptxas is, and does what run_ptxas does; it calls the ptxas at
// `real`, or, where that is empty, the one that is found then.
void write_ptxas_wrapper(const std::filesystem::path& path, const std::filesystem::path& real);

// Makes a folder that is laid out as a CUDA toolkit: links to `from`, or to the one that is found,
// but for a ptxas that wraps the toolkit's. Returns the toolkit. Throws kNotFound where there is
// none, and kInvalidInput for a folder that is not empty.
std::filesystem::path make_toolkit(const std::filesystem::path& folder,
                                   const std::optional<std::filesystem::path>& from);

}  // namespace baton::tools
