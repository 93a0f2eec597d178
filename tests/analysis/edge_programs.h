#pragma once

// Programs whose edges are recorded as `baton check` reports them.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/chain_families.h"
#include "analysis/section.h"

namespace baton::record {

struct EdgeProgram {
  std::string name;
  std::vector<Section> sections;
};

inline constexpr std::uint64_t kChainsAtOnce = 32, kStepPrograms = 240, kFieldPrograms = 160,
                               kCrowdedPrograms = 160, kBranchPrograms = 200;

// kChainsAtOnce chains of a family in one program.
EdgeProgram chain_edges(const ChainFamily& family, std::uint64_t number);
// Random steps of all kinds, over the kernels of src/session/testdata/edges.ptx.
EdgeProgram step_edges(std::uint64_t number);
// The same over kernels that take structs, and loop.
EdgeProgram field_edges(std::uint64_t number);
// The same with launches that fill multiprocessors.
EdgeProgram crowded_edges(std::uint64_t number);
// Random steps in branches that run side by side.
EdgeProgram branch_edges(std::uint64_t number);

}  // namespace baton::record
