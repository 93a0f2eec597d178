#include "tools/measure/bench_result.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/text/json.h"
#include "tools/basics.h"

namespace baton::tools {
namespace {

AccessCounts accesses_of(const StepReport& step) {
  return step.accesses.value_or(AccessCounts());
}

constexpr CountKind kKinds[kCountKinds] = {
    {"instructions", "instructions",
     [](const StepReport& step) { return step.instructions.value_or(0); }},
    {"warp_instructions", "warp instructions",
     [](const StepReport& step) { return step.warp_instructions.value_or(0); }},
    {"bytes", "bytes moved", [](const StepReport& step) { return step.bytes; }},
    {"global_requests", "global requests",
     [](const StepReport& step) { return accesses_of(step).global_requests; }},
    {"global_sectors", "global sectors",
     [](const StepReport& step) { return accesses_of(step).global_sectors; }},
    {"shared_requests", "shared requests",
     [](const StepReport& step) { return accesses_of(step).shared_requests; }},
    {"shared_passes", "shared passes",
     [](const StepReport& step) { return accesses_of(step).shared_passes; }},
    {"shared_conflicts", "bank conflicts",
     [](const StepReport& step) { return accesses_of(step).shared_conflicts; }},
};

const Json& need(const Json& object, std::string_view key, const std::string& where) {
  const Json* found = find_member(require_object(object, where), key);
  if (found == nullptr) {
    throw error(ErrorCode::kInvalidInput,
                "{} has no \"{}\", which baton bench --json writes; measure the baseline again",
                where, key);
  }
  return *found;
}

double number(const Json& value, const std::string& where) {
  if (!value.is_number()) {
    throw error(ErrorCode::kInvalidInput, "{} must be a number", where);
  }
  return value.get<double>();
}

std::optional<StepCounts> counts_from(const Json& value, const std::string& where) {
  if (value.is_null()) return std::nullopt;
  StepCounts counts{};
  for (std::size_t k = 0; k < kCountKinds; ++k) {
    const std::int64_t count = require_integer(need(value, kKinds[k].key, where),
                                               fmt::format("{}.{}", where, kKinds[k].key));
    if (count < 0) {
      throw error(ErrorCode::kInvalidInput, "{}.{} is {}, a count is at least 0", where,
                  kKinds[k].key, count);
    }
    counts[k] = static_cast<std::uint64_t>(count);
  }
  return counts;
}

BenchResult::Step step_from(const Json& value, const std::string& where) {
  BenchResult::Step step;
  step.label = require_string(need(value, "label", where), where + ".label");
  step.where = require_string(need(value, "where", where), where + ".where");
  if (const Json& times = need(value, "times", where); !times.is_null()) {
    step.median = number(need(times, "median", where + ".times"), where + ".times.median");
  }
  step.counts = counts_from(need(value, "counts", where), where + ".counts");
  return step;
}

}  // namespace

std::span<const CountKind, kCountKinds> count_kinds() {
  return kKinds;
}

std::optional<StepCounts> counts_of(const StepReport& step) {
  const bool is_launch = step.kind == StepReport::Kind::kLaunch;
  if (is_launch && step.executions > step.skipped && !step.accesses) return std::nullopt;
  StepCounts counts{};
  for (std::size_t k = 0; k < kCountKinds; ++k) counts[k] = kKinds[k].of(step);
  return counts;
}

std::optional<StepCounts> BenchResult::totals() const {
  StepCounts sum{};
  for (const Step& step : steps) {
    if (!step.counts) return std::nullopt;
    for (std::size_t k = 0; k < kCountKinds; ++k) sum[k] += (*step.counts)[k];
  }
  return sum;
}

BenchResult read_bench_result(const std::filesystem::path& file, std::int64_t version) {
  const std::string where = file.string();
  const Json json = parse_json(read_file(file), where);
  const std::int64_t own = require_integer(need(json, "version", where), where + ": version");
  if (own != version) {
    throw error(ErrorCode::kInvalidInput,
                "--baseline {}: it is of version {} of the results, and version {} is read here; "
                "measure the baseline again",
                where, own, version);
  }
  const std::string& command = require_string(need(json, "command", where), where + ": command");
  if (command != "bench") {
    throw error(ErrorCode::kInvalidInput,
                "--baseline {}: it is of baton {}; give what baton bench --json wrote", where,
                printable(command));
  }
  if (const Json* failure = find_member(json, "error")) {
    const Json* what = failure->is_object() ? find_member(*failure, "what") : nullptr;
    throw error(ErrorCode::kInvalidInput, "--baseline {}: that measurement failed{}{}", where,
                what != nullptr && what->is_string() ? ": " : "",
                what != nullptr && what->is_string() ? printable(what->get<std::string>()) : "");
  }
  BenchResult result;
  result.name = where;
  result.device_name = require_string(need(json, "device_name", where), where + ": device_name");
  result.executor = require_string(need(json, "executor", where), where + ": executor");
  for (const auto& [name, value] : require_object(need(json, "symbols", where), where).items()) {
    result.symbols.emplace_back(name, require_integer(value, where + ": symbols." + name));
  }
  const Json& run = need(json, "run", where);
  const std::string samples = where + ": run.samples";
  for (const Json& value : require_array(need(run, "samples", where + ": run"), samples)) {
    result.samples.push_back(number(value, samples));
  }
  std::size_t k = 0;
  for (const Json& step : require_array(need(json, "steps", where), where + ": steps")) {
    result.steps.push_back(step_from(step, fmt::format("{}: steps[{}]", where, k++)));
  }
  return result;
}

}  // namespace baton::tools
