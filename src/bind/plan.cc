#include "bind/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/overloaded.h"
#include "base/text/text.h"
#include "bind/edge_mode.h"
#include "image/names/param_types.h"
#include "program/attributes.h"

namespace baton::bind {
namespace {

using bind::uses_slot;  // of expressions, copies and fills

bool config_uses_slot(const PlannedLaunch& step, std::size_t slot) {
  return uses_slot(step.grid, slot) || uses_slot(step.block, slot) ||
         uses_slot(step.shared, slot) ||
         std::any_of(step.attributes.begin(), step.attributes.end(),
                     [slot](const PlannedAttribute& each) { return each.uses_slot(slot); });
}

bool uses_slot(const PlannedLaunch& step, std::size_t slot) {
  return config_uses_slot(step, slot) ||
         std::any_of(step.args.begin(), step.args.end(),
                     [slot](const PlannedArgument& arg) { return arg.uses_slot(slot); });
}

bool uses_slot(const PlannedRepeat& step, std::size_t slot) {
  return step.count.uses_slot(slot) || uses_slot(step.steps, slot);
}

bool uses_slot(const PlannedCondition& step, std::size_t slot) {
  return uses_slot(step.test, slot) || uses_slot(step.steps, slot);
}

bool uses_slot(const PlannedBranch& branch, std::size_t slot) {
  return uses_slot(branch.steps, slot);
}

bool uses_slot(const PlannedParallel& step, std::size_t slot) {
  return uses_slot(step.steps, slot);
}

class Planner {
 public:
  Planner(const Program& program, const BufferTable& buffers, PdlMode pdl,
          const std::function<Kernel(const std::string&)>& kernel, ParamNaming naming)
      : program_(program), buffers_(buffers), pdl_(pdl), kernel_(kernel) {
    if (naming) plan_.naming = std::make_shared<const ParamNaming>(std::move(naming));
    for (const ProgramSymbol& symbol : program.symbols()) names_.push(symbol.name);
    defaults_.reserve(program.kernels().size());
    for (const ProgramKernel& each : program.kernels()) defaults_.emplace(each.name, &each.launch);
    plan_.slots = names_.size();
  }

  Plan make() {
    plan_.steps = plan(program_.steps());
    link(plan_.steps, nullptr);
    return std::move(plan_);
  }

 private:
  std::vector<PlannedStep> plan(const std::vector<ProgramStep>& steps) {
    std::vector<PlannedStep> result;
    result.reserve(steps.size());
    for (const ProgramStep& step : steps) {
      try {
        result.push_back(
            std::visit([&](const auto& action) { return plan(action, step); }, step.action));
      } catch (Error& failure) {
        failure.at(step.where);
        throw;
      }
    }
    return result;
  }

  // Called once the steps no longer move.
  static void link(std::vector<PlannedStep>& steps, const PlannedStep* group) {
    for (PlannedStep& step : steps) {
      step.group = group;
      if (auto* inner = const_cast<std::vector<PlannedStep>*>(inner_steps(step))) {
        link(*inner, &step);
      }
    }
  }

  template <typename Action>
  PlannedStep leaf(Action&& action, const ProgramStep& source, std::string label) {
    return {std::forward<Action>(action), &source, plan_.leaves++, std::move(label)};
  }

  std::vector<BoundExpression> bind(const std::vector<Expression>& expressions) const {
    std::vector<BoundExpression> result;
    result.reserve(expressions.size());
    for (const Expression& expression : expressions) {
      result.emplace_back(expression.code(), names_);
    }
    return result;
  }

  PlannedStep plan(const LaunchStep& step, const ProgramStep& source) {
    // In its place from the beginning: it is large.
    PlannedStep planned{PlannedLaunch(kernel_(step.kernel)), &source, 0, step.kernel};
    PlannedLaunch& launch = std::get<PlannedLaunch>(planned.action);
    const ProgramAttributes& defaults = *defaults_.at(step.kernel);
    const ProgramAttributes& own = step.attributes;
    launch.grid = bind(step.grid);
    launch.block =
        step.block.empty() ? bind(fixed_block(launch.kernel, step.kernel)) : bind(step.block);
    launch.shared = bind_expression(own.shared ? own.shared : defaults.shared, names_);
    const auto placement = own.placement ? own.placement : defaults.placement;
    launch.even = placement == BlockPlacement::kEven;
    plan_attributes(defaults, own, launch);
    note_cooperation(defaults, own, launch.kernel, step.kernel);
    launch.edge = plan_edge(own.pdl ? own : defaults, pdl_off_, pdl_, launch.kernel);
    plan_arguments(step, launch);
    note_what_varies(launch);
    plan_events(step, launch);
    launch.number = plan_.launches++;
    launch.lane = lane_;
    launch.part = plan_part(own.sms ? own.sms : defaults.sms, step, launch);
    planned.leaf = plan_.leaves++;
    return planned;
  }

