#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "baton/check.h"
#include "baton/error.h"
#include "bind/binder.h"
#include "bind/tape_update.h"
#include "edges/address_flow.h"
#include "edges/branch_judge.h"
#include "edges/judged_memory.h"
#include "edges/launch_binder.h"
#include "edges/write_check.h"
#include "load/footprints.h"
#include "pdl/verdict/chain.h"
#include "pdl/verdict/launch_evidence.h"

namespace baton::edges {

// How a launch lets the next one start, over all its executions.
struct TriggerFacts {
  bool triggers = false;       // false: its blocks have ended when the next one starts
  bool lets_in_early = false;  // the launches that it started early after may still run then
};

// Judges the edges of a program while its launches are bound in their order, and decides which
// launches start early. A decision holds for all executions of a launch: if one of its edges
// forbids an early start, all of them are full.
class EdgeJudge : public bind::LaunchObserver {
 public:
  // `has_pdl`: whether the device has programmatic dependent launch. `kept`: where steps of the
  // program may have left addresses. The plan, the buffers and the footprints must
  // outlive the judge.
  EdgeJudge(const bind::Plan& plan, const bind::BufferTable& buffers, load::Footprints& footprints,
            bool has_pdl, KeptAddresses kept = {});

  bool launch(const bind::LaunchExecution& execution) override;
  void skip(const bind::PlannedLaunch& launch, const bind::PlannedStep& step, bind::Before before,
            std::optional<std::uint32_t> part) override;
  // Its PTX is analysed like that of the program's kernels, with the arguments that it gets.
  bool kernel(const bind::CollectiveExecution& execution) override;
  void other() override { chain_.cut(); }
  void access(const bind::PlannedStep& step, std::uint32_t buffer, std::uint64_t offset,
              std::uint64_t bytes, bool writes) override {
    const MemoryPlace& start = memory_.start_of(buffer);
    const bool receives = std::holds_alternative<bind::PlannedCollective>(step.action);
    flow_.add(&step, start.memory, writes, tested_around(step), receives);
    branches_.add(start.memory, start.offset + offset, bytes, writes, step.label, number_of(step));
  }
  void fork(const bind::PlannedStep& parallel) override { branches_.fork(parallel); }
  void branch() override { branches_.branch(); }
  void join() override { branches_.join(); }
  void record(const bind::PlannedEvent& event) override { branches_.record(event); }
  void after(const bind::PlannedEvent& event) override { branches_.after(event); }
  // The next wait may cover less than all that came before.
  bool looks_further_back() const override {
    answers_ += chain_.has_transitive_gap() ? '1' : '0';
    return answers_.back() == '1';
  }

  // The results, once all launches were seen.

  // Sorted by the later launch, then by the earlier one.
  std::vector<EdgeReport> reports() const;
  // The same for edges from and to kernels between peers, by the order of the steps.
  std::vector<CollectiveEdgeReport> collective_reports() const;
  const std::vector<ParallelReport>& parallels() const { return branches_.reports(); }
  // By launch: whether it starts early after another launch, and whether some thread of it
  // certainly waits, so that its end is the end of the launch that it started early after.
  std::vector<bind::LaunchDecision> decisions() const;
  // By launch.
  std::vector<TriggerFacts> trigger_facts() const;
  bind::DecidedByValues decided_by_values() const;
  // `kept`, and where else the steps may leave addresses, or what was computed from several, if
  // they are there. What a launch loads from there may then be such a value, also in a later run.
  // Steps that the program's values leave out count, too: with other values they may have been
  // executed before, in the same memory.
  KeptAddresses spread(KeptAddresses kept) {
    add_left_out(plan_.steps);
    return flow_.spread(std::move(kept), [this](overlap::MemoryId id) -> const std::string& {
      return memory_[id].name;
    });
  }
  // What `looks_further_back` answered, call by call: '0' or '1'.
  const std::string& answers() const { return answers_; }
  // The reason why the program cannot run as it is written: an edge that it insists on is unsafe,
  // or its kernel never waits.
  const std::optional<Error>& refusal() const { return refusal_; }
  // The first launch that certainly writes memory that no kernel may write.
  const std::optional<Error>& forbidden_write() const { return write_check_.forbidden(); }
  // Whether that memory is a weight, whose writes the simulated GPU finds thread by thread.
  bool writes_weight() const { return write_check_.writes_weight(); }
  // Launches that perhaps do.
  const std::vector<std::string>& warnings() const { return write_check_.warnings(); }
  // The first edge that is unsafe and not switched off.
  const std::optional<Error>& unsafe() const { return unsafe_; }

 private:
  struct Decision {
    const bind::PlannedEdge* edge = nullptr;  // null: never seen
    std::optional<EdgeDecision> full;         // the first reason for full edges
    std::optional<EdgeDecision> early;  // the reason for an early start, where nothing forbids it
    bool waits = true;                  // in all executions
    TriggerFacts trigger_facts;

