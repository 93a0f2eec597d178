#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/report.h"

namespace baton::tools {

// What a launch did, by the simulated GPU's counters. Fewer is better.
struct CountKind {
  std::string_view key;    // in JSON: "global_sectors"
  std::string_view title;  // in tables: "global sectors"
  std::uint64_t (*of)(const StepReport& step);
};
inline constexpr std::size_t kCountKinds = 8;
std::span<const CountKind, kCountKinds> count_kinds();

// One number for each kind, in their order.
using StepCounts = std::array<std::uint64_t, kCountKinds>;
// Those of a step; nothing where the device counted none.
std::optional<StepCounts> counts_of(const StepReport& step);

// What was measured of a program: now, or once, as `bench --json` wrote it.
struct BenchResult {
  struct Step {
    std::string label, where;
    std::optional<double> median;  // seconds, of all its executions in a run
    std::optional<StepCounts> counts;
  };

  std::string name;  // for people: the file's
  std::string device_name;
  std::string executor;
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  std::vector<double> samples;  // seconds of whole runs, in their order
  std::vector<Step> steps;

  // The sums over all steps; nothing where a launch was not counted.
  std::optional<StepCounts> totals() const;
};

// Reads what `bench --json` wrote. Throws kNotFound, and kInvalidInput for a file that is not such
// a object, naming the key; for one of a failed or of another command, and for one without the
// times of runs, which older versions wrote.
BenchResult read_bench_result(const std::filesystem::path& file);

}  // namespace baton::tools
