#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace baton::bench {

// The median of paired differences with its 95 % interval from order statistics, which outliers
// of a busy host do not move (the binomial interval of a median; n ≥ 30).
struct Paired {
  double median = 0, low = 0, high = 0;
};

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

inline Paired paired_difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  std::sort(difference.begin(), difference.end());
  const double n = static_cast<double>(difference.size());
  const auto rank = [&](double z) {
    return static_cast<std::size_t>(std::clamp(n / 2 + z * std::sqrt(n) / 2, 0.0, n - 1));
  };
  return {median(difference), difference[rank(-1.96)], difference[rank(1.96)]};
}

}  // namespace baton::bench
