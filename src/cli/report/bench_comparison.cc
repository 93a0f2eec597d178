#include "cli/report/bench_comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/output/counted.h"
#include "cli/output/format.h"
#include "cli/output/or_null.h"
#include "cli/output/table.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

using tools::BenchResult;
using tools::count_kinds;
using tools::kCountKinds;
using tools::StepCounts;
using Json = nlohmann::ordered_json;
using Verdict = BenchComparison::Verdict;

struct ComparisonRow {
  std::string_view key;   // in JSON
  std::string_view text;  // of "B is …" and the like
  Style style;
};
ComparisonRow row_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSame:
      return {"same", "the same", Style::kGood};
    case Verdict::kBetter:
      return {"better", "better", Style::kGood};
    case Verdict::kWorse:
      return {"worse", "worse", Style::kBad};
    case Verdict::kMixed:
      return {"mixed", "better and worse", Style::kWarning};
    case Verdict::kUnknown:
      return {"unknown", "unknown", Style::kWarning};
  }
  return {};
}

Verdict verdict_of(bool any_worse, bool any_better) {
  if (any_worse) return any_better ? Verdict::kMixed : Verdict::kWorse;
  return any_better ? Verdict::kBetter : Verdict::kSame;
}

double growth_of(std::uint64_t before, std::uint64_t after) {
  if (after <= before) return 0;
  // Out of nothing it grows without a limit.
  if (before == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(after - before) / static_cast<double>(before);
}

// "+3.1 %", "-12 %", "32 times", "=".
std::string change_text(std::uint64_t before, std::uint64_t after) {
  if (before == after) return "=";
  if (before == 0) return "new";
  const double ratio = static_cast<double>(after) / static_cast<double>(before);
  if (ratio >= 10) return fmt::format("{:.3g} times", ratio);
  return fmt::format("{:+.3g} %", 100 * (ratio - 1));
}

std::string percent(double ratio) {
  return fmt::format("{:.1f} % {}", 100 * std::abs(ratio - 1), ratio < 1 ? "less" : "more");
}

// Whether the steps of the two are the same ones, so that they can be compared one by one.
bool have_equal_steps(const BenchResult& before, const BenchResult& after) {
  return std::equal(
      before.steps.begin(), before.steps.end(), after.steps.begin(), after.steps.end(),
      [](const BenchResult::Step& a, const BenchResult::Step& b) { return a.label == b.label; });
}

void add_count_rows(Table& table, const std::string& name, const StepCounts& before,
                    const StepCounts& after, bool all) {
  bool first = true;
  for (std::size_t k = 0; k < kCountKinds; ++k) {
    const bool is_shown = all ? before[k] != 0 || after[k] != 0 : before[k] != after[k];
    if (!is_shown) continue;
    table.add({first ? name : "", std::string(count_kinds()[k].title), format_count(before[k]),
               format_count(after[k]), change_text(before[k], after[k])});
    first = false;
  }
}

void show_counts(const BenchComparison& comparison, const BenchResult& before,
                 const BenchResult& after, Output& output) {
  using enum Table::Align;
  Table table({{"step"}, {"count"}, {"before", kRight}, {"after", kRight}, {"change", kRight}});
  add_count_rows(table, "the whole run", *comparison.before, *comparison.after, true);
  const bool equal_steps = have_equal_steps(before, after);
  std::uint64_t equal = 0;
  for (std::size_t k = 0; equal_steps && after.steps.size() > 1 && k < after.steps.size(); ++k) {
    const StepCounts& old = *before.steps[k].counts;
    const StepCounts& now = *after.steps[k].counts;
    equal += old == now ? 1 : 0;
    add_count_rows(table, after.steps[k].label, old, now, false);
  }
  output.text("\n" + table.format(output.terminal()));
  if (!equal_steps) {
    output.line("the two have different steps, so only whole runs are compared");
  } else if (equal > 0 && comparison.verdict != Verdict::kSame) {
    output.line("{} with the same counts", counted(equal, "other step"));
  }
}

void show_times(const BenchResult& before, const BenchResult& after, Output& output) {
  using enum Table::Align;
  Table table({{"step"}, {"before", kRight}, {"after", kRight}, {"change", kRight}});
  const auto add = [&](const std::string& name, double old, double now) {
    table.add({name, format_duration(old), format_duration(now),
               old > 0 ? fmt::format("{:+.1f} %", 100 * (now / old - 1)) : ""});
  };
  if (have_equal_steps(before, after)) {
    for (std::size_t k = 0; k < after.steps.size(); ++k) {
      const auto& old = before.steps[k].median;
      const auto& now = after.steps[k].median;
      if (old && now) add(after.steps[k].label, *old, *now);
    }
  }
  const auto old = time_statistics(before.samples);
  const auto now = time_statistics(after.samples);
  if (old && now) add("the whole run", old->median, now->median);
  output.text("\n" + table.format(output.terminal()));
}

std::string verdict_text(const BenchComparison& comparison) {
  const std::string text(row_of(comparison.verdict).text);
  if (comparison.before) {
    return text + " (exact counts of the simulated GPU)";
  }
  if (!comparison.times) return text + ": too few runs; 6 of each are the least";
  const tools::TimeChange& times = *comparison.times;
  const std::string interval =
      fmt::format("{} time; {} to {} at 95 %, {}", percent(times.ratio), percent(times.low),
                  percent(times.high),
                  times.paired ? counted(times.samples, "pair of runs", "pairs of runs")
                               : fmt::format("{} taken apart", counted(times.samples, "run")));
  if (comparison.verdict == Verdict::kSame) return "no difference found: " + interval;
  return fmt::format("{}: {}", text, interval);
}

Json counts_json(const std::optional<StepCounts>& counts) {
  if (!counts) return nullptr;
  Json json = Json::object();
  for (std::size_t k = 0; k < kCountKinds; ++k)
    json[std::string(count_kinds()[k].key)] = (*counts)[k];
  return json;
}

Json json_of(const BenchComparison& comparison, const BenchResult& before,
             const BenchResult& after) {
  Json json = {{"before", before.name},
               {"after", after.name},
               {"verdict", row_of(comparison.verdict).key},
               {"growth", std::isinf(comparison.growth) ? Json("inf") : Json(comparison.growth)},
               {"times", nullptr},
               {"counts", nullptr}};
  if (const auto& times = comparison.times) {
    json["times"] = {{"ratio", times->ratio},
                     {"low", times->low},
                     {"high", times->high},
                     {"samples", times->samples},
                     {"paired", times->paired}};
  }
  if (comparison.before) {
    json["counts"] = {{"before", counts_json(comparison.before)},
                      {"after", counts_json(comparison.after)}};
  }
  return json;
}

}  // namespace

