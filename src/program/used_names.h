#pragma once

#include <set>
#include <string>
#include <vector>

#include "baton/program.h"

namespace baton {

// The names that a program's steps and buffers use, noted while they are checked.
struct UsedNames {
  std::set<std::string, std::less<>> names;    // of symbols, buffers and indexes
  std::set<std::string, std::less<>> kernels;  // launched, or with a variable that is a buffer
};

// One warning for each kernel, buffer and symbol that nothing uses: "p.toml:3:1: the symbol N is
// never used".
std::vector<std::string> warnings_about(const ProgramDefinition& program, const UsedNames& used);

}  // namespace baton
