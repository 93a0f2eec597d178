#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace baton::bench {

// Samples of every arm, by arm: they take turns, the first of a round another one each time, so
// that what drifts drifts for all of them. A round before the first one warms up and does not
// count.
inline std::vector<std::vector<double>> take_turns(
    std::size_t arms, int rounds, const std::function<double(std::size_t)>& sample) {
  std::vector<std::vector<double>> samples(arms);
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t i = 0; i < arms; ++i) {
      const std::size_t arm = (i + static_cast<std::size_t>(round + 1)) % arms;
      const double taken = sample(arm);
      if (round >= 0) samples[arm].push_back(taken);
    }
  }
  return samples;
}

}  // namespace baton::bench
