#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bind/binder.h"
#include "edges/address_flow.h"
#include "edges/judged_memory.h"
#include "load/footprints.h"
#include "pdl/footprint/bound.h"
#include "pdl/verdict/certain_walk.h"

namespace baton::edges {

inline std::array<std::uint32_t, 3> extents_of(const Dim3& dim) {
  return {dim.x, dim.y, dim.z};
}

// Binds the footprints of a program's launches, execution by execution. It keeps of each launch
// what the next execution has too.
class LaunchBinder {
 public:
  // `launches`: how many the program has. `kept`: where steps left addresses. The memory and the
  // footprints must outlive it.
  LaunchBinder(std::size_t launches, JudgedMemory& memory, load::Footprints& footprints,
               KeptAddresses kept)
      : memory_(memory), footprints_(footprints), kept_(std::move(kept)), sites_(launches) {}

  overlap::BoundLaunch bind(const bind::LaunchExecution& execution);
  // Of any launch. What it loads is an index, unless it may load from where addresses were left.
  overlap::BoundLaunch bind(const overlap::Footprint& footprint,
                            std::span<const overlap::GivenArgument> arguments,
                            const overlap::LaunchExtents& extents,
                            const overlap::VariableNumber& variable) const;
  // Of any execution of a launch, whatever the program's values are.
  overlap::BoundLaunch possible(const bind::PlannedStep& step, const bind::PlannedLaunch& launch);
  // Whether an execution of it was bound.
  bool has_bound(std::uint32_t launch) const { return sites_[launch].footprint != nullptr; }
  // Of the last execution of that launch.
  std::span<const overlap::GivenArgument> arguments(std::uint32_t launch) const {
    return sites_[launch].arguments;
  }

 private:
  struct Site {
    std::vector<overlap::GivenArgument> arguments;
    const overlap::Footprint* footprint = nullptr;
    Dim3 block;  // that the footprint was read for
    // The last execution, if others may differ from it by offsets alone.
    std::optional<overlap::BoundLaunch> bound;
    Dim3 grid;  // of that one
  };
  Site& site_of(const bind::LaunchExecution& execution);

  JudgedMemory& memory_;
  load::Footprints& footprints_;
  const KeptAddresses kept_;
  std::vector<Site> sites_;  // by launch
};

}  // namespace baton::edges
