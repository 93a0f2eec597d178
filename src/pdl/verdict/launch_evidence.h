#pragma once

// What is certain of a launch and of those before it, with their own numbers. Each launch is looked
// at when it is asked about first, and only as far as is asked.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "pdl/footprint/access_ranges.h"
#include "pdl/verdict/chain.h"
#include "pdl/verdict/witnesses.h"

namespace baton::overlap {

// What launches of one program share. Not thread-safe.
struct EvidenceBudget {
  std::uint64_t witness_steps = 0;  // operations that may yet be executed in search of witnesses
  std::map<const Footprint*, DefinitionGraph> graphs = {};
};

// One launch. Refers to the footprint and to the budget, which must outlive it.
class ExaminedLaunch {
 public:
  ExaminedLaunch(const Footprint& footprint, std::vector<GivenArgument> arguments,
                 const LaunchExtents& extents, VariableNumber variable, EvidenceBudget& budget);
  ExaminedLaunch(const ExaminedLaunch&) = delete;
  ExaminedLaunch& operator=(const ExaminedLaunch&) = delete;

  const Witnesses& witnesses();
  std::optional<ReachedBytes> reached(const AccessGroup& group);
  // Whether each address of the group is one that the launch gives, plus a number that tells
  // nothing of an address: so it lies in the same memory.
  bool adds_numbers(const AccessGroup& group) const;
  bool triggers_early() const;

 private:
  const Footprint& footprint_;
  const std::vector<GivenArgument> arguments_;
  const LaunchExtents extents_;
  const VariableNumber variable_;
  EvidenceBudget& budget_;
  std::optional<Witnesses> witnesses_;
  std::optional<AccessRanges> ranges_;
};

// Evidence for one launch against those of its chain, which `earlier` finds by their positions.
class LaunchEvidence : public LaunchChain::Evidence {
 public:
  LaunchEvidence(ExaminedLaunch& own, std::function<ExaminedLaunch&(std::uint32_t)> earlier)
      : own_(own), earlier_(std::move(earlier)) {}

  bool meet(const AccessGroup& own, std::uint32_t position, const AccessGroup& other,
            bool early) override;
  bool never_meet(const AccessGroup& own, std::uint32_t position, const AccessGroup& other,
                  MemoryId memory) override;
  bool triggers_early(std::uint32_t position) override;

 private:
  ExaminedLaunch& own_;
  const std::function<ExaminedLaunch&(std::uint32_t)> earlier_;
};

}  // namespace baton::overlap
