#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton::bundle {

class Index;

// Checks that every reference of an index leads to what it names, and that the sections of a file
// of that size are aligned and apart. Throws kInvalidInput. Returns `skipped` with the unknown
// sections that need not be known.
std::vector<std::string> check(const Index& index, std::uint64_t file_size, const std::string& name,
                               std::vector<std::string> skipped);

// The names of sections, and the beginnings of names, that this version knows.
inline constexpr std::string_view kProgramSection = "program.toml";
inline constexpr std::string_view kRecordSection = "program.record";
inline constexpr std::string_view kImageFolder = "images/";
inline constexpr std::string_view kSourceFolder = "sources/";
inline constexpr std::string_view kFileFolder = "files/";
inline constexpr std::string_view kTunedFolder = "tuned/";

}  // namespace baton::bundle
