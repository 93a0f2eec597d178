// What is said of edges is compared with a record of it, as record_test.cc does for kernels.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/edge_programs.h"
#include "analysis/record_file.h"

namespace baton::record::edge_record_test {
namespace {

template <typename ProgramOf>
void hold(const std::string& name, std::uint64_t count, const ProgramOf& program_of) {
  RecordFile record(name);
  for (std::uint64_t k = 0; k < count && !(record.differs() && GTEST_FLAG_GET(fail_fast)); ++k) {
    const EdgeProgram program = program_of(k);
    record.add(program.name, program.sections);
  }
  if (const std::string difference = record.end(); !difference.empty()) {
    ADD_FAILURE() << difference;
  }
}

class RecordOfEdges : public testing::TestWithParam<ChainFamily> {};

TEST_P(RecordOfEdges, OfChains) {
  hold(GetParam().name + "_edges", GetParam().count / kChainsAtOnce,
       [](std::uint64_t k) { return chain_edges(GetParam(), k); });
}

INSTANTIATE_TEST_SUITE_P(Of, RecordOfEdges, testing::ValuesIn(chain_families()),
                         [](const auto& family) { return family.param.name; });

TEST(EdgeRecord, OfSteps) {
  hold("steps", kStepPrograms, step_edges);
}

TEST(EdgeRecord, OfFields) {
  hold("fields", kFieldPrograms, field_edges);
}

TEST(EdgeRecord, OfCrowds) {
  hold("crowded", kCrowdedPrograms, crowded_edges);
}

TEST(EdgeRecord, OfBranches) {
  hold("branches", kBranchPrograms, branch_edges);
}

}  // namespace
}  // namespace baton::record::edge_record_test
