#include "tune/search.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "baton/tune_choices.h"
#include "bind/binding.h"
#include "driver/driver.h"
#include "program/step_launches.h"
#include "session/world/collective_choice.h"

namespace baton::tuning {
namespace {

// The share of the budget that the search may use: the rest is for fresh runs of the best variant.
constexpr double kSearchShare = 0.75;
// Passes that change nothing end a search; so many sweeps end it in any case.
constexpr int kMaxSweeps = 3;

// The first output whose bits differ; nothing where all are equal.
std::optional<std::string> difference_of(const std::map<std::string, Array>& got,
                                         const std::map<std::string, Array>& want) {
  for (const auto& [name, array] : want) {
    const Array& other = got.at(name);
    if (other.shape != array.shape) return name + " has another shape";
    if (other.bytes != array.bytes) return name + " differs";
  }
  return std::nullopt;
}

bool is_simulated(const Device& device) {
  return device.driver().simulator != nullptr;
}

// Whether a variant that fails so says nothing of the device: others can go on.
bool is_refusal(const Error& failure, bool simulated) {
  switch (failure.code()) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kNotFound:
    case ErrorCode::kCompile:
    case ErrorCode::kLimit:
    case ErrorCode::kMismatch:
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kUnsupported:
      return true;
    case ErrorCode::kFault:
      return simulated;
    case ErrorCode::kTimeout:
    case ErrorCode::kDamaged:
    case ErrorCode::kNoDevice:
    case ErrorCode::kDriver:
    case ErrorCode::kInterrupted:
    case ErrorCode::kInternal:
      return false;
  }
  return false;
}

}  // namespace

Search::Search(const Subject& subject, const TuneOptions& options, CostKind cost)
    : subject_(subject),
      options_(options),
      cost_(cost),
      exact_(cost == CostKind::kWarpInstructions && !options.measure),
      ranks_(options.bindings.world.value_or(World())),
      start_(std::chrono::steady_clock::now()),
      limits_{.timeout = options.timeout, .interrupt = options.interrupt} {
  untuned_.executor = options.executor.value_or(ExecutorKind::kStream);
  best_ = untuned_;
}

double Search::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Search::is_used(double share) const {
  return ranks_.any(seconds() >= share * options_.budget);
}

double Search::measure(Arm& arm) const {
  ranks_.meet();
  return ranks_.slowest(arm.measure());
}

std::vector<CollectiveExecutor> Search::executors() const {
  // The executor that the caller names executes all of them.
  const bool is_fixed = options_.bindings.collectives != CollectiveExecutor::kAuto;
  if (!ranks_.are_several() || is_fixed) return {};
  std::vector<CollectiveExecutor> all = usable_executors(subject_.device(), ranks_.world());
  // What the untuned program took is known since it ran.
  const auto& report = base_->executable()->report().collectives;
  if (!report) return {};
  // The size of a step decides what executes it untuned.
  if (report->peer_bytes != 0) {
    all.insert(all.begin(), CollectiveExecutor::kAuto);
    return all;
  }
  const auto own = std::ranges::find_if(
      all, [&](CollectiveExecutor each) { return to_string(each) == report->executor; });
  if (own != all.end()) std::rotate(all.begin(), own, own + 1);
  return all;
}

void Search::report_progress(const std::string& what) const {
  if (options_.interrupt != nullptr && *options_.interrupt) {
    throw error(ErrorCode::kInterrupted, "the search was interrupted");
  }
  if (!options_.progress) return;
  const double share = options_.budget > 0 ? std::min(seconds() / options_.budget, 1.0) : 1.0;
  options_.progress({what, share, seconds()});
}

RaceRules Search::rules(const std::string& what, double until) const {
  RaceRules rules;
  rules.exact = exact_;
  rules.deadline = start_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                std::chrono::duration<double>(until));
  if (ranks_.are_several()) rules.any_is_over = [this](bool here) { return ranks_.any(here); };
  rules.on_round = [this, what](std::uint64_t round) {
    report_progress(fmt::format("{}, round {}", what, round + 1));
  };
  return rules;
}

