#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "baton/launch_plan.h"
#include "baton/program.h"
#include "exec/argument.h"
#include "exec/buffers.h"
#include "exec/planned_attribute.h"
#include "program/bound_expression.h"

namespace baton::exec {

// The steps of a program with everything resolved that does not depend on symbols: kernels found,
// arguments held against parameters, names turned into slots. Belongs to one executable: launches
// keep their packed arguments in it, so one thread at a time.

// What a launch makes of the edge from the step before.
struct PlannedEdge {
  PdlMode mode = PdlMode::kAuto;  // after all that overrides the step
  bool insisted = false;          // the program itself says so: what cannot be is an error
  std::string because;            // what decided the mode: "BATON_PDL=off", "the step says on"
  SourceLocation where;           // of the step's pdl
};

struct PlannedLaunch {
  explicit PlannedLaunch(Kernel loaded) : kernel(std::move(loaded)) {}

  Kernel kernel;
  std::uint32_t number = 0;  // among the program's launches, in its order
  std::vector<BoundExpression> grid, block;
  std::optional<BoundExpression> shared;
  bool even = false;  // its blocks are to spread evenly where it starts early
  std::vector<PlannedAttribute> attributes;
  PlannedEdge edge;
  std::vector<PlannedArgument> args;
  std::vector<std::uint32_t> buffers;  // the distinct ones it is passed

  bool varies = false;  // with an index of a group it stands in

  // What is sent: made at the first launch, patched at each further one. Its config was checked.
  std::optional<LaunchPlan> sent;
};

struct PlannedCopy {
  std::uint32_t from = 0, to = 0;
  std::optional<BoundExpression> from_offset, to_offset, count;  // in elements
};

struct PlannedFill {
  std::uint32_t buffer = 0;
  std::variant<std::uint64_t, BoundExpression> value;  // stored bits, or an integer
};

struct PlannedStep;

struct PlannedRepeat {
  BoundExpression count;
  std::uint32_t slot = 0;  // of the index; there is one even where it has no name
  std::string index;       // empty: none
  bool varies = false;     // whether any step inside depends on the index
  std::vector<PlannedStep> steps;
};

struct PlannedStep {
  std::variant<PlannedLaunch, PlannedCopy, PlannedFill, PlannedRepeat> action;
  const ProgramStep* source = nullptr;  // owned by the program
  std::uint32_t leaf = 0;               // number among the steps that are no repeats
  std::string label;                    // "rmsnorm", "copy y -> z + N", "fill z"
};

struct Plan {
  std::vector<PlannedStep> steps;
  std::uint32_t leaves = 0;
  std::uint32_t launches = 0;
  std::size_t slots = 0;              // of symbols and of open repeats
  std::vector<std::string> warnings;  // what is legal and looks wrong
};

// `kernel` gives the loaded kernel of that name in the program, `pdl` is the mode of steps that say
// auto. Throws kInvalidInput, at the step's
// or the argument's place, for arguments that do not fit the kernel and for a block that nobody
// gives.
Plan make_plan(const Program& program, const BufferTable& buffers, PdlMode pdl,
               const std::function<Kernel(const std::string& name)>& kernel);

}  // namespace baton::exec
