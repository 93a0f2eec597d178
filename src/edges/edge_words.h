#pragma once

// The sentences about edges. All of them are composed here.

#include <functional>
#include <string>

#include "baton/check.h"
#include "bind/plan.h"
#include "pdl/verdict/chain.h"

namespace baton::edges {

// The names that sentences use for a piece of memory ("y", "y and z") and for a kernel.
struct Names {
  std::function<std::string(overlap::MemoryId)> memory;
  std::function<std::string(const overlap::Footprint&)> kernel;
  // A launch by its number: "launch 3".
  std::function<std::string(std::uint32_t)> launch = launch_name;

  static std::string launch_name(std::uint32_t number);
};

// The reason for a verdict.
std::string describe(const overlap::Verdict& verdict, const Names& names);
// The reason for the decision about an edge.
std::string describe(EdgeDecision decision, const bind::PlannedEdge& edge);

}  // namespace baton::edges
