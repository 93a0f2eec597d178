// What the steps of an instantiated graph become when it is launched.

#include <algorithm>
#include <utility>

#include "sim/api/refusal.h"
#include "sim/graph/graph.h"
#include "sim/graph/graph_memory.h"
#include "sim/queue/event.h"

namespace baton::sim {
namespace {

using LaunchedStep = GraphExec::Step;
using LaunchedStepPtr = std::shared_ptr<const LaunchedStep>;

std::vector<CommandPtr> submit_all(const std::vector<LaunchedStep>& steps,
                                   const LaunchedStepPtr& owner, std::span<const Dependency> before,
                                   const Turns::Submit& submit);

// The turns of a conditional node. The step is this launch's own copy: later updates of the graph
// do not change it.
class StepTurns : public Turns {
 public:
  explicit StepTurns(LaunchedStepPtr step) : step_(std::move(step)) {}

  std::optional<std::vector<CommandPtr>> next(const Submit& submit) override {
    const auto& work = std::get<ConditionalWork>(step_->work);
    if (std::exchange(was_taken_, true) && work.type != CU_GRAPH_COND_TYPE_WHILE)
      return std::nullopt;
    const std::size_t body = chosen(work.type, work.condition->value->value);
    if (body >= step_->bodies.size()) return std::nullopt;
    return submit_all(step_->bodies[body], step_, {}, submit);
  }

 private:
  // The number of the body that a value chooses; there may be none of that number.
  static std::size_t chosen(CUgraphConditionalNodeType type, unsigned value) {
    switch (type) {
      case CU_GRAPH_COND_TYPE_IF:
      case CU_GRAPH_COND_TYPE_WHILE:
        return value != 0 ? 0 : 1;
      case CU_GRAPH_COND_TYPE_SWITCH:
        return value;
    }
    return SIZE_MAX;
  }

  const LaunchedStepPtr step_;
  bool was_taken_ = false;
};

// `owner`: the copy that the step is a part of; null: none has been made.
Work work_of(const LaunchedStep& step, const LaunchedStepPtr& owner,
             const std::shared_ptr<Occurrence>& occurrence) {
  const NodeWork& node = step.work;
  if (!step.is_enabled) return Join{};
  if (const auto* kernel = std::get_if<KernelWork>(&node)) return kernel->launch;
  if (const auto* copy = std::get_if<CopyWork>(&node)) {
    return Copy{copy->target, copy->source, copy->bytes, {}, copy->rows, copy->slices};
  }
  if (const auto* fill = std::get_if<Fill>(&node)) return *fill;
  if (const auto* call = std::get_if<HostCall>(&node)) return *call;
  if (const auto* alloc = std::get_if<AllocWork>(&node)) {
    return Alloc{alloc->memory->heap(), alloc->memory->address(), alloc->memory};
  }
  if (const auto* release = std::get_if<FreeWork>(&node)) {
    return Free{release->heap, release->address, release->memory};
  }
  if (std::holds_alternative<RecordWork>(node)) return Record{occurrence};
  if (std::holds_alternative<ConditionalWork>(node)) {
    LaunchedStepPtr own = owner != nullptr ? LaunchedStepPtr(owner, &step)
                                           : std::make_shared<const LaunchedStep>(step);
    return Turn{std::make_shared<StepTurns>(std::move(own)), nullptr};
  }
  return Join{};
}

std::vector<CommandPtr> submit_all(const std::vector<LaunchedStep>& steps,
                                   const LaunchedStepPtr& owner, std::span<const Dependency> before,
                                   const Turns::Submit& submit) {
  std::vector<CommandPtr> commands;
  for (const LaunchedStep& step : steps) {
    std::vector<Dependency> after;
    if (step.after.empty()) after.assign(before.begin(), before.end());
    for (const GraphExec::Edge& edge : step.after) {
      after.push_back({commands[edge.step], edge.at, edge.at != Milestone::kDone});
    }
    if (const auto* wait = std::get_if<WaitWork>(&step.work)) {
      after.push_back({wait->event->recorded});
    }
    auto occurrence = std::make_shared<Occurrence>();
    commands.push_back(submit(work_of(step, owner, occurrence), after));
    commands.back()->counted = step.counted;
    if (const auto* record = std::get_if<RecordWork>(&step.work)) {
      record->event->recorded = commands.back();
      record->event->occurrence = std::move(occurrence);
    }
  }
  return commands;
}

}  // namespace

std::vector<Free> take_memory(const GraphExec& exec) {
  std::vector<std::shared_ptr<GraphMemory>> taken;
  std::vector<FreeWork> freed;
  std::vector<Free> first;
  for (const GraphExec::Step& step : exec.steps) {
    if (const auto* alloc = std::get_if<AllocWork>(&step.work)) taken.push_back(alloc->memory);
    if (const auto* release = std::get_if<FreeWork>(&step.work)) freed.push_back(*release);
  }
  const auto is_claimed = [](const auto& memory) {
    return memory->heap()->is_claimed(memory->address());
  };
  const bool frees = (exec.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
  require(frees || std::ranges::none_of(taken, is_claimed), CUDA_ERROR_INVALID_VALUE);
  for (const FreeWork& release : freed) {
    const bool is_own = std::ranges::any_of(
        taken, [&](const auto& memory) { return memory->address() == release.address; });
    require(is_own || release.heap->is_claimed(release.address), CUDA_ERROR_INVALID_VALUE);
  }
  for (const auto& memory : taken) {
    if (is_claimed(memory) && memory->heap()->begin_free(memory->address())) {
      first.push_back({memory->heap(), memory->address(), memory});
    }
    memory->heap()->claim(memory->address());
  }
  for (const FreeWork& release : freed) release.heap->begin_free(release.address);
  return first;
}

std::vector<CommandPtr> submit_steps(const std::vector<GraphExec::Step>& steps,
                                     std::span<const Dependency> before,
                                     const Turns::Submit& submit) {
  return submit_all(steps, nullptr, before, submit);
}

}  // namespace baton::sim
