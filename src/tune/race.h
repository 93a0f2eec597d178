#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "baton/tune.h"

namespace baton::tuning {

// One run of a variant, which returns its cost.
using Measure = std::function<double()>;

// What a race measures by.
struct RaceRules {
  bool exact = false;  // a cost never changes, so that one run of each says all
  std::chrono::steady_clock::time_point deadline;
  // Of several ranks: whether the deadline has passed for any of them, where it has for this one or
  // not. Called before each round. Empty: one rank.
  std::function<bool(bool here)> any_is_over = {};
  std::function<void(std::uint64_t round)> on_round = {};  // before each; may throw
};

// How one candidate did against the base.
struct RaceLane {
  std::vector<double> costs, base;  // costs[k] and base[k] are of one round
  std::optional<TuneRatio> ratio;   // nothing for too few rounds
};

struct RaceResult {
  std::vector<RaceLane> lanes;        // of the candidates
  std::optional<std::size_t> winner;  // certainly faster than the base, and the fastest of these
  bool out_of_time = false;
};

// Runs the base and the candidates in turns, in random order within each round. After 8 rounds it
// drops candidates that are 10 % behind, then half of the rest after 8, 16 and 32 rounds.
RaceResult race(const Measure& base, const std::vector<Measure>& candidates, const RaceRules& rules,
                std::mt19937_64& random);

// A candidate against two copies of the base, on fresh runs.
struct FinalResult {
  TuneRatio ratio;         // of the candidate to the first copy
  double noise = 0;        // the greatest likely difference of the two copies
  bool accepted = false;   // faster by more than kLeastGain and more than the noise
  bool too_short = false;  // the time ran out before kFewestFinalRounds
};
inline constexpr double kLeastGain = 0.005;
inline constexpr std::uint64_t kFinalRounds = 64, kFewestFinalRounds = 16;
FinalResult face_off(const Measure& base, const Measure& copy, const Measure& candidate,
                     const RaceRules& rules, std::mt19937_64& random);

// The median; 0 of nothing.
double median(std::vector<double> values);

}  // namespace baton::tuning
