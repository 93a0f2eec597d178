#pragma once

#include <cuda.h>

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "sim/queue/command.h"

namespace baton::sim {

class SimFunction;
class GraphExec;
class GraphMemory;
class UserReferences;
class SimGraph;
struct SimEvent;
struct GraphNode;

// What a kernel node launches. `attributes` are kept as they were given, for later questions.
struct KernelWork {
  GridLaunch launch;
  std::shared_ptr<SimFunction> function;
  std::vector<CUlaunchAttribute> attributes;
  CUkernel kernel = nullptr;  // where it was given by that
};
// A copy whose source is read when the node runs.
struct CopyWork {
  CopySide target;
  CopySide source;
  std::uint64_t bytes = 0;  // of a row
  std::uint64_t rows = 1;   // of a slice
  std::uint64_t slices = 1;
  // As a caller described it, for later questions; null: it was captured.
  std::shared_ptr<const CUDA_MEMCPY3D> asked = nullptr;

  bool is_flat() const { return rows == 1 && slices == 1; }
};
// Whether the side is the host's. Devices see pinned memory too, at its own address.
bool is_host(const CopySide& side);
struct RecordWork {
  std::shared_ptr<SimEvent> event;
};
struct WaitWork {
  std::shared_ptr<SimEvent> event;
};
// The graphs of which a conditional node executes one, or none. They belong to the node; callers
// fill them by their handles.
struct ConditionalBodies {
  explicit ConditionalBodies(std::size_t count);
  ~ConditionalBodies();
  ConditionalBodies(const ConditionalBodies&) = delete;
  ConditionalBodies& operator=(const ConditionalBodies&) = delete;

  std::vector<CUgraph> handles;
  std::vector<std::shared_ptr<SimGraph>> graphs;
};
struct ConditionalWork {
  std::shared_ptr<SimCondition> condition;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::shared_ptr<ConditionalBodies> bodies;
};
struct AllocWork {
  std::shared_ptr<GraphMemory> memory;
};
struct FreeWork {
  std::shared_ptr<DeviceHeap> heap;
  std::uint64_t address = 0;
  std::shared_ptr<GraphMemory> memory;  // null: another graph's
};
// A graph inside of another one. It belongs to its node; callers ask for it by its handle.
struct ChildGraph {
  explicit ChildGraph(std::shared_ptr<SimGraph> inner);
  ~ChildGraph();
  ChildGraph(const ChildGraph&) = delete;
  ChildGraph& operator=(const ChildGraph&) = delete;

  const std::shared_ptr<SimGraph> graph;
  const CUgraph handle;
};
struct ChildWork {
  std::shared_ptr<ChildGraph> child;
};
// What a node does; nothing for an empty one.
using NodeWork = std::variant<std::monostate, KernelWork, CopyWork, Fill, HostCall, RecordWork,
                              WaitWork, ConditionalWork, AllocWork, FreeWork, ChildWork>;

// A dependency on a node.
struct GraphDependency {
  std::shared_ptr<GraphNode> from;
  CUgraphEdgeData data{};
};

struct GraphNode {
  explicit GraphNode(NodeWork node_work) : work(std::move(node_work)) {}

  CUgraphNode handle = nullptr;
  NodeWork work;
  std::vector<GraphDependency> after;
  SimGraph* graph = nullptr;              // that it is in, while there is one
  CUgraphNode original = nullptr;         // of a clone's
  bool has_next = false;                  // some node comes after it
  std::vector<void*> reported_arguments;  // that a caller was last told
};

CUgraphNodeType type_of(const GraphNode& node);
// Whether the edge data suit an edge between the two nodes.
bool is_edge(const GraphNode& from, const GraphNode& to, const CUgraphEdgeData& data);
// Whether there can be such an edge from the node, to a node that is not known yet.
bool may_begin_edge(const GraphNode& from, const CUgraphEdgeData& data);

// A graph as it is built. As in the CUDA driver, it is the callers' business that only one thread
// at a time touches a graph. Nodes share their predecessors, so a graph never has a cycle that
// owns itself: `connect` refuses one.
class SimGraph {
 public:
  SimGraph() = default;
  ~SimGraph();
  SimGraph(const SimGraph&) = delete;
  SimGraph& operator=(const SimGraph&) = delete;

  // Adds a node, with its handle.
  std::shared_ptr<GraphNode> add(NodeWork work, std::vector<GraphDependency> after);
  // Throws Refusal(CUDA_ERROR_INVALID_VALUE) for an edge that is there or closes a cycle.
  void connect(const std::shared_ptr<GraphNode>& from, const std::shared_ptr<GraphNode>& to,
               const CUgraphEdgeData& data);

