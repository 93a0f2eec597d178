#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "baton/module.h"
#include "baton/program.h"
#include "bind/argument.h"
#include "bind/buffers.h"
#include "bind/planned_attribute.h"
#include "bind/planned_edge.h"
#include "bind/steps/collective.h"
#include "bind/steps/copy.h"
#include "bind/steps/fill.h"
#include "bind/steps/test.h"
#include "program/expression/bound_expression.h"

namespace baton::bind {

// The steps of a program with everything resolved that does not depend on symbols: kernels found,
// arguments checked against parameters, names turned into slots. Immutable once made; threads may
// share it.

// An event that a launch records.
struct PlannedEvent {
  std::uint32_t number = 0;  // among the program's events
  enum class Kind : std::uint8_t {
    kProgrammatic,      // every block has triggered or ended
    kLaunchCompletion,  // every block has begun
  } kind = Kind::kProgrammatic;
};

// A part of the SMs that launches of one lane run on. All parts of a plan are disjoint.
struct PlannedPart {
  std::uint32_t lane = 0;
  BoundExpression sms;  // over symbols
  SourceLocation where;
};

struct PlannedLaunch {
  explicit PlannedLaunch(Kernel loaded) : kernel(std::move(loaded)) {}

  Kernel kernel;
  std::uint32_t number = 0;           // among the program's launches, in its order
  std::uint32_t lane = 0;             // as in PlannedBranch
  std::optional<std::uint32_t> part;  // of the plan; nothing: all of the device
  std::vector<BoundExpression> grid, block;
  std::optional<BoundExpression> shared;
  bool even = false;  // its blocks must spread evenly where it starts early
  std::vector<PlannedAttribute> attributes;
  PlannedEdge edge;
  std::vector<PlannedArgument> args;
  std::vector<std::uint32_t> buffers;  // the distinct buffers among the arguments
  std::vector<PlannedEvent> events;    // that it records
  std::vector<PlannedEvent> after;     // of launches in other branches, that it comes after

  // The parts that depend on the index of an enclosing group.
  bool config_varies = false;
  std::vector<std::uint32_t> varying_args;
  bool varies() const { return config_varies || !varying_args.empty(); }
};

struct PlannedStep;

struct PlannedRepeat {
  BoundExpression count;
  std::uint32_t slot = 0;  // of the index, which has a slot even where it has no name
  std::string index;       // empty: the index has no name
  bool varies = false;     // whether any step inside depends on the index
  std::vector<PlannedStep> steps;
};

// An if or a while.
struct PlannedCondition {
  PlannedTest test;
  std::vector<PlannedStep> steps;
};

// One branch of a parallel. Its lane is a stream, or a branch of the graph. Lane 0 is the run's
// own; the first branch has the lane of the steps around the parallel.
struct PlannedBranch {
  std::uint32_t lane = 0;
  std::vector<PlannedStep> steps;
};

// Its steps are branches, at least two. Nothing else has branches.
struct PlannedParallel {
  std::vector<PlannedStep> steps;
};

struct PlannedStep {
  std::variant<PlannedLaunch, PlannedCopy, PlannedFill, PlannedCollective, PlannedRepeat,
               PlannedCondition, PlannedParallel, PlannedBranch>
      action;
  const ProgramStep* source = nullptr;  // owned by the program
  // The number among launches, copies, fills and collectives. Of a condition: the number among
  // conditions.
  std::uint32_t leaf = 0;
  std::string label;                   // "rmsnorm", "copy y -> z + N", "fill z", "while go"
  const PlannedStep* group = nullptr;  // the group around it; null: none
};

// The steps inside of a group; null for other steps.
const std::vector<PlannedStep>* inner_steps(const PlannedStep& step);

// The named indexes around a step with their values, outermost first.
std::vector<std::pair<std::string, std::int64_t>> indexes_of(const PlannedStep& step,
                                                             std::span<const std::int64_t> slots);
// The same as a text: "layer = 3, i = 0".
std::string indexes_text(const PlannedStep& step, std::span<const std::int64_t> slots);
// Whether the step is inside of an if or a while.
bool is_conditional(const PlannedStep& step);
// The slot of the index of the innermost repeat around a step.
std::optional<std::size_t> index_slot(const PlannedStep& step);

struct Plan {
  Plan() = default;
  Plan(const Plan&) = delete;  // steps point at each other
  Plan& operator=(const Plan&) = delete;
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;

  std::vector<PlannedStep> steps;
  std::uint32_t leaves = 0;
  std::uint32_t launches = 0;
  std::uint32_t conditions = 0;
  std::uint32_t lanes = 1;
  std::uint32_t events = 0;
  std::vector<PlannedPart> parts;
  std::size_t slots = 0;              // of symbols and of open repeats
  std::vector<std::string> warnings;  // what is legal and looks wrong
  std::shared_ptr<const ParamNaming> naming;
};

// Whether any of the steps depends on the slot.
bool uses_slot(const std::vector<PlannedStep>& steps, std::size_t slot);

// `kernel` returns the loaded kernel of a name in the program. `pdl` is the mode of steps that say
// auto. Throws kInvalidInput, at the step's or the argument's place, for arguments that do not fit
// the kernel and for a missing block. The plan keeps `naming`, and what its arguments throw later
// calls it too.
Plan make_plan(const Program& program, const BufferTable& buffers, PdlMode pdl,
               const std::function<Kernel(const std::string& name)>& kernel,
               ParamNaming naming = {});

}  // namespace baton::bind
