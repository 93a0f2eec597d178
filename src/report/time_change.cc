#include "report/time_change.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace baton {
namespace {

constexpr std::size_t kFewest = 6;
constexpr double kTail = 0.025;       // beyond each end of the interval
constexpr double kDeviations = 1.96;  // of a normal distribution, that leave out both tails

// Times of nothing, which a coarse clock gives, still have a ratio.
double logarithm(double seconds) {
  return std::log(std::max(seconds, 1e-12));
}

double median_of(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

// So many of n values may lie outside on each side: the largest k for which no more than kTail of
// all outcomes of n throws of a coin have less than k heads.
std::size_t outside_of(std::size_t n) {
  double probability = std::exp2(-static_cast<double>(n));  // of exactly k heads
  double sum = 0;
  for (std::size_t k = 0; k < n / 2; ++k) {
    sum += probability;
    if (sum > kTail) return k;
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return n / 2;
}

TimeChange change_of(std::vector<double> logs, std::size_t outside) {
  std::sort(logs.begin(), logs.end());
  TimeChange change;
  change.ratio = std::exp(median_of(logs));
  change.low = std::exp(logs[outside]);
  change.high = std::exp(logs[logs.size() - 1 - outside]);
  return change;
}

}  // namespace

std::optional<TimeChange> paired_change(std::span<const double> before,
                                        std::span<const double> after) {
  const std::size_t pairs = std::min(before.size(), after.size());
  if (pairs < kFewest) return std::nullopt;
  std::vector<double> logs;
  for (std::size_t k = 0; k < pairs; ++k) {
    logs.push_back(logarithm(after[k]) - logarithm(before[k]));
  }
  // A thousand throws have probabilities that a double does not hold.
  const double n = static_cast<double>(pairs);
  const std::size_t outside =
      pairs <= 500 ? outside_of(pairs)
                   : static_cast<std::size_t>(n / 2 - kDeviations * std::sqrt(n) / 2);
  TimeChange change = change_of(std::move(logs), outside == 0 ? 0 : outside - 1);
  change.samples = pairs;
  change.paired = true;
  return change;
}

std::optional<TimeChange> unpaired_change(std::span<const double> before,
                                          std::span<const double> after) {
  if (before.size() < kFewest || after.size() < kFewest) return std::nullopt;
  std::vector<double> logs;
  for (const double a : before) {
    for (const double b : after) logs.push_back(logarithm(b) - logarithm(a));
  }
  const auto n = static_cast<double>(before.size());
  const auto m = static_cast<double>(after.size());
  const double outside = n * m / 2 - kDeviations * std::sqrt(n * m * (n + m + 1) / 12);
  TimeChange change =
      change_of(std::move(logs), static_cast<std::size_t>(std::max(outside - 1, 0.0)));
  change.samples = std::min(before.size(), after.size());
  return change;
}

}  // namespace baton
