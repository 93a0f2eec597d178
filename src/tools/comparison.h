#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baton/executable.h"
#include "tools/program_arrays.h"

namespace baton::tools {

// What --expect gives: the files as named, what they hold, in the same order, and the tolerances
// that are not the default of a buffer's dtype.
struct Expected {
  std::vector<Assignment> files;
  NamedArrays arrays;
  std::optional<double> rtol;
  std::optional<double> atol;
};

// One output or inout buffer after a run, and what it was compared with.
struct OutputResult {
  std::string name;
  const Array* array = nullptr;  // owned by the executable
  std::string expected_file;     // empty where nothing was expected
  std::optional<Comparison> comparison;
};

// Throws kInvalidInput where a file's shape differs from that of its bound buffer.
void check_expected_shapes(const Executable& executable, const Expected& expected);

// All outputs of a run, each compared where something is expected of it.
std::vector<OutputResult> compare_outputs(const Executable& executable, const Expected& expected);

// Throws kMismatch for the first output that differs.
void throw_on_mismatch(const std::vector<OutputResult>& results);

}  // namespace baton::tools
