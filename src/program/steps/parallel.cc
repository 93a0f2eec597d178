#include <array>

#include "program/expression/scope.h"
#include "program/reader/reader.h"
#include "program/steps/step_kind.h"
#include "program/writer/toml_table.h"
#include "program/writer/writer.h"

// parallel = [[ ... ], [ ... ]]

namespace baton {
namespace {

constexpr std::array<std::string_view, 1> kParallelKeys = {"parallel"};
// Each is a stream, or a branch of the graph.
constexpr std::size_t kMostBranches = 64;

StepAction read_parallel(const StepSource& source) {
  const TableReader table(source.document, source.node, source.what, kParallelKeys);
  const DocumentNode& branches = table.require("parallel");
  if (branches.kind != DocumentNode::Kind::kArray) {
    table.refuse(branches, "parallel", "an array of branches, each an array of steps");
  }
  ParallelStep result;
  for (std::size_t i = 0; i < branches.items.size(); ++i) {
    const std::string prefix = fmt::format("{}.{}.", source.what, i);
    result.branches.push_back(read_steps(source.document, branches.items[i], prefix));
  }
  return result;
}

}  // namespace

const StepKind kParallelStepKind = {"parallel", read_parallel};

void check_step(ParallelStep& step, ProgramScope& scope, const SourceLocation& where) {
  const std::size_t count = step.branches.size();
  if (count < 2 || count > kMostBranches) {
    throw error(ErrorCode::kInvalidInput, "the parallel has {} branches, it must have 2 to {}",
                count, kMostBranches);
  }
  scope.open_group({}, where);
  scope.open_events();
  for (std::size_t i = 0; i < count; ++i) {
    if (step.branches[i].empty()) {
      throw error(ErrorCode::kInvalidInput, "branch {} of the parallel has no steps", i);
    }
    scope.begin_branch(i);
    check_steps(step.branches[i], scope);
  }
  scope.close_events();
  scope.close_group({});
}

bool equal_steps(const ParallelStep& a, const ParallelStep& b) {
  return a.branches == b.branches;
}

void write_step(const ParallelStep& step, TomlTable& table) {
  std::string branches = "[\n";
  for (const std::vector<ProgramStep>& branch : step.branches) {
    branches += toml_steps(branch) + ",\n";
  }
  table.add("parallel", branches + "]");
}

}  // namespace baton
