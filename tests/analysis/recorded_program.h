#pragma once

// A program whose analysis is recorded: launches of kernels of one module.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pdl/footprint/address_binder.h"
#include "ptx/ast.h"

namespace baton::record {

// Memory of every program: 'w' is a weight, and 'f' has frozen rows that 'c' counts.
inline constexpr overlap::MemoryId kWeight = 'w', kFrozen = 'f', kCounter = 'c';

struct RecordedLaunch {
  const ptx::Function* kernel = nullptr;
  std::vector<overlap::GivenArgument> arguments;
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {32, 1, 1};
  bool programmatic = true;
};

struct RecordedProgram {
  std::string name;  // "ordered/17"
  std::shared_ptr<const ptx::ParsedModule> module;
  std::vector<RecordedLaunch> launches;
};

}  // namespace baton::record