std::unique_ptr<Arm> Search::arm(const TuneVariant& variant) const {
  if (options_.measure) {
    return std::make_unique<CallersArm>(variant, with_choices(subject_.program(), variant.choices),
                                        options_);
  }
  return std::make_unique<ExecutedArm>(subject_.load(variant.choices), variant.executor,
                                       options_.bindings, base_.get(), limits_, cost_);
}

std::unique_ptr<Arm> Search::candidate(const TuneVariant& variant, TuneTrial& trial) const {
  try {
    std::unique_ptr<Arm> made = arm(variant);
    const auto difference = difference_of(made->results(), wanted_);
    if (!ranks_.any(difference.has_value())) return made;
    trial.refused = difference ? "the output " + *difference : "an output of another rank differs";
  } catch (const Error& failure) {
    // A rank that fails ends the run of all of them.
    if (ranks_.are_several() || !is_refusal(failure, is_simulated(subject_.device()))) throw;
    // On the simulated GPU a fault leaves an error state.
    if (failure.code() == ErrorCode::kFault) subject_.device().recover();
    trial.refused = failure.message();
  }
  return nullptr;
}

void Search::check_base() {
  report_progress("the untuned program");
  base_ = arm(untuned_);
  wanted_ = base_->results();
  const auto difference = difference_of(base_->results(), wanted_);
  if (ranks_.any(difference.has_value())) {
    throw error(ErrorCode::kMismatch,
                "two runs of the untuned program give other results: the output {}; tuning "
                "compares results bit by bit, so make the program repeatable",
                difference.value_or("of another rank differs"));
  }
}

void Search::note_early_launches() {
  std::size_t launches = 0;
  for_each_launch(subject_.program().steps(), [&](const LaunchStep&) { ++launches; });
  std::vector<char> early(launches);
  const Arm& best_arm = best_arm_ ? *best_arm_ : *base_;
  if (best_arm.executable() != nullptr) {
    for (const EdgeReport& edge : best_arm.executable()->edges()) {
      if (edge.programmatic) early[edge.to] = 1;
    }
  }
  ranks_.join(early);
  early_.assign(early.begin(), early.end());
}

bool Search::try_pass(const MakePass& make_pass) {
  const Pass pass = make_pass(best_, early_);
  std::vector<std::unique_ptr<Arm>> arms;
  std::vector<Measure> measures;
  std::vector<std::size_t> trials;  // of the arms
  for (const TuneVariant& variant : pass.variants) {
    const auto same = [&](const TuneTrial& trial) {
      return trial.variant == variant && !trial.refused.empty();
    };
    if (std::ranges::any_of(report_.trials, same)) continue;
    if (is_used(kSearchShare)) {
      report_.out_of_time = true;
      break;
    }
    report_progress(fmt::format("{}: {}", pass.name, to_text(variant)));
    TuneTrial& trial = report_.trials.emplace_back();
    trial.variant = variant;
    trial.pass = pass.name;
    std::unique_ptr<Arm> made = candidate(variant, trial);
    if (!made) continue;
    trials.push_back(report_.trials.size() - 1);
    measures.emplace_back([this, arm = made.get()] { return measure(*arm); });
    arms.push_back(std::move(made));
  }
  if (arms.empty()) return false;
  const std::string what =
      fmt::format("{}: {} variant{}", pass.name, arms.size(), arms.size() == 1 ? "" : "s");
  Arm& against = best_arm_ ? *best_arm_ : *base_;
  const RaceResult result = race([&] { return measure(against); }, measures,
                                 rules(what, kSearchShare * options_.budget), random_);
  report_.out_of_time |= result.out_of_time;
  for (std::size_t k = 0; k < arms.size(); ++k) {
    TuneTrial& trial = report_.trials[trials[k]];
    trial.cost = median(result.lanes[k].costs);
    trial.ratio = result.lanes[k].ratio;
    trial.best = result.winner == k;
    if (report_.base_cost == 0 && !best_arm_) report_.base_cost = median(result.lanes[k].base);
  }
  if (!result.winner) return false;
  best_ = report_.trials[trials[*result.winner]].variant;
  best_arm_ = std::move(arms[*result.winner]);
  note_early_launches();
  return true;
}

