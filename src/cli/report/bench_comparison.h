#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/output/output.h"
#include "tools/measure/bench_result.h"
#include "tools/measure/time_change.h"

namespace baton::cli {

// Two measurements compared: by the counts of the simulated GPU where both have them, since its
// times say nothing of a GPU; else by the times of whole runs.
struct BenchComparison {
  enum class Verdict { kSame, kBetter, kWorse, kMixed, kUnknown };

  Verdict verdict = Verdict::kUnknown;
  std::optional<tools::StepCounts> before, after;  // of whole runs, where counts decide
  std::optional<tools::TimeChange> times;
  // The largest growth that is certain, as a share of the earlier value: 0.05 is 5 %.
  double growth = 0;
};

// Throws kInvalidInput where the two cannot be compared: of different devices or executors, or of
// one program with other values of symbols that both have.
BenchComparison compare_benches(const tools::BenchResult& before, const tools::BenchResult& after,
                                bool in_turn);

// A table, the verdict as a line, and "comparison" of the JSON object. Where the later one is
// worse that is a warning.
void show_comparison(const BenchComparison& comparison, const tools::BenchResult& before,
                     const tools::BenchResult& after, Output& output);

// Throws kMismatch where it grew by more than `limit`, in percent, with certainty.
void throw_on_growth(const BenchComparison& comparison, double limit,
                     const tools::BenchResult& before, const tools::BenchResult& after);

}  // namespace baton::cli
