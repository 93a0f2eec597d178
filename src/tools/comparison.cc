#include "tools/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/error.h"

namespace baton::tools {
namespace {

std::string format_shape(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace

void check_expected_shapes(const Executable& executable, const Expected& expected) {
  for (const auto& [name, array] : expected.arrays) {
    if (array.shape == executable.shape(name)) continue;
    throw error(ErrorCode::kInvalidInput,
                "--expect {}: the file holds the shape {}, the buffer has {}; compute it for the "
                "same symbols",
                name, format_shape(array.shape), format_shape(executable.shape(name)));
  }
}

std::vector<OutputResult> compare_outputs(const Executable& executable, const Expected& expected) {
  std::vector<OutputResult> results;
  for (const std::string& name : executable.outputs()) {
    OutputResult result{name, &executable.output(name), {}, {}};
    for (std::size_t i = 0; i < expected.arrays.size(); ++i) {
      if (expected.arrays[i].first != name) continue;
      Tolerance tolerance = default_tolerance(result.array->dtype);
      tolerance.rtol = expected.rtol.value_or(tolerance.rtol);
      tolerance.atol = expected.atol.value_or(tolerance.atol);
      result.comparison = compare(*result.array, expected.arrays[i].second, tolerance, name);
      result.expected_file = expected.files[i].second;
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