void Search::search() {
  Freedom freedom;
  const bool is_default =
      options_.load.pdl == PdlMode::kAuto && options_.load.rewrite == RewriteMode::kOff;
  // Where the caller runs the program, it takes the values of symbols alone.
  const bool is_limited = exact_ || options_.measure;
  freedom.edges = is_default && !is_limited;
  freedom.executor = !options_.executor && !is_limited;
  freedom.symbols = bind::bind_symbols(subject_.program(), options_.bindings);
  if (!is_limited) freedom.executors = executors();
  note_early_launches();
  const std::vector<MakePass> passes = passes_of(subject_.program(), freedom);
  for (int sweep = 0; sweep < kMaxSweeps && !report_.out_of_time; ++sweep) {
    bool is_better = false;
    for (const MakePass& pass : passes) {
      if (report_.out_of_time) break;
      is_better |= try_pass(pass);
    }
    if (!is_better) break;
  }
}

void Search::conclude() {
  if (best_ == untuned_) return;
  // Kernels and memory of their own: a lucky place in memory is not a gain.
  best_arm_.reset();
  const std::unique_ptr<Arm> copy = arm(untuned_);
  TuneTrial again;
  const std::unique_ptr<Arm> tuned = candidate(best_, again);
  if (!tuned) {
    report_.remark = fmt::format("{} was not accepted: {}", to_text(best_), again.refused);
    return;
  }
  copy->results();  // a run before, as the others had
  const FinalResult result = face_off(
      [&] { return measure(*base_); }, [&] { return measure(*copy); },
      [&] { return measure(*tuned); }, rules("the best variant", options_.budget), random_);
  TuneRecord& record = report_.record;
  record.ratio = result.ratio;
  record.noise = result.noise;
  record.accepted = result.accepted;
  if (result.accepted) record.variant = best_;
  if (result.too_short) {
    report_.out_of_time = true;
    report_.remark = "the budget ended before fresh runs could confirm the best variant";
  }
}

TuneReport Search::run() {
  if (!(options_.budget >= 0)) {
    throw error(ErrorCode::kInvalidInput, "the budget is {} seconds, it must be at least 0",
                options_.budget);
  }
  if (!options_.bindings.memory.empty()) {
    throw error(ErrorCode::kInvalidInput,
                "the buffer {} is given in memory of the caller; tuning runs a program again and "
                "again from its first contents, so give contents as inputs",
                options_.bindings.memory.front().first);
  }
  if (options_.measure && ranks_.are_several()) {
    throw error(ErrorCode::kInvalidInput,
                "a measurement of the caller's is of one rank, and this run has {}",
                ranks_.world().ranks());
  }
  report_.record.variant = untuned_;
  report_.record.cost = exact_ ? "warp instructions" : "seconds";
  if (options_.budget == 0) {
    report_.remark = "the budget is 0 seconds: nothing was tried";
    report_.out_of_time = true;
    return std::move(report_);
  }
  check_base();
  search();
  conclude();
  if (report_.base_cost == 0) report_.base_cost = measure(*base_);
  if (report_.trials.empty() && report_.remark.empty()) {
    report_.remark = report_.out_of_time
                         ? "the budget ended before a variant was tried; give it more time"
                     : options_.measure ? "the program has no [tune] symbols to vary"
                     : exact_ ? "the simulated GPU has no time of its own: it tries [tune] symbols "
                                "alone, and the program has none to vary"
                              : "the program and the options leave nothing to vary";
  }
  report_.seconds = seconds();
  return std::move(report_);
}

}  // namespace baton::tuning
