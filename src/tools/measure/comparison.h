#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "baton/executable.h"
#include "tools/file/program_arrays.h"

namespace baton::tools {

// What a buffer should hold after a run.
struct ExpectedArray {
  std::string name;
  std::string file;
  Array array;
  bool of_program = false;  // the program file names it, and not --expect
};

// What a run is compared with, and the tolerances that are not the default of a buffer's dtype.
struct Expected {
  std::vector<ExpectedArray> arrays;
  std::optional<double> rtol;
  std::optional<double> atol;
};

// One buffer after a run, and what it was compared with.
struct OutputResult {
  std::string name;
  const Array* array = nullptr;  // owned by the executable
  std::string expected_file;     // empty where nothing was expected
  std::optional<Comparison> comparison;
  std::int64_t non_finite = 0;  // the elements that are NaN or infinite
};

// What --expect gives: files of buffers, and folders with a file NAME.npy for some outputs.
struct ExpectedFiles {
  std::vector<Assignment> files;
  std::vector<std::filesystem::path> folders;
};

// Reads the files, and those that the program expects of its other outputs. The files of buffers go
// before those of folders, and these before those of the program. Throws kNotFound, also for a
// folder without a file of an output, or kInvalidInput.
std::vector<ExpectedArray> read_expected(const Program& program, const ExpectedFiles& given,
                                         bool with_program);

// Throws kInvalidInput where the shape of a file of --expect differs from that of its bound buffer.
// Takes such files of the program out, and adds a remark about each: they are for other values of
// its symbols.
void check_expected_shapes(const Executable& executable, Expected& expected,
                           std::vector<std::string>& remarks);

// The outputs of a run, and more buffers that it kept (RunOptions::results), each compared where
// something is expected of it.
std::vector<OutputResult> compare_outputs(const Executable& executable,
                                          const std::vector<std::string>& more,
                                          const Expected& expected);

// Throws kMismatch for the first output that differs.
void throw_on_mismatch(const std::vector<OutputResult>& results);

}  // namespace baton::tools
