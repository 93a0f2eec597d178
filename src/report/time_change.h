#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace baton {

// How much longer one thing takes than another, as a ratio of times: 1.05 is 5 % longer. The true
// ratio of the medians is between `low` and `high` with a certainty of 95 %, whatever the
// distribution of the times is.
struct TimeChange {
  double ratio = 1, low = 1, high = 1;
  std::uint64_t samples = 0;  // pairs; else the smaller of the two numbers of times
  bool paired = false;

  bool is_slower() const { return low > 1; }
  bool is_faster() const { return high < 1; }
};

// Of times that were taken in turn: after[k] belongs to before[k]. What disturbed both cancels out.
// The interval is that of the sign test. Nothing for less than 6 pairs, which allow none.
std::optional<TimeChange> paired_change(std::span<const double> before,
                                        std::span<const double> after);

// Of times that were taken apart. The interval is that of Mann and Whitney's test, by its normal
// approximation. Nothing where one side has less than 6 times.
std::optional<TimeChange> unpaired_change(std::span<const double> before,
                                          std::span<const double> after);

}  // namespace baton
