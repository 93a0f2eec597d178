#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "baton/buffer.h"
#include "baton/forward.h"
#include "baton/launch_plan.h"
#include "baton/span.h"

namespace baton {

// The order between two nodes of a graph.
enum class GraphEdgeKind : std::uint8_t {
  kFull,          // the later node starts when the earlier one has completed
  kProgrammatic,  // between launches: the later one may start when every block of the earlier one
                  // has triggered or ended, and waits itself (griddepcontrol.wait)
  kLaunchOrder,   // between launches: the later one may start when every block of the earlier one
                  // has begun; nothing else is ordered
};

// A node that another one comes after.
struct GraphEdge {
  GraphEdge(NativeGraphNode node, GraphEdgeKind edge = GraphEdgeKind::kFull)  // NOLINT: implicit
      : from(node), kind(edge) {}

  NativeGraphNode from;
  GraphEdgeKind kind;
};

// The driver's handle of a value that decides about the body of a conditional node
// (CUgraphConditionalHandle). A kernel in the graph sets it:
// cudaGraphSetConditional(handle, value).
using GraphCondition = std::uint64_t;

struct GraphConditional;
// A CUDA graph of launches, copies, fills and host functions on one device. Movable; after a move
// the old object can only be assigned to and destroyed. One thread at a time. Nodes are the
// driver's own handles, valid as long as the graph. Calls throw kInvalidInput for arguments that do
// not fit, and the driver's errors; a node that was added before the error stays.
class BATON_API Graph {
 public:
  explicit Graph(const Device& device);
  // Makes a graph of what `work` enqueues on the stream, and on streams that it makes wait for
  // events of the stream. Nothing of that is executed. The calling thread must not make calls that
  // a capture forbids, such as synchronous copies. Rethrows what `work` throws.
  static Graph capture(const Stream& stream, const std::function<void()>& work);
  // A graph that others own, such as one that a stream is captured into. It must outlive the object,
  // which does not destroy it. Host functions that are added live as long as the object.
  static Graph adopt(const Device& device, NativeGraph graph);
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  const Device& device() const;
  NativeGraph native() const;

  // Adds a node after the nodes of `after`; without any it starts with the graph.
  //
  // The launch with the plan's current arguments. Throws kUnsupported for an attribute that nodes
  // do not keep, and kInvalidInput for a programmatic edge to a kernel that never waits, unless the
  // plan has force_pdl. pdl() and the stream of the plan have no effect: edges decide.
  NativeGraphNode add(const LaunchPlan& launch, Span<const GraphEdge> after = {});
  // The same with these arguments: one address for each parameter.
  NativeGraphNode add(const LaunchPlan& launch, void* const* arguments,
                      Span<const GraphEdge> after = {});
  // A copy inside of the device. The memory must stay allocated while the graph may run.
  NativeGraphNode add_copy(DeviceAddress to, DeviceAddress from, std::uint64_t bytes,
                           Span<const GraphEdge> after = {});
  // Sets `count` elements of `width` bytes (1, 2, 4 or 8) to the low bytes of `value`.
  NativeGraphNode add_fill(DeviceAddress to, std::uint64_t value, unsigned width,
                           std::uint64_t count, Span<const GraphEdge> after = {});
  // Calls the function on a thread of the driver. It must not call the driver, and must not throw:
  // the process ends then. It lives as long as the graph and everything instantiated from it.
  NativeGraphNode add_host(std::function<void()> function, Span<const GraphEdge> after = {});
  // Nothing: a point where nodes join.
  NativeGraphNode add_empty(Span<const GraphEdge> after = {});
  // Records the event.
  NativeGraphNode add_record(const Event& event, Span<const GraphEdge> after = {});
  // Makes the condition of one conditional node of this graph. Each launch of the graph begins with
  // the value `initial`; without one, with the value that the condition has. Throws kUnsupported if
  // the driver has no conditional nodes.
  GraphCondition make_condition(std::optional<std::uint32_t> initial = {});
  // Adds a node that executes its body once, if the condition is not 0. The body takes launches,
  // copies, fills, empty nodes and conditional nodes. Edges to and from the node are full. A graph
  // with conditional nodes has one GraphInstance at a time.
  GraphConditional add_if(GraphCondition condition, Span<const GraphEdge> after = {});
  // The same, as long as the condition is not 0.
  GraphConditional add_while(GraphCondition condition, Span<const GraphEdge> after = {});
  // Adds an edge between two nodes of the graph.
  void connect(const GraphEdge& edge, NativeGraphNode to);

  // Nodes and edges as the driver counts them, without those in bodies.
  struct Counts {
    std::uint64_t nodes = 0, edges = 0, programmatic_edges = 0;
  };
  Counts counts() const;

 private:
  friend class GraphInstance;
  struct State;
  explicit Graph(std::unique_ptr<State> state);
  GraphConditional add_conditional(GraphCondition condition, int type, Span<const GraphEdge> after);
  std::unique_ptr<State> state_;
};

// A conditional node and its body, which is valid as long as the graph that has the node.
struct GraphConditional {
  NativeGraphNode node;
  Graph body;
};

// A graph that is ready to run. Movable, as a Graph; one thread at a time. Its end lets launches
// that are under way complete.
class BATON_API GraphInstance {
 public:
  // Keeps what the graph's host functions need. The graph itself must outlive the instance if
  // nodes are updated. Throws kInvalidInput for a cycle, and the driver's errors.
  explicit GraphInstance(const Graph& graph, bool node_priorities = false);
  GraphInstance(GraphInstance&&) noexcept;
  GraphInstance& operator=(GraphInstance&&) noexcept;
  ~GraphInstance();

  NativeGraphExec native() const;

  // Launches all nodes. Returns without waiting. Launches of one instance execute one after
  // another.
  void launch(const Stream& stream) const;
  // Gives a launch other arguments, or another grid, block and shared memory; see
  // LaunchPlan::update_node. Launches that are under way keep the old ones.
  void update(NativeGraphNode node, const LaunchPlan& launch) const;
  void update(NativeGraphNode node, const LaunchPlan& launch, void* const* arguments) const;
  // Takes over the parameters of all nodes of another graph with the same nodes and edges. Returns
  // false if the driver needs a new instance; then nothing has changed.
  bool update(const Graph& graph);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace baton
