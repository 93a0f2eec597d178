#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash/hash.h"

namespace baton::compiler {

// Some editors put it in front of UTF-8 text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// One file that a source includes, directly or through others.
struct IncludedFile {
  std::string name;               // as written, without quotes or brackets
  std::filesystem::path path;     // where it was found; empty: nowhere
  bool is_cuda = false;           // one of CUDA's own, which are not looked into
  bool begins_with_mark = false;  // a byte order mark, which NVRTC does not skip
  Sha256Digest content{};         // of its bytes; zero where it was not found
};

// What including a source brings in, as far as text alone can tell: comments and #if are not
// understood, so it may hold files that the compiler never opens, never the other way round.
struct IncludeScan {
  std::vector<IncludedFile> files;  // in the order met, each path once
  // Of every #include that was met, in that order: which file it found, counted from 0 in the order
  // of their first. With the contents it tells which file every line names.
  std::vector<std::int32_t> found;
  static constexpr std::int32_t kNowhere = -1;
  static constexpr std::int32_t kProvided = -2;  // by Baton
  // Why the compile cannot be told by these contents ("#include of a macro"); empty where it can.
  std::string obstacle;
  bool mentions_pdl = false;        // one of the PDL functions of the CUDA device runtime
  bool mentions_std = false;        // "std::" or "namespace std"
  bool mentions_launch = false;     // "<<<": there is host code
  bool mentions_nvcc = false;       // __NVCC__
  bool opens_std = false;           // "namespace std {" in a file that knows __CUDACC_RTC__
  bool mentions_file_name = false;  // __FILE__, or assert, which uses it
  // The user's files by the names in #include lines: one name may mean several.
  std::map<std::string, std::set<std::filesystem::path>> paths_of;
  // Names of standard headers that the user brings himself.
  std::set<std::string, std::less<>> own_headers;
};

// Follows the #include and __has_include lines of `text`, whose quotes resolve from `directory`,
// through `folders` and then `cuda_folders`. `forced` are headers in front of the text.
// `standard_headers` are the names that Baton provides where the user does not. Never throws for
// what it reads; a closure too large to follow is an obstacle.
IncludeScan scan_includes(std::string_view text, const std::filesystem::path& directory,
                          const std::vector<std::string>& forced,
                          const std::vector<std::filesystem::path>& folders,
                          const std::vector<std::filesystem::path>& cuda_folders,
                          const std::vector<std::string_view>& standard_headers);

}  // namespace baton::compiler
