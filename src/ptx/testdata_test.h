#pragma once

// For this room's tests: the corpus of what nvcc and NVRTC emit.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "baton/error.h"
#include "ptx/ast.h"

namespace baton::ptx {

inline std::filesystem::path testdata() {
  return std::filesystem::path(BATON_SOURCE_DIR) / "src/ptx/testdata";
}

// The paths of all modules of the corpus, compiled ones (ptx/) and written ones (hand/), sorted.
inline std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> result;
  for (const char* folder : {"ptx", "hand"}) {
    for (const auto& entry : std::filesystem::directory_iterator(testdata() / folder)) {
      if (entry.path().extension() == ".ptx") result.push_back(entry.path());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline constexpr std::string_view kHeader = ".version 9.0\n.target sm_90\n.address_size 64\n";

// A module of one kernel "k" whose body is given; the body begins on line 6.
inline std::string kernel(std::string_view body) {
  return std::string(kHeader) + ".visible .entry k()\n{\n" + std::string(body) + "\n}\n";
}

inline std::shared_ptr<const ParsedModule> parse(std::string text) {
  return ParsedModule::parse(std::move(text), "test.ptx");
}

// Parses all bodies too.
inline void parse_all(const ParsedModule& module) {
  for (const TopLevel& item : module.items()) {
    if (const auto* function = std::get_if<Function>(&item)) function->body();
  }
}

}  // namespace baton::ptx
