#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "baton/device.h"
#include "baton/launch_plan.h"
#include "baton/stream.h"
#include "driver/simulator.h"

namespace baton::play {

// A CUDA graph of steps that follow one another, while it is built: what is added comes after what
// was added before. Owns the graph. Movable; one thread at a time. Every call throws what the
// driver refuses with; the graph is of no use then.
class TapeGraph {
 public:
  explicit TapeGraph(const Device& device);
  TapeGraph(TapeGraph&& other) noexcept;
  TapeGraph& operator=(TapeGraph&&) = delete;
  ~TapeGraph();

  // `programmatic`: it may start early behind the launch that was added last, by an edge of that
  // type. Else it starts when everything before is done. `waits`: its end is the end of the launch
  // that it started early behind, since some thread of it waits for that.
  // `arguments`: one address a parameter.
  void add(const LaunchPlan& launch, void* const* arguments, bool programmatic, bool waits);
  void add_copy(DeviceAddress to, DeviceAddress from, std::uint64_t bytes);
  // `count` elements of `width` bytes: 1, 2, 4 or 8.
  void add_fill(DeviceAddress to, std::uint64_t value, unsigned width, std::uint64_t count);
  // Records the event when what was added last is done. Nothing waits for it: the edges between the
  // steps stay what they are. The event must outlive launches of the graph.
  void add_mark(const Event& event);

  // Everything but what nodes are given: equal where one graph can take the values of another.
  const std::string& shape() const { return shape_; }
  // The launches' nodes, in their order.
  const std::vector<CUgraphNode>& launches() const { return launches_; }
  bool has_priorities() const { return has_priorities_; }
  CUgraph native() const { return graph_; }

  // Nodes and edges as the driver has them.
  struct Counts {
    std::uint64_t nodes = 0, edges = 0, programmatic_edges = 0;
  };
  Counts counts() const;

 private:
  void begin_node(char kind, bool programmatic);
  void end_node(CUgraphNode node, bool programmatic, bool waits);
  void add_memset(const CUDA_MEMSET_NODE_PARAMS& params);

  Device device_;
  CUgraph graph_ = nullptr;
  // The nodes whose ends a full edge has to wait for, the last one added at the end. Mostly that
  // one alone; beside it those that a launch was started early behind without waiting for them.
  std::vector<CUgraphNode> open_;
  std::vector<CUgraphNode> launches_;
  std::string shape_;
  std::uint64_t nodes_ = 0;
  bool has_priorities_ = false;
};

// A graph made ready to run. Keeps the graph that it was made from, whose nodes stand for its own.
class GraphInstance {
 public:
  GraphInstance(const Device& device, TapeGraph graph);
  GraphInstance(const GraphInstance&) = delete;
  GraphInstance& operator=(const GraphInstance&) = delete;
  ~GraphInstance();

  const TapeGraph& graph() const { return graph_; }

  // Takes over what the nodes of another graph are given. False where its shape is another one, or
  // the driver does not take it: then nothing has changed.
  bool update(const TapeGraph& graph);
  // Gives the node of a launch other parameters. Throws what the driver refuses with; the node
  // stays then.
  void update(CUgraphNode node, const LaunchPlan& launch, void* const* arguments) const;
  void launch(const Stream& stream) const;
  // On a simulated GPU: what each launch did when the graph was launched last, in their order.
  std::vector<driver::Counters> counters() const;

 private:
  Device device_;
  TapeGraph graph_;
  CUgraphExec exec_ = nullptr;
};

}  // namespace baton::play
