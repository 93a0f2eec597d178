#include "tools/measure/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/array/non_finite.h"
#include "base/array/npy.h"
#include "base/error.h"
#include "base/text/text.h"
#include "program/buffer_roles.h"

namespace baton::tools {
namespace {

std::string format_shape(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace

std::vector<ExpectedArray> read_expected(const Program& program, const ExpectedFiles& given,
                                         bool with_program) {
  std::vector<ExpectedArray> expected;
  const auto is_known = [&](const std::string& name) {
    return std::ranges::find(expected, name, &ExpectedArray::name) != expected.end();
  };
  for (const auto& [name, file] : given.files) {
    const ProgramBuffer& buffer = named_buffer(program, "--expect", name, Serves::kAll);
    expected.push_back({name, file, read_npy(file, buffer.dtype)});
  }
  for (const std::filesystem::path& folder : given.folders) {
    bool found = false;
    for (const ProgramBuffer& buffer : program.buffers()) {
      const std::filesystem::path file = folder / (buffer.name + ".npy");
      if (!facts_of(buffer.role).is_result || !std::filesystem::exists(file)) continue;
      found = true;
      if (is_known(buffer.name)) continue;
      expected.push_back({buffer.name, file.string(), read_npy(file, buffer.dtype)});
    }
    if (!found) {
      throw error(ErrorCode::kNotFound,
                  "--expect {}: the folder has no file NAME.npy of an output of {}",
                  folder.string(), printable(program.name()));
    }
  }
  for (const ProgramBuffer& buffer : program.buffers()) {
    if (!with_program || buffer.expect.empty() || is_known(buffer.name)) continue;
    try {
      expected.push_back(
          {buffer.name, buffer.expect.string(), read_npy(buffer.expect, buffer.dtype), true});
    } catch (Error& failure) {
      failure.at(buffer.where);
      throw;
    }
  }
  return expected;
}

void check_expected_shapes(const Executable& executable, Expected& expected,
                           std::vector<std::string>& remarks) {
  std::erase_if(expected.arrays, [&](const ExpectedArray& wanted) {
    const std::vector<std::int64_t> shape = executable.whole_shape(wanted.name);
    if (wanted.array.shape == shape) return false;
    if (wanted.of_program) {
      remarks.push_back(fmt::format(
          "{} is not compared: {} holds the shape {}, the buffer has {} for these symbols",
          wanted.name, wanted.file, format_shape(wanted.array.shape), format_shape(shape)));
      return true;
    }
    throw error(ErrorCode::kInvalidInput,
                "--expect {}: the file holds the shape {}, the buffer has {}; compute it for the "
                "same symbols",
                wanted.name, format_shape(wanted.array.shape), format_shape(shape));
  });
}

std::vector<OutputResult> compare_outputs(const Executable& executable,
                                          const std::vector<std::string>& more,
                                          const Expected& expected) {
  std::vector<OutputResult> results;
  std::vector<std::string> names = executable.outputs();
  names.insert(names.end(), more.begin(), more.end());
  for (const std::string& name : names) {
    const Array& array = executable.output(name);
    OutputResult result{name, &array, {}, {}, count_non_finite(array)};
    for (const ExpectedArray& wanted : expected.arrays) {
      if (wanted.name != name) continue;
      Tolerance tolerance = default_tolerance(result.array->dtype);
      tolerance.rtol = expected.rtol.value_or(tolerance.rtol);
      tolerance.atol = expected.atol.value_or(tolerance.atol);
      result.comparison = compare(*result.array, wanted.array, tolerance, name);
      result.expected_file = wanted.file;
    }
    results.push_back(std::move(result));
  }
  return results;
}

void throw_on_mismatch(const std::vector<OutputResult>& results) {
  for (const OutputResult& result : results) {
    if (!result.comparison || result.comparison->ok) continue;
    const Comparison& comparison = *result.comparison;
    const std::string tolerance =
        is_float(result.array->dtype)
            ? fmt::format(" (rtol {:g}, atol {:g})", comparison.tolerance.rtol,
                          comparison.tolerance.atol)
            : "";
    throw error(
        ErrorCode::kMismatch,
        "output \"{}\" differs from {} in {} of {} elements{}, worst at {}: got {}, want {}",
        result.name, result.expected_file, comparison.mismatches, comparison.elements, tolerance,
        format_shape(comparison.worst_index), comparison.got_text, comparison.want_text);
  }
}

}  // namespace baton::tools
