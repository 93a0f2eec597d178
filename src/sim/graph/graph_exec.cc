// Graphs that are instantiated, and their updates.

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "sim/api/refusal.h"
#include "sim/graph/graph.h"
#include "sim/graph/user_object.h"

namespace baton::sim {
namespace {

using ExecStep = GraphExec::Step;

Milestone milestone_of(const CUgraphEdgeData& data) {
  if (data.type != CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) return Milestone::kDone;
  return data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER ? Milestone::kBegun
                                                                  : Milestone::kTriggered;
}

// As cuda.h lists them for CUDA_CONDITIONAL_NODE_PARAMS.
bool may_be_in_body(const NodeWork& work) {
  return !std::holds_alternative<HostCall>(work) && !std::holds_alternative<RecordWork>(work) &&
         !std::holds_alternative<WaitWork>(work) && !std::holds_alternative<AllocWork>(work) &&
         !std::holds_alternative<FreeWork>(work);
}

// Makes the steps of a graph, and in their place those of the graphs inside of it.
class StepMaker {
 public:
  explicit StepMaker(bool is_body) : is_body_(is_body) {}

  // `entry`: the step that all others come after; none for the outermost graph.
  void add(const SimGraph& graph, std::optional<std::size_t> entry) {
    std::unordered_map<const GraphNode*, std::vector<const GraphNode*>> next;
    std::unordered_map<const GraphNode*, std::size_t> blockers;
    std::vector<const GraphNode*> ready;
    for (const auto& node : graph.nodes()) {
      blockers[node.get()] = node->after.size();
      for (const GraphDependency& edge : node->after) next[edge.from.get()].push_back(node.get());
      if (node->after.empty()) ready.push_back(node.get());
    }
    // The step that stands for what comes after the node.
    std::unordered_map<const GraphNode*, std::size_t> places;
    for (std::size_t k = 0; k < ready.size(); ++k) {
      const GraphNode* node = ready[k];
      std::vector<GraphExec::Edge> after;
      for (const GraphDependency& edge : node->after) {
        after.push_back({places.at(edge.from.get()), milestone_of(edge.data)});
      }
      if (after.empty() && entry) after.push_back({*entry, Milestone::kDone});
      places[node] = add(*node, std::move(after));
      for (const GraphNode* later : next[node]) {
        if (--blockers[later] == 0) ready.push_back(later);
      }
    }
  }

  std::vector<ExecStep> take() { return std::move(steps_); }

 private:
  std::size_t add(const GraphNode& node, std::vector<GraphExec::Edge> after) {
    require(!is_body_ || may_be_in_body(node.work), CUDA_ERROR_NOT_SUPPORTED);
    const auto* inner = std::get_if<ChildWork>(&node.work);
    if (inner == nullptr) return push(node.handle, node.work, std::move(after));
    const std::size_t entry = push(nullptr, std::monostate{}, std::move(after));
    add(*inner->child->graph, entry);
    std::vector<GraphExec::Edge> ends;
    for (std::size_t k = entry; k < steps_.size(); ++k) {
      if (!steps_[k].has_next) ends.push_back({k, Milestone::kDone});
    }
    return push(node.handle, std::monostate{}, std::move(ends));
  }

  std::size_t push(CUgraphNode node, NodeWork work, std::vector<GraphExec::Edge> after) {
    for (const GraphExec::Edge& edge : after) {
      if (edge.at == Milestone::kDone) steps_[edge.step].has_next = true;
    }
    ExecStep& step = steps_.emplace_back();
    step.node = node;
    step.work = std::move(work);
    step.after = std::move(after);
    if (const auto* conditional = std::get_if<ConditionalWork>(&step.work)) {
      for (const auto& body : conditional->bodies->graphs) {
        StepMaker maker(true);
        maker.add(*body, std::nullopt);
        step.bodies.push_back(maker.take());
      }
    }
    return steps_.size() - 1;
  }

