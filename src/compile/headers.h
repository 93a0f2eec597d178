#pragma once

#include <span>
#include <string_view>

namespace baton::compiler {

// A header that Baton gives to NVRTC from memory: the standard headers that nvcc takes from the
// host compiler (src/compile/headers), and Baton's own for kernel authors (include/baton/device).
struct EmbeddedHeader {
  const char* name;  // as an #include names it
  const char* text;
};

// Written by CMake from the files themselves.
std::span<const EmbeddedHeader> embedded_headers();

// Included in front of every source, and of those that say "std::".
inline constexpr std::string_view kPreludeHeader = "baton_prelude.h";
inline constexpr std::string_view kStdHeader = "baton_std.h";
// Included as well in front of sources that hold host code: what it names, declared.
inline constexpr std::string_view kHostPrefix = "baton_host";  // of all of them
inline constexpr std::string_view kHostHeader = "baton_host.h";
inline constexpr std::string_view kHostStdHeader = "baton_host_std.h";
// Included in front of sources with hidden host code (source/hidden_code.h): declares the function
// that hidden statements call.
inline constexpr std::string_view kHiddenHeader = "baton_hidden.h";
inline constexpr std::string_view kHiddenFunction = "baton_hidden_host_code";
inline constexpr std::string_view kHiddenCall = "::baton_hidden_host_code();";
// Blocks and warps of CUB, in place of <cub/cub.cuh>.
inline constexpr std::string_view kCubHeader = "baton_cub.h";
// Of the names of CUDA's own headers that Baton gives in another form; no header of the user takes
// their place.
inline constexpr std::string_view kCudaPrefixes[] = {"cuda", "cccl/"};

}  // namespace baton::compiler
