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

  // The steps of a graph inside of a node, between one that begins it and the node's own.
  std::size_t add_inside(CUgraphNode node, const SimGraph& graph,
                         std::vector<GraphExec::Edge> after) {
    const std::size_t entry = push(nullptr, std::monostate{}, std::move(after));
    add(graph, entry);
    std::vector<GraphExec::Edge> ends;
    for (std::size_t k = entry; k < steps_.size(); ++k) {
      if (!steps_[k].has_next) ends.push_back({k, Milestone::kDone});
    }
    const std::size_t end = push(node, std::monostate{}, std::move(ends));
    steps_[end].entry = entry;
    return end;
  }

  std::vector<ExecStep> take() { return std::move(steps_); }

 private:
  std::size_t add(const GraphNode& node, std::vector<GraphExec::Edge> after) {
    require(!is_body_ || may_be_in_body(node.work), CUDA_ERROR_NOT_SUPPORTED);
    const auto* inner = std::get_if<ChildWork>(&node.work);
    return inner == nullptr ? push(node.handle, node.work, std::move(after))
                            : add_inside(node.handle, *inner->child->graph, std::move(after));
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

bool is_same_place(const CopySide& a, const CopySide& b) {
  return is_host(a) == is_host(b) && (is_host(a) || a.heap == b.heap);
}

// What an update may not change of a node, as cuda.h lists it for cuGraphExecUpdate.
CUgraphExecUpdateResult compare(const NodeWork& old, const NodeWork& fresh) {
  if (old.index() != fresh.index()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  if (const auto* kernel = std::get_if<KernelWork>(&old)) {
    const auto& other = std::get<KernelWork>(fresh);
    if (kernel->launch.cooperative != other.launch.cooperative) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    }
    // A node stays in its context.
    if (kernel->launch.sms != other.launch.sms) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
  } else if (const auto* fill = std::get_if<Fill>(&old)) {
    const auto& other = std::get<Fill>(fresh);
    const bool flat = fill->rows == 1 && other.rows == 1;
    if (!flat && (fill->rows != other.rows || fill->count != other.count ||
                  fill->pitch != other.pitch || fill->width != other.width)) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
  } else if (const auto* copy = std::get_if<CopyWork>(&old)) {
    const auto& other = std::get<CopyWork>(fresh);
    if (!is_same_place(copy->target, other.target) || !is_same_place(copy->source, other.source)) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
  } else if (const auto* alloc = std::get_if<AllocWork>(&old)) {
    if (alloc->memory != std::get<AllocWork>(fresh).memory) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    }
  } else if (const auto* release = std::get_if<FreeWork>(&old)) {
    if (release->address != std::get<FreeWork>(fresh).address) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    }
  } else if (const auto* conditional = std::get_if<ConditionalWork>(&old)) {
    if (conditional->type != std::get<ConditionalWork>(fresh).type) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
  }
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

// `offset`: by how many steps the old ones begin later among those around them.
std::optional<GraphExec::Mismatch> compare(std::span<const ExecStep> old,
                                           std::span<const ExecStep> fresh, std::size_t offset);

CUgraphExecUpdateResult compare(const ExecStep& old, const ExecStep& fresh, std::size_t offset) {
  const CUgraphExecUpdateResult result = compare(old.work, fresh.work);
  if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return result;
  const auto same = [offset](const GraphExec::Edge& a, const GraphExec::Edge& b) {
    return a.step == b.step + offset && a.at == b.at;
  };
  if (old.bodies.size() != fresh.bodies.size() ||
      !std::equal(old.after.begin(), old.after.end(), fresh.after.begin(), fresh.after.end(),
                  same)) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  for (std::size_t k = 0; k < old.bodies.size(); ++k) {
    if (const auto mismatch = compare(old.bodies[k], fresh.bodies[k], 0)) return mismatch->result;
  }
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

std::optional<GraphExec::Mismatch> compare(std::span<const ExecStep> old,
                                           std::span<const ExecStep> fresh, std::size_t offset) {
  if (old.size() != fresh.size()) {
    return GraphExec::Mismatch{CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr};
  }
  for (std::size_t k = 0; k < old.size(); ++k) {
    const CUgraphExecUpdateResult result = compare(old[k], fresh[k], offset);
    if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return GraphExec::Mismatch{result, fresh[k].node};
  }
  return std::nullopt;
}

void swap_works(std::span<ExecStep> old, std::span<ExecStep> fresh) {
  for (std::size_t k = 0; k < old.size(); ++k) {
    std::swap(old[k].work, fresh[k].work);
    for (std::size_t body = 0; body < old[k].bodies.size(); ++body) {
      swap_works(old[k].bodies[body], fresh[k].bodies[body]);
    }
  }
}

// The steps among which the step is: these, or those of a body in them.
std::vector<ExecStep>* around(std::vector<ExecStep>& steps, const ExecStep& wanted) {
  for (ExecStep& step : steps) {
    if (&step == &wanted) return &steps;
    for (auto& body : step.bodies) {
      if (auto* const found = around(body, wanted)) return found;
    }
  }
  return nullptr;
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
  if (auto mismatch = compare(steps, fresh.steps, 0)) return mismatch;
  swap_works(steps, fresh.steps);
  std::swap(references, fresh.references);
  std::swap(assigned, fresh.assigned);
  return std::nullopt;
}

bool GraphExec::update_child(CUgraphNode node, const SimGraph& graph) {
  Step* const end = step_of(node);
  if (end == nullptr || !end->entry) return false;
  std::vector<Step>& all = *around(steps, *end);
  StepMaker maker(&all != &steps);
  maker.add_inside(node, graph, {});
  std::vector<Step> fresh = maker.take();
  const std::size_t entry = *end->entry;
  const auto own = static_cast<std::size_t>(end - all.data());
  // The first step is left out: the graph around it decides what it comes after.
  const std::span<Step> old(all.begin() + static_cast<std::ptrdiff_t>(entry) + 1, own - entry);
  const std::span<Step> inside(fresh.begin() + 1, fresh.end());
  if (compare(old, inside, entry)) return false;
  swap_works(old, inside);
  return true;
}

bool GraphExec::set_work(CUgraphNode node, NodeWork work) {
  Step* const step = step_of(node);
  if (step == nullptr || compare(step->work, work) != CU_GRAPH_EXEC_UPDATE_SUCCESS) return false;
  std::swap(step->work, work);
  return true;
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