  const bool is_body_;
  std::vector<ExecStep> steps_;
};

std::vector<ExecStep> steps_of(const SimGraph& graph) {
  StepMaker maker(graph.is_body);
  maker.add(graph, std::nullopt);
  return maker.take();
}

// Every step, those in bodies too.
template <typename Steps, typename Use>
void for_each_step(Steps& steps, const Use& use) {
  for (auto& step : steps) {
    use(step);
    for (auto& body : step.bodies) for_each_step(body, use);
  }
}

// The graph, the bodies in it, and the graphs of its nodes.
template <typename Use>
void for_each_graph(const SimGraph& graph, const Use& use) {
  use(graph);
  for (const auto& node : graph.nodes()) {
    if (const auto* conditional = std::get_if<ConditionalWork>(&node->work)) {
      for (const auto& body : conditional->bodies->graphs) for_each_graph(*body, use);
    } else if (const auto* inner = std::get_if<ChildWork>(&node->work)) {
      for_each_graph(*inner->child->graph, use);
    }
  }
}

CUgraphExecUpdateResult compare_bodies(const ExecStep& old, const ExecStep& fresh);

// What an update may not change, as cuda.h lists it for cuGraphExecUpdate.
CUgraphExecUpdateResult compare(const ExecStep& old, const ExecStep& fresh) {
  if (old.work.index() != fresh.work.index()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  const auto same = [](const GraphExec::Edge& a, const GraphExec::Edge& b) {
    return a.step == b.step && a.at == b.at;
  };
  if (!std::equal(old.after.begin(), old.after.end(), fresh.after.begin(), fresh.after.end(),
                  same)) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  if (const auto* kernel = std::get_if<KernelWork>(&old.work)) {
    const auto& other = std::get<KernelWork>(fresh.work);
    if (kernel->launch.cooperative != other.launch.cooperative) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    }
    // A node stays in its context.
    if (kernel->launch.sms != other.launch.sms) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
  } else if (const auto* fill = std::get_if<Fill>(&old.work)) {
    const auto& other = std::get<Fill>(fresh.work);
    const bool flat = fill->rows == 1 && other.rows == 1;
    if (!flat && (fill->rows != other.rows || fill->count != other.count ||
                  fill->pitch != other.pitch || fill->width != other.width)) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
  } else if (const auto* alloc = std::get_if<AllocWork>(&old.work)) {
    if (alloc->memory != std::get<AllocWork>(fresh.work).memory) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    }
  } else if (const auto* release = std::get_if<FreeWork>(&old.work)) {
    if (release->address != std::get<FreeWork>(fresh.work).address) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    }
  } else if (const auto* conditional = std::get_if<ConditionalWork>(&old.work)) {
    if (conditional->type != std::get<ConditionalWork>(fresh.work).type) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
  }
  return compare_bodies(old, fresh);
}

std::optional<GraphExec::Mismatch> compare(const std::vector<ExecStep>& old,
                                           const std::vector<ExecStep>& fresh) {
  if (old.size() != fresh.size()) {
    return GraphExec::Mismatch{CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr};
  }
  for (std::size_t k = 0; k < old.size(); ++k) {
    const CUgraphExecUpdateResult result = compare(old[k], fresh[k]);
    if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return GraphExec::Mismatch{result, fresh[k].node};
  }
  return std::nullopt;
}

CUgraphExecUpdateResult compare_bodies(const ExecStep& old, const ExecStep& fresh) {
  if (old.bodies.size() != fresh.bodies.size()) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  for (std::size_t k = 0; k < old.bodies.size(); ++k) {
    if (const auto mismatch = compare(old.bodies[k], fresh.bodies[k])) return mismatch->result;
  }
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

void swap_works(std::vector<ExecStep>& old, std::vector<ExecStep>& fresh) {
  for (std::size_t k = 0; k < old.size(); ++k) {
    std::swap(old[k].work, fresh[k].work);
    for (std::size_t body = 0; body < old[k].bodies.size(); ++body) {
      swap_works(old[k].bodies[body], fresh[k].bodies[body]);
    }
  }
}

}  // namespace

GraphExec::GraphExec(const SimGraph& graph) : steps(steps_of(graph)) {
  for_each_graph(graph, [&](const SimGraph& each) {
    if (each.references != nullptr) {
      if (references == nullptr) references = std::make_shared<UserReferences>();
      references->add(*each.references);
    }
    for (const std::shared_ptr<SimCondition>& condition : each.conditions) {
      require(condition->has_node, CUDA_ERROR_INVALID_VALUE);
      if (condition->is_assigned) assigned.push_back(condition);
    }
  });
  for_each_step(steps, [&](ExecStep& step) {
    if (step.node != nullptr) places_[step.node] = &step;
    for (const Edge& edge : step.after) is_programmatic |= edge.at != Milestone::kDone;
  });
}

std::optional<GraphExec::Mismatch> GraphExec::update(GraphExec&& fresh) {
  if (auto mismatch = compare(steps, fresh.steps)) return mismatch;
  swap_works(steps, fresh.steps);
  std::swap(references, fresh.references);
  std::swap(assigned, fresh.assigned);
  return std::nullopt;
}

GraphExec::Step* GraphExec::step_of(CUgraphNode node) {
  const auto found = places_.find(node);
  return found == places_.end() ? nullptr : found->second;
}

std::vector<std::pair<CUgraphNode, driver::Counters>> GraphExec::counters() const {
  std::vector<std::pair<CUgraphNode, driver::Counters>> result;
  for_each_step(steps, [&](const ExecStep& step) {
    if (step.counted != nullptr) result.emplace_back(step.node, *step.counted);
  });
  return result;
}

bool GraphExec::has_conditionals() const {
  return std::ranges::any_of(steps, [](const ExecStep& step) { return !step.bodies.empty(); });
}

bool GraphExec::has_memory() const {
  return std::ranges::any_of(steps, [](const ExecStep& step) {
    return std::holds_alternative<AllocWork>(step.work) ||
           std::holds_alternative<FreeWork>(step.work);
  });
}

void GraphExec::begin_counting() {
  for_each_step(steps, [](ExecStep& step) {
    if (!std::holds_alternative<KernelWork>(step.work)) return;
    step.counted = std::make_shared<driver::Counters>();
  });
}

}  // namespace baton::sim
