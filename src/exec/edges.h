#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/error.h"
#include "baton/executable.h"
#include "exec/evaluate.h"
#include "exec/footprints.h"
#include "exec/pdl.h"
#include "pdl/chain.h"

namespace baton::exec {

// Judges the edges of a program while its launches are gone through in their order, and decides
// which launches start early. A decision holds for all executions of a launch: where one of its
// edges forbids it, all of them are full.
class EdgeJudge {
 public:
  // `has_pdl`: whether the device has programmatic dependent launch.
  EdgeJudge(const Plan& plan, const BufferTable& buffers, Footprints& footprints, bool has_pdl);

  // The next launch, which is executed; whether it starts early as far as can be said by now.
  bool launch(const PlannedLaunch& launch, const PlannedStep& step, const LaunchValues& values,
              std::span<const std::int64_t> slots, Before before);
  // A launch with an empty grid.
  void skip(const PlannedLaunch& launch, Before before);
  // A copy or a fill.
  void other() { chain_.cut(); }
  // Whether the next wait may cover less than all that came before.
  bool leaks() const { return chain_.leaks(); }

  // What is known in the end. By the later launch, then the earlier one.
  std::vector<EdgeReport> reports() const;
  // By number: whether the launch is sent so that it may start early behind another launch.
  std::vector<bool> early() const;
  // By number: whether some thread of the launch is certain to wait, so that its end is the end of
  // what it was started early behind.
  std::vector<bool> waits() const;
  // By number: how the launch lets others start.
  std::vector<Handover> handovers() const;
  // Why the program as it is written cannot be run: an edge that it insists on is unsafe, or its
  // kernel never waits.
  const std::optional<Error>& refusal() const { return refusal_; }
  // The first edge that is unsafe and not switched off.
  const std::optional<Error>& unsafe() const { return unsafe_; }

 private:
  struct Decision {
    const PlannedEdge* edge = nullptr;
    std::string full_because;  // empty: it starts early
    std::string early_because;
    bool waits = true;  // in all executions
    Handover handover;
  };
  struct MemoryFacts {
    std::string name;
    bool is_constant = false;  // no launch writes it
  };
  // Where a buffer begins.
  struct Place {
    overlap::MemoryId memory = 0;
    std::uint64_t offset = 0;  // in bytes
  };
  struct Edge {
    EdgeReport report;
    overlap::Verdict::Kind worst = overlap::Verdict::Kind::kProven;
    bool overlaps = false;  // in some execution a launch stands before it
  };

  overlap::Verdict judge(overlap::BoundLaunch& bound,
                         std::span<const overlap::GivenArgument> arguments,
                         const LaunchConfig& config);
  overlap::GivenArgument given(const PlannedArgument& argument,
                               std::span<const std::int64_t> slots) const;
  // The number of a variable of the kernel's module: `fresh` where it has none yet.
  overlap::MemoryId variable_id(const std::string& kernel, const std::string& name,
                                overlap::MemoryId fresh);
  overlap::MemoryId variable(const std::string& kernel, const overlap::Root& root);
  Edge& edge_to(std::uint32_t launch);
  void decide(const PlannedLaunch& launch, const PlannedStep& step, const overlap::Verdict& verdict,
              const std::string& reason, bool cooperative);

  const BufferTable& buffers_;
  Footprints& footprints_;
  const bool has_pdl_;
  std::vector<MemoryFacts> memories_;  // by MemoryId
  std::vector<Place> places_;          // by buffer
  // By module and name.
  std::map<std::pair<std::size_t, std::string>, overlap::MemoryId> variables_;
  overlap::Chain chain_;
  std::vector<Decision> decisions_;                                // by launch
  std::map<std::pair<std::uint32_t, std::uint32_t>, Edge> edges_;  // by to and from
  std::uint32_t last_ = 0;                                         // launch
  std::uint32_t refined_ = 0;                                      // launches
  std::optional<Error> refusal_, unsafe_;
};

}  // namespace baton::exec
