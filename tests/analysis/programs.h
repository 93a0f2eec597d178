#pragma once

// The programs whose analysis is recorded.

#include <string>
#include <vector>

#include "analysis/chain_families.h"
#include "analysis/recorded_program.h"

namespace baton::record {

std::vector<RecordedProgram> chain_programs(const ChainFamily& family);
std::vector<RecordedProgram> number_programs();
std::vector<RecordedProgram> loop_programs();
std::vector<RecordedProgram> passing_programs();
// Kernels written by hand, with one part after the other replaced (case_programs.h).
struct CaseGroup {
  std::string name;
  std::vector<RecordedProgram> programs;
};
std::vector<CaseGroup> case_groups();
// Programs of the other families, each in a few ways with something in their text changed at
// random.
std::vector<CaseGroup> altered_programs();
// At the bounds of what the analysis follows.
std::vector<RecordedProgram> limit_programs();
// Every kernel of PTX files in the repository, each after itself and its neighbours.
std::vector<RecordedProgram> file_programs();

}  // namespace baton::record
