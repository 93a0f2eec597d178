#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "baton/tune.h"
#include "tune/arm.h"
#include "tune/candidates.h"
#include "tune/race.h"
#include "tune/ranks.h"
#include "tune/subject.h"

namespace baton::tuning {

// One search for a faster variant of a program. Use it once.
class Search {
 public:
  // The subject and the options must outlive it.
  Search(const Subject& subject, const TuneOptions& options, CostKind cost);

  // Fills all of a report but for the record's identity and file.
  TuneReport run();

 private:
  using Results = std::map<std::string, Array>;

  std::unique_ptr<Arm> arm(const TuneVariant& variant) const;
  // The same, checked against the results of the untuned program. Null where it is refused, with
  // the reason in the trial.
  std::unique_ptr<Arm> candidate(const TuneVariant& variant, TuneTrial& trial) const;
  void check_base();
  // Of the best variant so far. Ranks may differ in them, and must make the same passes.
  void note_early_launches();
  // Returns whether a variant of the pass became the best one.
  bool try_pass(const MakePass& make_pass);
  void search();
  void conclude();

  RaceRules rules(const std::string& what, double until) const;
  void report_progress(const std::string& what) const;
  double seconds() const;
  // Whether so much of the budget is used, on any rank.
  bool is_used(double share) const;
  // A run of an arm, on all ranks at once. Returns what it costs the slowest of them.
  double measure(Arm& arm) const;
  // As Freedom::executors. None where the caller names one.
  std::vector<CollectiveExecutor> executors() const;

  const Subject& subject_;
  const TuneOptions& options_;
  const CostKind cost_;
  const bool exact_;
  const SearchRanks ranks_;
  const std::chrono::steady_clock::time_point start_;
  const RunOptions limits_;
  std::mt19937_64 random_{19};  // fixed: equal measurements give equal searches
  TuneVariant untuned_;
  TuneVariant best_;
  Results wanted_;
  std::unique_ptr<Arm> base_;      // the untuned program, which owns the weights
  std::unique_ptr<Arm> best_arm_;  // null: the base
  EarlyLaunches early_;
  TuneReport report_;
};

}  // namespace baton::tuning
