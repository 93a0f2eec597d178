#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compile/result.h"

namespace baton::compiler {

// One file of the compile cache. All numbers are little-endian:
//   8 bytes  "BATONCMP"
//   u32      format version (2)
//   u32      bytes of the summary
//   u64      bytes of the body
//   u64      XXH3-64 of everything after this field
//   64 bytes the key, in hexadecimal
//   summary  name, arch, compiler, seconds (as text), count of entries, entries; texts and entries
//            that would not fit are cut, and a last entry says how many are left out
//   body     count of symbols, expression and symbol of each; count of kernels, and of each its
//            symbol, five u32 and a double in the order of CompiledKernel; log, PTX, cubin;
//            count of line_files, name and mark of each
// Strings are a u64 length and their bytes, counts a u64.
inline constexpr std::string_view kCacheMagic = "BATONCMP";
inline constexpr std::uint32_t kCacheFormat = 2;
// The header and the summary together are not larger: a listing reads this much of a file at most.
inline constexpr std::size_t kMaxSummary = std::size_t{64} << 10;

std::string write_entry(const Result& result, std::string_view key);

// The whole entry, or nothing and the reason in `*damage`: cut, changed, of another key or format.
std::optional<Result> read_entry(std::string_view bytes, std::string_view key, std::string* damage);

// Whether it is of an older format, which is not read any more.
bool is_outdated(std::string_view bytes);

// The summary alone, from the beginning of a file; unchecked but for its bounds.
std::optional<Result> read_summary(std::string_view beginning);

}  // namespace baton::compiler
