#include "edges/edge_judge.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/error.h"
#include "edges/edge_words.h"
#include "edges/peer_launch.h"

namespace baton::edges {
namespace {

using overlap::Verdict;

// Launches that are refined: judged with the values of their scalars, which takes a walk over the
// kernel's code. More than any program has that is not unrolled by its thousands.
constexpr std::uint32_t kMaxRefined = 4096;

}  // namespace

EdgeJudge::EdgeJudge(const bind::Plan& plan, const bind::BufferTable& buffers,
                     load::Footprints& footprints, bool has_pdl, KeptAddresses kept)
    : plan_(plan),
      footprints_(footprints),
      has_pdl_(has_pdl),
      memory_(buffers, footprints),
      chain_([this](overlap::MemoryId id) { return memory_[id].is_constant; },
             [this](overlap::MemoryId id) { return memory_[id].counter; },
             [this](overlap::MemoryId id) { return memory_[id].is_shared; }),
      branches_([this](overlap::MemoryId id) { return memory_[id].is_constant; },
                [this](overlap::MemoryId id) -> const std::string& { return memory_[id].name; }),
      decisions_(plan.launches),
      collective_decisions_(plan.leaves),
      ends_(plan.launches + plan.leaves),
      by_values_(plan.launches),
      binder_(plan.launches, memory_, footprints, std::move(kept)),
      write_check_(memory_, budget_.witness_steps) {}

std::vector<overlap::GivenArgument> EdgeJudge::arguments_of(const Execution& past) const {
  const auto own = std::span(varying_).subspan(past.varying, past.arguments);
  if (past.launch == nullptr) return {own.begin(), own.end()};
  const auto last = binder_.arguments(past.launch->number);
  std::vector<overlap::GivenArgument> arguments(last.begin(), last.end());
  const std::vector<std::uint32_t>& numbers = past.launch->varying_args;
  for (std::size_t k = 0; k < numbers.size(); ++k) arguments[numbers[k]] = own[k];
  return arguments;
}

overlap::VariableNumber EdgeJudge::variables_of(const std::string* kernel) {
  // Nothing else names variables of Baton's own kernels.
  if (kernel == nullptr) {
    return [this](std::string_view, bool) { return shared_memory(); };
  }
  return [this, kernel](std::string_view name, bool constant) {
    return memory_.variable(*kernel, name, constant);
  };
}

overlap::MemoryId EdgeJudge::shared_memory() {
  chain_.expect_shared();
  return memory_.shared();
}

void EdgeJudge::add_left_out(const std::vector<bind::PlannedStep>& steps) {
  for (const bind::PlannedStep& step : steps) {
    if (const std::vector<bind::PlannedStep>* const inner = bind::inner_steps(step)) {
      add_left_out(*inner);
    } else if (const auto* const launch = std::get_if<bind::PlannedLaunch>(&step.action)) {
      if (binder_.has_bound(launch->number)) continue;
      flow_.add(binder_.possible(step, *launch), tested_around(step));
    } else if (const auto* const copied = std::get_if<bind::PlannedCopy>(&step.action)) {
      flow_.add(&step, memory_.start_of(copied->from).memory, false);
      flow_.add(&step, memory_.start_of(copied->to).memory, true, tested_around(step));
    } else if (const auto* const filled = std::get_if<bind::PlannedFill>(&step.action)) {
      // It leaves a number, which may tell that the step was executed.
      flow_.add(&step, memory_.start_of(filled->buffer).memory, true, tested_around(step));
    } else if (std::holds_alternative<bind::PlannedCollective>(step.action)) {
      flow_.add(&step);
    }
  }
}

std::vector<overlap::MemoryId> EdgeJudge::tested_around(const bind::PlannedStep& step) const {
  std::vector<overlap::MemoryId> tested;
  for (const bind::PlannedStep* around = step.group; around != nullptr; around = around->group) {
    if (const auto* const condition = std::get_if<bind::PlannedCondition>(&around->action)) {
      tested.push_back(memory_.start_of(condition->test.buffer).memory);
    }
  }
  return tested;
}

void EdgeJudge::note_values(const Candidate& candidate) {
  const auto note = [this](const Execution& execution) {
    if (execution.launch != nullptr) {
      by_values_[execution.launch->number] = true;
    } else {
      by_collective_values_ = true;
    }
  };
  note(candidate.now);
  for (const Execution& past : history_) note(past);
}

void EdgeJudge::follow(const overlap::BoundLaunch& bound, const Candidate& candidate, bool early) {
  flow_.add(bound, tested_around(candidate.step), candidate.now.launch == nullptr);
  branches_.add(bound, candidate.step.label, early);
  chain_.follow(bound, early);
  if (!early) {
    history_.clear();
    varying_.clear();
  }
  Execution& now = history_.emplace_back(candidate.now);
  now.varying = varying_.size();
  if (now.launch == nullptr) {
    varying_.insert(varying_.end(), candidate.arguments.begin(), candidate.arguments.end());
  } else {
    for (const std::uint32_t i : now.launch->varying_args) {
      varying_.push_back(candidate.arguments[i]);
    }
  }
  now.arguments = varying_.size() - now.varying;
  last_ = candidate.number;
  last_part_ = candidate.part;
}

Verdict EdgeJudge::judge(overlap::BoundLaunch& bound, const Candidate& candidate) {
  Verdict verdict = chain_.judge(bound);
  if (verdict.kind != EdgeVerdict::kProven || verdict.by_places) note_values(candidate);
  if (verdict.kind == EdgeVerdict::kProven) return verdict;
  if (refined_ >= kMaxRefined || budget_.witness_steps == 0) {
    // Only a refined launch shows a witness: an access that some thread certainly makes.
    if (verdict.kind == EdgeVerdict::kUnsafe) {
      verdict.kind = EdgeVerdict::kUnknown;
      verdict.cause = EdgeCause::kNotRefined;
    }
    return verdict;
  }
  ++refined_;
  const overlap::LaunchExtents& extents = candidate.now.extents;
  const auto arguments = candidate.arguments;
  overlap::refine(bound, arguments, extents.block, extents.grid);
  overlap::ExaminedLaunch own(*bound.footprint, {arguments.begin(), arguments.end()}, extents,
                              variables_of(candidate.now.kernel), budget_);
  std::map<std::uint32_t, overlap::ExaminedLaunch> earlier;  // by position
  overlap::LaunchEvidence evidence(own, [&](std::uint32_t position) -> overlap::ExaminedLaunch& {
    if (const auto known = earlier.find(position); known != earlier.end()) return known->second;
    const Execution& past = history_[position];
    return earlier
        .try_emplace(position, *past.footprint, arguments_of(past), past.extents,
                     variables_of(past.kernel), budget_)
        .first->second;
  });
  return chain_.judge(bound, &evidence);
}

EdgeJudge::Edge& EdgeJudge::edge_to(std::uint32_t number) {
  const auto [entry, is_new] = edges_.try_emplace({number, last_});
  if (is_new) {
    entry->second.report.from = last_;
    entry->second.report.to = number;
  }
  return entry->second;
}

void EdgeJudge::note_unsafe(const Candidate& candidate, const std::string& reason) {
  if (candidate.edge.mode == PdlMode::kOff || unsafe_) return;
  const auto name = [this](std::uint32_t number) {
    return is_launch(number) ? Names::launch_name(number) : ends_[number]->label;
  };
  unsafe_ = error_at(candidate.step.source->where, ErrorCode::kFault,
                     "the edge from {} to {} is unsafe: {}; mend the kernel, or "
                     "write pdl = \"off\"",
                     name(last_), name(candidate.number), reason);
}

void EdgeJudge::decide(const Candidate& candidate, const Verdict& verdict,
                       const std::string& reason, Decision& decision) {
  const bind::PlannedEdge& edge = candidate.edge;
  const auto full = [&](EdgeDecision why) {
    if (!decision.full) decision.full = why;
  };
  const bool is_unsafe = verdict.kind == EdgeVerdict::kUnsafe;
  if (is_unsafe) note_unsafe(candidate, reason);
  if (edge.mode != PdlMode::kOff && candidate.part != last_part_) {
    full(EdgeDecision::kOtherPart);
    if (edge.insisted && edge.mode != PdlMode::kAuto && !refusal_) {
      refusal_ = error_at(edge.where, ErrorCode::kInvalidInput,
                          "pdl = \"{}\", but the launch before runs on {} SMs: give both the same "
                          "sms, or write pdl = \"off\"",
                          to_string(edge.mode), last_part_ ? "another part of the" : "all");
    }
    return;
  }
  switch (edge.mode) {
    case PdlMode::kOff:
      return full(edge.cannot_wait ? EdgeDecision::kNoWait : EdgeDecision::kOff);
    case PdlMode::kForce:
      decision.early = EdgeDecision::kForced;
      return;
    case PdlMode::kOn:
      if (is_unsafe) {
        full(EdgeDecision::kUnsafe);
        if (edge.insisted && !refusal_) {
          refusal_ = error_at(edge.where, ErrorCode::kFault,
                              "pdl = \"on\", but {}; mend that, or write pdl = \"off\"; \"force\" "
                              "takes it as it is",
                              reason);
        }
      } else if (verdict.cause == EdgeCause::kNoWait) {
        full(EdgeDecision::kNoWait);
        if (edge.insisted && !refusal_) {
          refusal_ = error_at(edge.where, ErrorCode::kInvalidInput,
                              "pdl = \"on\", but {}; call cudaGridDependencySynchronize() in it, "
                              "or write pdl = \"off\"; \"force\" takes it as it is",
                              reason);
        }
      } else {
        decision.early = EdgeDecision::kAsked;
      }
      return;
    case PdlMode::kAuto:
      if (!has_pdl_) return full(EdgeDecision::kNoPdl);
      if (verdict.kind != EdgeVerdict::kProven) return full(EdgeDecision::kNotProven);
      // Nothing shows that a cooperative grid fits with the launch before it.
      if (candidate.cooperative) return full(EdgeDecision::kCooperative);
      decision.early = EdgeDecision::kProven;
      return;
  }
}

void EdgeJudge::set_verdict(Edge& edge, const Verdict& verdict) const {
  edge.is_judged = true;
  edge.report.verdict = verdict.kind;
  edge.report.cause = verdict.cause;
  edge.report.reason = describe(
      verdict,
      {.memory = [this](overlap::MemoryId id) { return memory_[id].name; },
       .kernel =
           [this](const overlap::Footprint& footprint) { return footprints_.name(footprint); },
       .launch =
           [this](std::uint32_t number) {
             return is_launch(number) ? Names::launch_name(number) : ends_[number]->label;
           }});
}

void EdgeJudge::note_empty_grid(std::uint32_t number, EdgeCause cause) {
  Edge& edge = edge_to(number);
  if (edge.is_judged) return;
  Verdict verdict;
  verdict.kind = EdgeVerdict::kUnknown;
  verdict.cause = cause;
  set_verdict(edge, verdict);
}

bool EdgeJudge::launch(const bind::LaunchExecution& execution) {
  const bind::PlannedLaunch& launch = execution.launch;
  Decision& decision = decisions_[launch.number];
  decision.edge = &launch.edge;
  ends_[launch.number] = &execution.step;
  overlap::BoundLaunch bound = binder_.bind(execution);
  const auto arguments = binder_.arguments(launch.number);
  if (bound.by_value) by_values_[launch.number] = true;
  decision.waits &= bound.footprint->waits >= overlap::Footprint::Waits::kOne;
  decision.trigger_facts.triggers |= bound.footprint->triggers;
  decision.trigger_facts.lets_in_early |= bound.footprint->triggers_before_wait || !bound.waits;
  if (write_check_.check(execution, bound, arguments, variables_of(&execution.step.label))) {
    by_values_[launch.number] = true;
  }
  const LaunchConfig& config = execution.config;
  Candidate candidate{launch.number,        execution.step, launch.edge, execution.part,
                      config.cooperative(), arguments,      {}};
  candidate.now.launch = &launch;
  candidate.now.kernel = &execution.step.label;
  candidate.now.footprint = bound.footprint;
  candidate.now.extents = {extents_of(config.block), extents_of(config.grid)};
  bool early = false;
  if (execution.before == bind::Before::kSkippedLaunch) {
    note_empty_grid(launch.number, EdgeCause::kAfterEmptyGrid);
  } else if (execution.before == bind::Before::kLaunch) {
    early = judge_edge(bound, candidate, decision);
  }
  follow(bound, candidate, early);
  return early;
}

bool EdgeJudge::judge_edge(overlap::BoundLaunch& bound, const Candidate& candidate,
                           Decision& decision) {
  const bool never_waits = bound.footprint->waits == overlap::Footprint::Waits::kNever;
  Verdict verdict;
  if (never_waits && candidate.edge.mode != PdlMode::kForce) {
    // A kernel without a wait was not made for early starts, and is not wrong.
    verdict.kind = EdgeVerdict::kUnknown;
    verdict.cause = EdgeCause::kNoWait;
    verdict.own_kernel = bound.footprint;
  } else {
    verdict = judge(bound, candidate);
  }
  Edge& edge = edge_to(candidate.number);
  if (!edge.overlaps || verdict.kind > edge.report.verdict) {
    set_verdict(edge, verdict);
    const bind::PlannedLaunch* const launch = candidate.now.launch;
    const auto cause =
        launch == nullptr ? std::nullopt : missing_wait_cause(launch->kernel.facts());
    if (never_waits && cause) edge.report.reason += "; " + *cause;
  }
  edge.overlaps = true;
  decide(candidate, verdict, edge.report.reason, decision);
  return decision.is_early();
}

bool EdgeJudge::kernel(const bind::CollectiveExecution& execution) {
  const std::uint32_t leaf = execution.step.leaf;
  const std::uint32_t number = *number_of(execution.step);
  Decision& decision = collective_decisions_[leaf];
  decision.edge = &execution.collective.edge;
  ends_[number] = &execution.step;
  const PeerLaunch launch = peer_launch(
      execution.collective, execution.values,
      [this](std::uint32_t buffer) { return memory_.start_of(buffer); }, shared_memory());
  overlap::BoundLaunch bound =
      binder_.bind(*launch.footprint, launch.arguments, launch.extents, variables_of(nullptr));
  bound.number = number;
  if (bound.by_value) by_collective_values_ = true;
  Candidate candidate{
      number, execution.step, execution.collective.edge, {}, false, launch.arguments, {}};
  candidate.now.footprint = launch.footprint;
  candidate.now.extents = launch.extents;
  bool early = false;
  // A launch does not overlap with an empty grid before it.
  if (execution.before == bind::Before::kLaunch) early = judge_edge(bound, candidate, decision);
  follow(bound, candidate, early);
  return early;
}

void EdgeJudge::skip(const bind::PlannedLaunch& launch, const bind::PlannedStep& step,
                     bind::Before before, std::optional<std::uint32_t> part) {
  decisions_[launch.number].edge = &launch.edge;
  ends_[launch.number] = &step;
  if (before == bind::Before::kLaunch || before == bind::Before::kSkippedLaunch) {
    note_empty_grid(launch.number, EdgeCause::kEmptyGrid);
  }
  chain_.cut();
  branches_.skip();
  last_ = launch.number;
  last_part_ = part;
}

template <typename Report>
void EdgeJudge::report(const Edge& edge, Report& report) const {
  const Decision& decision = decision_of(edge.report.to);
  report.verdict = edge.report.verdict;
  report.cause = edge.report.cause;
  report.reason = edge.report.reason;
  report.programmatic = edge.overlaps && decision.is_early();
  report.decision = !edge.overlaps        ? EdgeDecision::kEmptyGrid
                    : report.programmatic ? *decision.early
                                          : *decision.full;
  if (report.decision == EdgeDecision::kNotProven && report.verdict == EdgeVerdict::kProven) {
    report.decision = EdgeDecision::kOtherEdge;
  }
  report.decision_reason = report.decision == EdgeDecision::kEmptyGrid
                               ? report.reason
                               : describe(report.decision, *decision.edge);
}

std::vector<EdgeReport> EdgeJudge::reports() const {
  std::vector<EdgeReport> result;
  for (const auto& [key, edge] : edges_) {
    if (!is_launch(key.first) || !is_launch(key.second)) continue;
    EdgeReport& added = result.emplace_back();
    added.from = edge.report.from;
    added.to = edge.report.to;
    report(edge, added);
  }
  return result;
}

EdgeEnd EdgeJudge::end_of(std::uint32_t number) const {
  const bind::PlannedStep& step = *ends_[number];
  EdgeEnd end{step.label, std::nullopt, step.source->where};
  if (is_launch(number)) end.launch = number;
  return end;
}

std::vector<CollectiveEdgeReport> EdgeJudge::collective_reports() const {
  std::vector<std::pair<std::uint32_t, const Edge*>> found;  // by the leaf of the later end
  for (const auto& [key, edge] : edges_) {
    if (is_launch(key.first) && is_launch(key.second)) continue;
    found.emplace_back(ends_[key.first]->leaf, &edge);
  }
  std::ranges::stable_sort(found, {}, &std::pair<std::uint32_t, const Edge*>::first);
  std::vector<CollectiveEdgeReport> result;
  for (const auto& [leaf, edge] : found) {
    CollectiveEdgeReport& added = result.emplace_back();
    added.from = end_of(edge->report.from);
    added.to = end_of(edge->report.to);
    report(*edge, added);
  }
  return result;
}

std::vector<bind::LaunchDecision> EdgeJudge::decisions() const {
  std::vector<bind::LaunchDecision> result;
  for (const Decision& decision : decisions_) {
    bind::LaunchDecision& out = result.emplace_back();
    out.early = decision.is_early();
    out.waits = decision.waits;
  }
  return result;
}

bind::DecidedByValues EdgeJudge::decided_by_values() const {
  const auto is_early = [](const std::vector<Decision>& all) {
    return std::ranges::any_of(all, &Decision::is_early);
  };
  bind::DecidedByValues decided{by_values_,
                                {},
                                is_early(decisions_) || is_early(collective_decisions_),
                                by_collective_values_};
  for (const std::uint32_t number : branches_.judged_by_places()) {
    if (is_launch(number)) {
      decided.arguments[number] = true;
    } else {
      decided.moves.insert(number - static_cast<std::uint32_t>(decisions_.size()));
    }
  }
  return decided;
}

std::vector<TriggerFacts> EdgeJudge::trigger_facts() const {
  std::vector<TriggerFacts> result;
  for (const Decision& decision : decisions_) result.push_back(decision.trigger_facts);
  return result;
}

}  // namespace baton::edges
