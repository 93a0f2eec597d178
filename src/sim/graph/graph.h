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
class SimGraph;
struct SimEvent;
struct GraphNode;

// What a kernel node launches. `attributes` are kept as they were given, for later questions.
struct KernelWork {
  GridLaunch launch;
  std::shared_ptr<SimFunction> function;
  std::vector<CUlaunchAttribute> attributes;
};
// A copy whose source is read when the node runs.
struct CopyWork {
  CopySide target;
  CopySide source;
  std::uint64_t bytes = 0;
};
struct RecordWork {
  std::shared_ptr<SimEvent> event;
};
struct WaitWork {
  std::shared_ptr<SimEvent> event;
};
// What a node does; nothing for an empty one.
using NodeWork =
    std::variant<std::monostate, KernelWork, CopyWork, Fill, HostCall, RecordWork, WaitWork>;

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
  const SimGraph* graph = nullptr;  // that it is in, while there is one
  bool has_next = false;            // some node comes after it
};

CUgraphNodeType type_of(const GraphNode& node);
// Whether the edge data suit an edge between the two nodes.
bool is_edge(const GraphNode& from, const GraphNode& to, const CUgraphEdgeData& data);

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

  const std::vector<std::shared_ptr<GraphNode>>& nodes() const { return nodes_; }
  bool holds(const GraphNode& node) const { return node.graph == this; }

 private:
  std::vector<std::shared_ptr<GraphNode>> nodes_;
};

// A graph made ready to run, as it was then. Launches of it follow one another. Members are guarded
// by the scheduler's mutex.
class GraphExec {
 public:
  // The nodes in an order that their edges allow.
  explicit GraphExec(const SimGraph& graph);

  struct Edge {
    std::size_t step;  // an earlier one
    Milestone at;      // kDone for a full edge, else what a programmatic edge waits for
  };
  struct Step {
    CUgraphNode node = nullptr;  // that it was made from
    NodeWork work;
    std::vector<Edge> after;
    bool has_next = false;  // that begins when this one is done
    // Of a kernel: what it did in the last launch.
    std::shared_ptr<driver::Counters> counted;
  };

  // Why an update was refused, with the node of the fresh graph.
  struct Mismatch {
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_ERROR;
    CUgraphNode node = nullptr;
  };
  // Takes over what the steps of a fresh graph of the same topology do; its own nodes stand for
  // them as before. Gives why that cannot be, and changes nothing then.
  std::optional<Mismatch> update(GraphExec&& fresh);

  // The step of the node, or null.
  Step* step_of(CUgraphNode node);

  std::vector<Step> steps;
  CommandPtr last;  // ends the last launch

 private:
  std::unordered_map<CUgraphNode, std::size_t> places_;  // of the nodes' steps
};

}  // namespace baton::sim
