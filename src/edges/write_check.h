#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/error.h"
#include "bind/binder.h"
#include "edges/judged_memory.h"
#include "pdl/footprint/bound.h"

namespace baton::edges {

// Looks for launches that write weights and inputs.
class WriteCheck {
 public:
  // `steps` is the number of operations that the search for writing threads may execute. Each check
  // subtracts those that it executed. Both arguments must outlive this object.
  WriteCheck(const JudgedMemory& memory, std::uint64_t& steps) : memory_(memory), steps_(steps) {}

  // Returns whether values of the launch were looked at.
  bool check(const bind::LaunchExecution& execution, const overlap::BoundLaunch& bound,
             std::span<const overlap::GivenArgument> arguments,
             const overlap::VariableNumber& variable);

  // The first launch that certainly writes memory that no kernel may write.
  const std::optional<Error>& forbidden() const { return forbidden_; }
  bool writes_weight() const { return writes_weight_; }  // whether that is a weight
  // Launches that perhaps do.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  const JudgedMemory& memory_;
  std::uint64_t& steps_;
  std::optional<Error> forbidden_;
  bool writes_weight_ = false;
  std::set<std::pair<std::uint32_t, overlap::MemoryId>> checked_;  // by launch
  std::vector<std::string> warnings_;
};

}  // namespace baton::edges