  // Launches of a lane follow one another, so that those with equal expressions share a part.
  std::optional<std::uint32_t> plan_part(const std::optional<Expression>& sms,
                                         const LaunchStep& step, const PlannedLaunch& launch) {
    if (!sms || sms->literal() == 0) return std::nullopt;
    const auto refuse = [&](std::string_view why) {
      throw error_at(sms->where(), ErrorCode::kInvalidInput,
                     "the launch of {} has sms = {}, and {}; leave sms out there, or write sms = 0",
                     printable(step.kernel), printable(sms->text()), why);
    };
    if (conditions_ != 0) {
      refuse("is in an if or a while, whose steps have one context in a graph");
    }
    if (!launch.events.empty() || !launch.after.empty()) {
      refuse("has events, which order launches of one context");
    }
    BoundExpression bound(sms->code(), names_);
    for (std::size_t slot = program_.symbols().size(); slot < names_.size(); ++slot) {
      if (bound.uses_slot(slot)) {
        refuse("depends on the index of a repeat: parts are split once, when the program is bound");
      }
    }
    for (std::uint32_t number = 0; number < plan_.parts.size(); ++number) {
      if (plan_.parts[number].lane == lane_ && part_texts_[number] == *sms) return number;
    }
    part_texts_.push_back(*sms);
    plan_.parts.push_back({lane_, std::move(bound), sms->where()});
    return static_cast<std::uint32_t>(plan_.parts.size() - 1);
  }

  // Slots after those of the symbols belong to the enclosing groups.
  void note_what_varies(PlannedLaunch& launch) const {
    const auto in_group = [&](auto&& uses) {
      for (std::size_t slot = program_.symbols().size(); slot < names_.size(); ++slot) {
        if (uses(slot)) return true;
      }
      return false;
    };
    launch.config_varies =
        in_group([&](std::size_t slot) { return config_uses_slot(launch, slot); });
    for (std::uint32_t i = 0; i < launch.args.size(); ++i) {
      if (in_group([&](std::size_t slot) { return launch.args[i].uses_slot(slot); })) {
        launch.varying_args.push_back(i);
      }
    }
  }

  // Validation has seen that each event is recorded in an earlier branch.
  void plan_events(const LaunchStep& step, PlannedLaunch& launch) {
    const auto record = [&](const std::string& name, PlannedEvent::Kind kind) {
      if (name.empty()) return;
      launch.events.push_back({plan_.events++, kind});
      events_[name] = launch.events.back();
    };
    record(step.programmatic_event, PlannedEvent::Kind::kProgrammatic);
    record(step.launch_completion_event, PlannedEvent::Kind::kLaunchCompletion);
    for (const std::string& name : step.after) launch.after.push_back(events_.at(name));
  }

  // The step's own attributes, and the defaults that it does not override.
  void plan_attributes(const ProgramAttributes& defaults, const ProgramAttributes& own,
                       PlannedLaunch& launch) {
    const auto add = [&](const ProgramAttribute& attribute) {
      if (!is_off(attribute)) launch.attributes.emplace_back(attribute, names_, buffers_);
    };
    for (const ProgramAttribute& attribute : defaults.list) {
      if (own.find(attribute.name) == nullptr) add(attribute);
    }
    for (const ProgramAttribute& attribute : own.list) add(attribute);
  }

  // Blocks that wait for each other across the grid have to be there together.
  void note_cooperation(const ProgramAttributes& defaults, const ProgramAttributes& own,
                        const Kernel& kernel, const std::string& name) {
    if (!kernel.cooperative().value_or(false)) return;
    const ProgramAttribute* asked = own.find("cooperative");
    if (asked == nullptr) asked = defaults.find("cooperative");
    if (asked != nullptr && !is_off(*asked)) return;
    plan_.warnings.push_back(
        fmt::format("{} meets across its grid (grid.sync()), and its launch is not cooperative; "
                    "write cooperative = true",
                    printable(name)));
  }

  static std::vector<Expression> fixed_block(const Kernel& kernel, const std::string& name) {
    const auto& block = kernel.facts().required_block;
    if (!block) {
      throw error(ErrorCode::kInvalidInput,
                  "the launch of {} has no block, and its image does not fix one; write "
                  "block = [...]",
                  printable(name));
    }
    return {(*block)[0], (*block)[1], (*block)[2]};
  }

