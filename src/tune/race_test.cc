#include "tune/race.h"

#include <gtest/gtest.h>

#include <cmath>

namespace baton::tuning::race_test {
namespace {

using Clock = std::chrono::steady_clock;

RaceRules rules_until(std::chrono::seconds budget, bool exact = false) {
  RaceRules rules;
  rules.exact = exact;
  rules.deadline = Clock::now() + budget;
  return rules;
}

// A machine whose clock drifts slowly by a fifth, with runs that differ by a few percent.
class Machine {
 public:
  explicit Machine(std::uint64_t seed) : noise_(seed) {}

  Measure arm(double cost) {
    return [this, cost] {
      const double drift = 1 + 0.2 * std::sin(static_cast<double>(runs_++) / 200);
      return cost * drift * (1 + 0.02 * next());
    };
  }
  std::uint64_t runs() const { return runs_; }

 private:
  // Between 0 and 1, most often near 0: disturbances only slow down.
  double next() {
    const double uniform = static_cast<double>(noise_() >> 11) * 0x1p-53;
    return uniform * uniform;
  }
  std::mt19937_64 noise_;
  std::uint64_t runs_ = 0;
};

TEST(Race, TheFastestOfManyWins) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Machine machine(seed);
    std::vector<Measure> candidates;
    for (const double cost : {1.3, 0.99, 1.0, 0.9, 1.02, 0.97}) {
      candidates.push_back(machine.arm(cost));
    }
    std::mt19937_64 random(seed);
    const RaceResult result =
        race(machine.arm(1), candidates, rules_until(std::chrono::hours(1)), random);
    EXPECT_EQ(result.winner, 3u) << "seed " << seed;
    EXPECT_EQ(result.lanes[0].costs.size(), 8u) << "far behind: it is dropped first";
    EXPECT_FALSE(result.out_of_time);
  }
}

TEST(Race, WorseAndEqualCandidatesDoNotWin) {
  int wins = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Machine machine(seed);
    std::mt19937_64 random(seed);
    const RaceResult worse =
        race(machine.arm(1), {machine.arm(1.05)}, rules_until(std::chrono::hours(1)), random);
    EXPECT_FALSE(worse.winner) << "seed " << seed;
    const RaceResult equal =
        race(machine.arm(1), {machine.arm(1)}, rules_until(std::chrono::hours(1)), random);
    wins += equal.winner ? 1 : 0;
  }
  EXPECT_LE(wins, 10) << "an interval of 95 % is wrong on one side in 2.5 %";
}

TEST(Race, PairsThatRunSideBySideHaveOneSize) {
  Machine machine(1);
  std::mt19937_64 random(1);
  const RaceResult result = race(machine.arm(1), {machine.arm(0.9), machine.arm(2)},
                                 rules_until(std::chrono::hours(1)), random);
  for (const RaceLane& lane : result.lanes) EXPECT_EQ(lane.base.size(), lane.costs.size());
}

TEST(Race, WithoutTimeThereIsNoWinner) {
  Machine machine(1);
  std::mt19937_64 random(1);
  const RaceResult result =
      race(machine.arm(1), {machine.arm(0.5)}, rules_until(std::chrono::seconds(-1)), random);
  EXPECT_TRUE(result.out_of_time);
  EXPECT_FALSE(result.winner);
  EXPECT_FALSE(result.lanes[0].ratio);
  EXPECT_EQ(machine.runs(), 0u);
}

TEST(Race, WithoutCandidatesNothingRuns) {
  Machine machine(1);
  std::mt19937_64 random(1);
  const RaceResult result = race(machine.arm(1), {}, rules_until(std::chrono::hours(1)), random);
  EXPECT_FALSE(result.winner);
  EXPECT_EQ(machine.runs(), 0u);
}

TEST(Race, ExactCostsNeedOneRound) {
  int runs = 0;
  const auto exact = [&](double cost) {
    return Measure([&runs, cost] {
      ++runs;
      return cost;
    });
  };
  std::mt19937_64 random(1);
  const RaceResult result = race(exact(100), {exact(100), exact(99), exact(101)},
                                 rules_until(std::chrono::hours(1), true), random);
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(runs, 4);
  EXPECT_DOUBLE_EQ(result.lanes[1].ratio->ratio, 0.99);
}

TEST(FaceOff, NeverAcceptsWhatIsNotFaster) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Machine machine(seed);
    std::mt19937_64 random(seed);
    const double cost = seed % 2 == 0 ? 1.0 : 0.998;  // nothing, and less than half a percent
    const FinalResult result = face_off(machine.arm(1), machine.arm(1), machine.arm(cost),
                                        rules_until(std::chrono::hours(1)), random);
    EXPECT_FALSE(result.accepted) << "seed " << seed;
    EXPECT_EQ(result.ratio.samples, kFinalRounds);
  }
}

TEST(FaceOff, AcceptsAGainAboveTheNoise) {
  Machine machine(7);
  std::mt19937_64 random(7);
  const FinalResult result = face_off(machine.arm(1), machine.arm(1), machine.arm(0.95),
                                      rules_until(std::chrono::hours(1)), random);
  EXPECT_TRUE(result.accepted);
  EXPECT_NEAR(result.ratio.ratio, 0.95, 0.01);
  EXPECT_LT(result.noise, 0.02);
}

TEST(FaceOff, TwoCopiesThatDifferAreNoise) {
  Machine machine(7);
  std::mt19937_64 random(7);
  const FinalResult result = face_off(machine.arm(1), machine.arm(0.93), machine.arm(0.95),
                                      rules_until(std::chrono::hours(1)), random);
  EXPECT_FALSE(result.accepted);
  EXPECT_GT(result.noise, 0.06);
}

TEST(FaceOff, TooFewRoundsConfirmNothing) {
  Machine machine(7);
  std::mt19937_64 random(7);
  const FinalResult result = face_off(machine.arm(1), machine.arm(1), machine.arm(0.5),
                                      rules_until(std::chrono::seconds(-1)), random);
  EXPECT_TRUE(result.too_short);
  EXPECT_FALSE(result.accepted);
}

TEST(FaceOff, ExactCostsAreComparedAsTheyAre) {
  std::mt19937_64 random(1);
  const Measure base = [] { return 1000.0; };
  const RaceRules rules = rules_until(std::chrono::hours(1), true);
  EXPECT_TRUE(face_off(
                  base, base, [] { return 999.0; }, rules, random)
                  .accepted);
  EXPECT_FALSE(face_off(base, base, base, rules, random).accepted);
}

TEST(Median, OfNothingOneAndMany) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace baton::tuning::race_test