BenchComparison compare_benches(const BenchResult& before, const BenchResult& after, bool in_turn) {
  const auto require_equal = [&](std::string_view what, const std::string& old,
                                 const std::string& now) {
    if (old == now) return;
    throw error(ErrorCode::kInvalidInput,
                "{} was measured with the {} {}, {} with {}; measure both alike", before.name, what,
                printable(old), after.name, now);
  };
  require_equal("device", before.device_name, after.device_name);
  require_equal("executor", before.executor, after.executor);
  for (const auto& [name, value] : after.symbols) {
    for (const auto& [other, old] : before.symbols) {
      if (name != other || value == old) continue;
      const bool is_of_world = name == "ranks" || name.ends_with("_ranks");
      throw error(ErrorCode::kInvalidInput, "{} was measured with {} = {}, {} with {} = {}; {}",
                  before.name, name, old, after.name, name, value,
                  is_of_world ? "start as many ranks, by --devices or mpirun"
                              : fmt::format("give --set {}={}", name, old));
    }
  }
  BenchComparison comparison;
  comparison.before = before.totals();
  comparison.after = after.totals();
  if (comparison.before && comparison.after) {
    bool worse = false, better = false;
    for (std::size_t k = 0; k < kCountKinds; ++k) {
      const std::uint64_t old = (*comparison.before)[k], now = (*comparison.after)[k];
      worse = worse || now > old;
      better = better || now < old;
      comparison.growth = std::max(comparison.growth, growth_of(old, now));
    }
    comparison.verdict = verdict_of(worse, better);
    return comparison;
  }
  comparison.before.reset();
  comparison.after.reset();
  comparison.times = in_turn ? tools::paired_change(before.samples, after.samples)
                             : tools::unpaired_change(before.samples, after.samples);
  if (!comparison.times) return comparison;
  comparison.verdict = verdict_of(comparison.times->is_slower(), comparison.times->is_faster());
  comparison.growth = std::max(comparison.times->low - 1, 0.0);
  return comparison;
}

void show_comparison(const BenchComparison& comparison, const BenchResult& before,
                     const BenchResult& after, Output& output) {
  output.result()["comparison"] = json_of(comparison, before, after);
  output.line("\nbefore   {}\nafter    {}", before.name, after.name);
  if (comparison.before) {
    show_counts(comparison, before, after, output);
  } else {
    show_times(before, after, output);
  }
  const ComparisonRow row = row_of(comparison.verdict);
  output.line("\nverdict  {}", styled(verdict_text(comparison), row.style, output.colour()));
  if (comparison.verdict == Verdict::kWorse || comparison.verdict == Verdict::kMixed) {
    output.warning(fmt::format("{} is {} than {}", after.name,
                               comparison.verdict == Verdict::kWorse ? "worse" : "partly worse",
                               before.name));
  }
}

void throw_on_growth(const BenchComparison& comparison, double limit, const BenchResult& before,
                     const BenchResult& after) {
  if (comparison.growth * 100 <= limit) return;
  if (comparison.times) {
    throw error(ErrorCode::kMismatch,
                "{} takes at least {:.1f} % more time than {}, and --limit allows {:g} %",
                after.name, comparison.growth * 100, before.name, limit);
  }
  std::string what;
  double growth = -1;
  for (std::size_t k = 0; comparison.before && k < kCountKinds; ++k) {
    const std::uint64_t old = (*comparison.before)[k], now = (*comparison.after)[k];
    if (growth_of(old, now) <= growth) continue;
    growth = growth_of(old, now);
    what =
        fmt::format("{} {} for {} ({})", now, count_kinds()[k].title, old, change_text(old, now));
  }
  throw error(ErrorCode::kMismatch, "{} has {} of {}, and --limit allows {:g} % more", after.name,
              what, before.name, limit);
}

}  // namespace baton::cli