  // Throws Refusal(CUDA_ERROR_INVALID_VALUE) for an edge that is not there.
  void disconnect(GraphNode& from, GraphNode& to, const CUgraphEdgeData& data);
  // With its edges. The conditions of a conditional node, and of those in its bodies, are free for
  // other nodes then.
  void remove(GraphNode& node);
  // Throws Refusal(CUDA_ERROR_NOT_SUPPORTED) where a node may not be in two graphs: a conditional,
  // and those of memory.
  std::shared_ptr<SimGraph> clone() const;

  const std::vector<std::shared_ptr<GraphNode>>& nodes() const { return nodes_; }
  bool holds(const GraphNode& node) const { return node.graph == this; }

  // The instance of a graph with conditional nodes or memory. Such a graph has one at a time.
  std::weak_ptr<GraphExec> instance;
  bool is_body = false;                                   // of a conditional node
  bool is_child = false;                                  // of a node
  bool is_captured_into = false;                          // a capture adds nodes to it
  std::weak_ptr<SimGraph> outer;                          // of a body: the graph of its node
  std::vector<std::shared_ptr<SimCondition>> conditions;  // that were made for it
  std::shared_ptr<UserReferences> references;             // null: none

 private:
  std::vector<std::shared_ptr<GraphNode>> nodes_;
};

// A graph made ready to run, as it was then. Launches of it follow one another. Members are guarded
// by the scheduler's mutex.
class GraphExec {
 public:
  // The nodes in an order that their edges allow. Throws Refusal for a node in the body of a
  // conditional that may not be there, and for a condition that no node has.
  explicit GraphExec(const SimGraph& graph);
  GraphExec(const GraphExec&) = delete;
  GraphExec& operator=(const GraphExec&) = delete;

  struct Edge {
    std::size_t step;  // an earlier one
    Milestone at;      // kDone for a full edge, else what a programmatic edge waits for
  };
  struct Step {
    CUgraphNode node = nullptr;  // that it was made from
    NodeWork work;
    std::vector<Edge> after;
    bool has_next = false;  // that begins when this one is done
    bool is_enabled = true;  // else it does nothing
    // Of a node with a graph inside: the step that begins it, before those of its nodes.
    std::optional<std::size_t> entry;
    // Of a kernel: what it did in the last launch.
    std::shared_ptr<driver::Counters> counted;
    std::vector<std::vector<Step>> bodies;  // of a conditional
  };

  // Why an update was refused, with the node of the fresh graph.
  struct Mismatch {
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_ERROR;
    CUgraphNode node = nullptr;
  };
  // Takes over what the steps of a fresh graph of the same topology do; its own nodes stand for
  // them as before. Gives why that cannot be, and changes nothing then.
  std::optional<Mismatch> update(GraphExec&& fresh);

  // Takes over what the steps of the graph inside a node do, likewise. False where that cannot be,
  // and for a node of another type.
  bool update_child(CUgraphNode node, const SimGraph& graph);
  // Gives a node other work, as an update may. False where it may not, or there is no such node.
  bool set_work(CUgraphNode node, NodeWork work);

  // The step of the node, which may be in a body, or null.
  Step* step_of(CUgraphNode node);
  // What each kernel did in the last launch, all turns of the conditionals around it together.
  std::vector<std::pair<CUgraphNode, driver::Counters>> counters() const;
  // A launch begins: its kernels are counted anew.
  void begin_counting();

  std::vector<Step> steps;
  bool has_conditionals() const;
  bool has_memory() const;
  unsigned long long flags = 0;                // that it was instantiated with
  std::shared_ptr<UserReferences> references;  // of the graph and those in it; null: none
  bool is_programmatic = false;                // some edge is
  // Those that get a value when a launch begins.
  std::vector<std::shared_ptr<SimCondition>> assigned;
  CommandPtr last;  // ends the last launch

 private:
  std::unordered_map<CUgraphNode, Step*> places_;  // of the nodes' steps
};

// Takes the memory of the graph's allocation nodes for a launch, and gives back what its free nodes
// free. Returns what must be freed before the launch. Throws Refusal(CUDA_ERROR_INVALID_VALUE),
// with nothing taken, where an earlier launch has the memory still, and where a node frees what is
// not allocated.
std::vector<Free> take_memory(const GraphExec& exec);

// Submits the steps, the first of them after `before`. Conditionals submit what is inside of them
// when their turn comes, as it is now. Returns the commands by step.
std::vector<CommandPtr> submit_steps(const std::vector<GraphExec::Step>& steps,
                                     std::span<const Dependency> before,
                                     const Turns::Submit& submit);

}  // namespace baton::sim