  ValuePlace place_of(const LaunchStep& step, std::size_t index) const {
    return {step.kernel, index, plan_.naming.get()};
  }

  // "saxpy(float* y, float const* x, float alpha, int n)".
  std::string signature(const std::string& kernel, const std::vector<ParamFacts>& params) const {
    std::vector<std::string> declared;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const std::string name = plan_.naming ? (*plan_.naming)(kernel, i) : "";
      declared.push_back(image::declaration_text(params[i], name));
    }
    return fmt::format("{}({})", kernel, fmt::join(declared, ", "));
  }

  void plan_arguments(const LaunchStep& step, PlannedLaunch& launch) {
    const KernelFacts& facts = launch.kernel.facts();
    if (!facts.params) {
      throw error(ErrorCode::kInvalidInput,
                  "the image of {} does not tell what parameters the kernel {} has",
                  printable(step.kernel), facts.demangled);
    }
    const std::vector<ParamFacts>& params = *facts.params;
    if (step.args.size() != params.size()) {
      throw error(ErrorCode::kInvalidInput, "the kernel {} takes {} argument{}, {} {} given",
                  signature(step.kernel, params), params.size(), params.size() == 1 ? "" : "s",
                  step.args.size(), step.args.size() == 1 ? "is" : "are");
    }
    launch.args.reserve(params.size());
    for (std::size_t i = 0; i < params.size(); ++i) {
      launch.args.emplace_back(step.args[i], params[i], place_of(step, i), launch.kernel.device(),
                               names_, buffers_);
      note_buffer(launch.args.back(), params[i], step, i, launch);
    }
    std::vector<ArgumentType> types;
    types.reserve(params.size());
    for (const PlannedArgument& arg : launch.args) types.push_back(arg.type());
    launch.kernel.check(types);
  }

  void note_buffer(const PlannedArgument& arg, const ParamFacts& param, const LaunchStep& step,
                   std::size_t index, PlannedLaunch& launch) {
    for (const PlannedArgument::Part& part : arg.parts()) {
      if (part.value.buffer()) note_buffer(*part.value.buffer(), param, step, index, launch);
    }
  }

  void note_buffer(std::uint32_t buffer, const ParamFacts& param, const LaunchStep& step,
                   std::size_t index, PlannedLaunch& launch) {
    if (std::find(launch.buffers.begin(), launch.buffers.end(), buffer) == launch.buffers.end()) {
      launch.buffers.push_back(buffer);
    }
    const ProgramBuffer& definition = *buffers_[buffer].definition;
    if (!param.dtype || !looks_wrong(definition.dtype, *param.dtype)) return;
    const ValuePlace place = place_of(step, index);
    plan_.warnings.push_back(fmt::format("{} is {} of {}, the parameter is {}", place.text(),
                                         definition.name, to_string(definition.dtype),
                                         image::declaration_text(param, place.parameter_name())));
  }

  // Bytes may stand for anything, and integers for what else has their size.
  static bool looks_wrong(DType given, DType wanted) {
    if (given == wanted || size_of(wanted) == 1 || size_of(given) == 1) return false;
    if (size_of(given) != size_of(wanted)) return true;
    return is_float(given) && is_float(wanted);
  }

  PlannedStep plan(const CollectiveStep& step, const ProgramStep& source) {
    PlannedCollective planned = plan_step(step, *program_.world(), names_, buffers_);
    planned.edge = plan_edge(pdl_off_, pdl_);
    return leaf(std::move(planned), source, label_of(step));
  }

  // A copy or a fill: its own file in bind/steps plans it.
  template <typename Step>
  PlannedStep plan(const Step& step, const ProgramStep& source) {
    return leaf(plan_step(step, names_, buffers_), source, label_of(step));
  }

  PlannedStep plan(const RepeatStep& step, const ProgramStep& source) {
    PlannedRepeat repeat;
    repeat.count = BoundExpression(step.count.code(), names_);
    repeat.index = step.index;
    repeat.slot = names_.push(step.index);
    plan_.slots = std::max(plan_.slots, names_.size());
    repeat.steps = plan(step.steps);
    names_.pop();
    repeat.varies = uses_slot(repeat.steps, repeat.slot);
    return {std::move(repeat), &source, 0, {}};
  }

  PlannedStep plan(const IfStep& step, const ProgramStep& source) {
    return plan_condition(step, source);
  }
  PlannedStep plan(const WhileStep& step, const ProgramStep& source) {
    return plan_condition(step, source);
  }