    bool is_early() const { return early && !full; }
  };
  // An execution of a launch, or of a kernel between peers, since the last full edge.
  struct Execution {
    const bind::PlannedLaunch* launch = nullptr;  // null: a kernel between peers
    const std::string* kernel = nullptr;          // null for those, too
    const overlap::Footprint* footprint = nullptr;
    overlap::LaunchExtents extents;
    // Its first argument among `varying_`: of a launch, those of PlannedLaunch::varying_args; of a
    // kernel between peers, all.
    std::size_t varying = 0;
    std::size_t arguments = 0;  // how many those are
  };
  // What is judged: an execution, with the edge that leads to it.
  struct Candidate {
    std::uint32_t number = 0;  // as `last_`
    const bind::PlannedStep& step;
    const bind::PlannedEdge& edge;
    std::optional<std::uint32_t> part;
    bool cooperative = false;
    std::span<const overlap::GivenArgument> arguments;
    Execution now;
  };
  struct Edge {
    EdgeReport report;
    bool is_judged = false;
    bool overlaps = false;  // in some execution a launch stands before it
  };

  overlap::Verdict judge(overlap::BoundLaunch& bound, const Candidate& candidate);
  // Judges the edge that leads to it, and decides. Returns whether it starts early.
  bool judge_edge(overlap::BoundLaunch& bound, const Candidate& candidate, Decision& decision);
  // The same again for what follows it.
  void follow(const overlap::BoundLaunch& bound, const Candidate& candidate, bool early);
  void add_left_out(const std::vector<bind::PlannedStep>& steps);
  // The memory that the conditions around the step test.
  std::vector<overlap::MemoryId> tested_around(const bind::PlannedStep& step) const;
  // The values of the launch and of all before it in the chain were looked at.
  void note_values(const Candidate& candidate);
  std::vector<overlap::GivenArgument> arguments_of(const Execution& past) const;
  // The variables of the kernel's module; refers to the name. Null: of a kernel between peers.
  overlap::VariableNumber variables_of(const std::string* kernel);
  // The memory that the ranks write for each other.
  overlap::MemoryId shared_memory();
  Edge& edge_to(std::uint32_t number);
  bool is_launch(std::uint32_t number) const { return number < decisions_.size(); }
  const Decision& decision_of(std::uint32_t number) const {
    return is_launch(number) ? decisions_[number]
                             : collective_decisions_[number - decisions_.size()];
  }
  EdgeEnd end_of(std::uint32_t number) const;
  // As `last_`, of steps other than launches. A condition has none: another test takes a new tape.
  std::optional<std::uint32_t> number_of(const bind::PlannedStep& step) const {
    if (std::holds_alternative<bind::PlannedCondition>(step.action)) return std::nullopt;
    return static_cast<std::uint32_t>(decisions_.size()) + step.leaf;
  }
  // Fills in the part of a report that all edges have, with the decision.
  template <typename Report>
  void report(const Edge& edge, Report& report) const;
  void set_verdict(Edge& edge, const overlap::Verdict& verdict) const;
  // The edge to a launch that follows, or is, one with an empty grid.
  void note_empty_grid(std::uint32_t number, EdgeCause cause);
  // Whether it may start early, with the reason; the same for an error that the program gets.
  void decide(const Candidate& candidate, const overlap::Verdict& verdict,
              const std::string& reason, Decision& decision);
  void note_unsafe(const Candidate& candidate, const std::string& reason);

  const bind::Plan& plan_;
  load::Footprints& footprints_;
  const bool has_pdl_;
  JudgedMemory memory_;
  AddressFlow flow_;
  overlap::LaunchChain chain_;
  BranchJudge branches_;
  std::vector<Decision> decisions_;             // by launch
  std::vector<Decision> collective_decisions_;  // by leaf
  std::vector<const bind::PlannedStep*> ends_;  // by number, as `last_`
  std::vector<bool> by_values_;                 // by launch: its values were looked at
  bool by_collective_values_ = false;           // the same of any kernel between peers
  LaunchBinder binder_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Edge> edges_;  // by to and from
  std::vector<Execution> history_;                                 // since the last full edge
  std::vector<overlap::GivenArgument> varying_;                    // of these
  // The number of the last launch. A collective that a kernel executes has the number of its leaf
  // after those of all launches.
  std::uint32_t last_ = 0;
  std::optional<std::uint32_t> last_part_;  // of the SMs, of that launch
  std::uint32_t refined_ = 0;               // launches
  // A second or two of search, for all launches.
  overlap::EvidenceBudget budget_{.witness_steps = std::uint64_t{1} << 25};
  WriteCheck write_check_;
  std::optional<Error> refusal_, unsafe_;
  mutable std::string answers_;
};

}  // namespace baton::edges
