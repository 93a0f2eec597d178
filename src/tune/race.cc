#include "tune/race.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "report/time_change.h"

namespace baton::tuning {
namespace {

constexpr std::uint64_t kStages[] = {8, 16, 32};
// A candidate that is so far behind after the first stage has no chance.
constexpr double kHopeless = 1.10;

using Clock = std::chrono::steady_clock;

bool is_over(const RaceRules& rules) {
  const bool here = Clock::now() >= rules.deadline;
  return rules.any_is_over ? rules.any_is_over(here) : here;
}

// Fisher and Yates: std::shuffle differs between libraries.
std::vector<std::size_t> random_order(std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t k = count; k > 1; --k) std::swap(order[k - 1], order[random() % k]);
  return order;
}

// One round: each of them once, in random order.
std::vector<double> run_all(const std::vector<const Measure*>& all, std::mt19937_64& random) {
  std::vector<double> costs(all.size());
  for (const std::size_t k : random_order(all.size(), random)) costs[k] = (*all[k])();
  return costs;
}

std::optional<TuneRatio> ratio_of(const std::vector<double>& base, const std::vector<double>& costs,
                                  bool exact) {
  if (exact) {
    if (costs.empty() || base.front() <= 0) return std::nullopt;
    const double ratio = costs.front() / base.front();
    return TuneRatio{ratio, ratio, ratio, 1};
  }
  const auto change = paired_change(base, costs);
  if (!change) return std::nullopt;
  return TuneRatio{change->ratio, change->low, change->high, change->samples};
}

bool is_faster(const std::optional<TuneRatio>& ratio) {
  return ratio && ratio->high < 1;
}

class Race {
 public:
  Race(const Measure& base, const std::vector<Measure>& candidates, const RaceRules& rules,
       std::mt19937_64& random)
      : base_(base), candidates_(candidates), rules_(rules), random_(random) {
    result_.lanes.resize(candidates.size());
    alive_.resize(candidates.size());
    std::iota(alive_.begin(), alive_.end(), std::size_t{0});
  }

  RaceResult run() {
    if (rules_.exact) {
      run_rounds(1);
    } else {
      for (const std::uint64_t stage : kStages) {
        if (alive_.empty() || !run_rounds(stage)) break;
        drop(stage);
      }
    }
    judge();
    return std::move(result_);
  }

 private:
  // Up to so many rounds. False where the time ran out.
  bool run_rounds(std::uint64_t last) {
    for (; rounds_ < last; ++rounds_) {
      if (is_over(rules_)) {
        result_.out_of_time = true;
        return false;
      }
      if (rules_.on_round) rules_.on_round(rounds_);
      std::vector<const Measure*> all = {&base_};
      for (const std::size_t k : alive_) all.push_back(&candidates_[k]);
      const std::vector<double> costs = run_all(all, random_);
      for (std::size_t k = 0; k < alive_.size(); ++k) {
        RaceLane& lane = result_.lanes[alive_[k]];
        lane.base.push_back(costs[0]);
        lane.costs.push_back(costs[k + 1]);
      }
    }
    return true;
  }

  void drop(std::uint64_t stage) {
    std::vector<std::pair<double, std::size_t>> ranked;
    for (const std::size_t k : alive_) {
      const RaceLane& lane = result_.lanes[k];
      const auto ratio = ratio_of(lane.base, lane.costs, false);
      if (ratio && (stage != kStages[0] || ratio->ratio < kHopeless)) {
        ranked.emplace_back(ratio->ratio, k);
      }
    }
    std::sort(ranked.begin(), ranked.end());
    ranked.resize((ranked.size() + 1) / 2);
    alive_.clear();
    for (const auto& [ratio, k] : ranked) {
      // Even the best of them certainly loses.
      const RaceLane& lane = result_.lanes[k];
      if (ratio_of(lane.base, lane.costs, false)->low < 1) alive_.push_back(k);
    }
  }

  void judge() {
    for (std::size_t k = 0; k < result_.lanes.size(); ++k) {
      RaceLane& lane = result_.lanes[k];
      if (lane.costs.empty()) continue;
      lane.ratio = ratio_of(lane.base, lane.costs, rules_.exact);
      if (!is_faster(lane.ratio)) continue;
      // A candidate that was dropped early may look better by chance.
      const bool further =
          !result_.winner || lane.ratio->samples > result_.lanes[*result_.winner].ratio->samples;
      const bool equal =
          result_.winner && lane.ratio->samples == result_.lanes[*result_.winner].ratio->samples;
      if (further || (equal && lane.ratio->ratio < result_.lanes[*result_.winner].ratio->ratio)) {
        result_.winner = k;
      }
    }
  }

  const Measure& base_;
  const std::vector<Measure>& candidates_;
  const RaceRules& rules_;
  std::mt19937_64& random_;
  std::vector<std::size_t> alive_;  // candidates
  std::uint64_t rounds_ = 0;
  RaceResult result_;
};

}  // namespace

RaceResult race(const Measure& base, const std::vector<Measure>& candidates, const RaceRules& rules,
                std::mt19937_64& random) {
  return Race(base, candidates, rules, random).run();
}

FinalResult face_off(const Measure& base, const Measure& copy, const Measure& candidate,
                     const RaceRules& rules, std::mt19937_64& random) {
  std::vector<double> costs[3];
  const std::uint64_t rounds = rules.exact ? 1 : kFinalRounds;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (round > 0 && is_over(rules)) break;
    if (rules.on_round) rules.on_round(round);
    const std::vector<double> now = run_all({&base, &copy, &candidate}, random);
    for (std::size_t k = 0; k < now.size(); ++k) costs[k].push_back(now[k]);
  }
  FinalResult result;
  const auto ratio = ratio_of(costs[0], costs[2], rules.exact);
  const auto same = ratio_of(costs[0], costs[1], rules.exact);
  result.too_short = !rules.exact && costs[0].size() < kFewestFinalRounds;
  if (!ratio || !same) return result;
  result.ratio = *ratio;
  result.noise = std::max(same->high - 1, 1 - same->low);
  const double least = rules.exact ? 0 : std::max(kLeastGain, result.noise);
  result.accepted = !result.too_short && ratio->high < 1 - least;
  return result;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace baton::tuning