  // Lanes of a parallel that is done are free for the next one.
  PlannedStep plan(const ParallelStep& step, const ProgramStep& source) {
    PlannedParallel parallel;
    const auto outer_events = std::exchange(events_, {});
    const std::uint32_t own = lane_;
    const std::uint32_t before = used_lanes_;
    const std::uint32_t outer_top = top_lane_;
    used_lanes_ += static_cast<std::uint32_t>(step.branches.size()) - 1;
    for (std::uint32_t i = 0; i < step.branches.size(); ++i) {
      lane_ = i == 0 ? own : before + i - 1;
      top_lane_ = used_lanes_;
      parallel.steps.push_back({PlannedBranch{lane_, plan(step.branches[i])}, &source, 0, {}});
      // The lanes of groups in this branch are in use while the other branches run.
      used_lanes_ = top_lane_;
    }
    lane_ = own;
    events_ = outer_events;
    top_lane_ = std::max(outer_top, used_lanes_);
    plan_.lanes = std::max(plan_.lanes, used_lanes_);
    used_lanes_ = before;
    return {std::move(parallel), &source, 0, {}};
  }

  template <typename Step>
  PlannedStep plan_condition(const Step& step, const ProgramStep& source) {
    const std::uint32_t number = plan_.conditions++;
    ++conditions_;
    PlannedCondition condition{plan_test(step, names_, buffers_), plan(step.steps)};
    --conditions_;
    return {std::move(condition), &source, number, label_of(step)};
  }

  const Program& program_;
  const BufferTable& buffers_;
  const bool pdl_off_ = pdl_switched_off();
  const PdlMode pdl_;
  const std::function<Kernel(const std::string&)>& kernel_;
  std::unordered_map<std::string_view, const ProgramAttributes*> defaults_;  // of the kernels
  NameSlots names_;
  std::unordered_map<std::string, PlannedEvent> events_;  // of the parallel around the steps
  std::vector<Expression> part_texts_;                    // the sizes of the parts
  std::uint32_t conditions_ = 0;                          // around the steps
  std::uint32_t lane_ = 0;                                // that the planned steps belong to
  std::uint32_t used_lanes_ = 1;                          // by what runs at the same time
  std::uint32_t top_lane_ = 1;  // the most of these, in the branch that is planned
  Plan plan_;
};

}  // namespace

bool uses_slot(const std::vector<PlannedStep>& steps, std::size_t slot) {
  return std::any_of(steps.begin(), steps.end(), [slot](const PlannedStep& step) {
    return std::visit([slot](const auto& action) { return uses_slot(action, slot); }, step.action);
  });
}

std::string indexes_text(const PlannedStep& step, std::span<const std::int64_t> slots) {
  std::string text;
  for (const auto& [name, value] : indexes_of(step, slots)) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

std::vector<std::pair<std::string, std::int64_t>> indexes_of(const PlannedStep& step,
                                                             std::span<const std::int64_t> slots) {
  std::vector<std::pair<std::string, std::int64_t>> indexes;
  for (const PlannedStep* group = step.group; group != nullptr; group = group->group) {
    const auto* repeat = std::get_if<PlannedRepeat>(&group->action);
    if (repeat == nullptr || repeat->index.empty()) continue;
    indexes.emplace(indexes.begin(), repeat->index, slots[repeat->slot]);
  }
  return indexes;
}

bool is_conditional(const PlannedStep& step) {
  for (const PlannedStep* group = step.group; group != nullptr; group = group->group) {
    if (std::holds_alternative<PlannedCondition>(group->action)) return true;
  }
  return false;
}

std::optional<std::size_t> index_slot(const PlannedStep& step) {
  for (const PlannedStep* group = step.group; group != nullptr; group = group->group) {
    if (const auto* repeat = std::get_if<PlannedRepeat>(&group->action)) return repeat->slot;
  }
  return std::nullopt;
}

const std::vector<PlannedStep>* inner_steps(const PlannedStep& step) {
  using Steps = const std::vector<PlannedStep>*;
  return std::visit(Overloaded{[](const PlannedLaunch&) -> Steps { return nullptr; },
                               [](const PlannedCopy&) -> Steps { return nullptr; },
                               [](const PlannedFill&) -> Steps { return nullptr; },
                               [](const PlannedCollective&) -> Steps { return nullptr; },
                               [](const PlannedRepeat& group) { return &group.steps; },
                               [](const PlannedCondition& group) { return &group.steps; },
                               [](const PlannedParallel& group) { return &group.steps; },
                               [](const PlannedBranch& group) { return &group.steps; }},
                    step.action);
}

Plan make_plan(const Program& program, const BufferTable& buffers, PdlMode pdl,
               const std::function<Kernel(const std::string& name)>& kernel, ParamNaming naming) {
  return Planner(program, buffers, pdl, kernel, std::move(naming)).make();
}

}  // namespace baton::bind
