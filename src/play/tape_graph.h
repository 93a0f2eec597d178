#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/graph.h"
#include "baton/stream.h"
#include "bind/tape_walk.h"
#include "driver/simulator.h"
#include "play/device_tests.h"

namespace baton::play {

// A graph of steps that follow one another, while it is built: what is added comes after what was
// added before. Movable; one thread at a time. Every call throws what the driver refuses with; the
// graph is of no use then.
class TapeGraph {
 public:
  explicit TapeGraph(const Device& device) : graph_(device) {}
  // Adds to a graph that exists: what is added first comes after these nodes of it.
  TapeGraph(Graph graph, std::vector<GraphEdge> after)
      : graph_(std::move(graph)), open_(std::move(after)), last_(open_.size()) {}

  // `programmatic`: it may start early after the launch that was added last, by an edge of that
  // type. Otherwise it starts when everything before is done. `waits`: its end is the end of the
  // launch that it started early after, since some thread of it waits for that.
  // `arguments`: one address a parameter.
  void add(const LaunchPlan& launch, void* const* arguments, bool programmatic, bool waits);
  void add_copy(DeviceAddress to, DeviceAddress from, std::uint64_t bytes);
  // `count` elements of `width` bytes: 1, 2, 4 or 8.
  void add_fill(DeviceAddress to, std::uint64_t value, unsigned width, std::uint64_t count);
  // Calls the function on a thread of the driver. Not inside of a condition, whose bodies take no
  // host functions.
  void add_host(std::function<void()> function);
  // What the function enqueues on the stream that it gets: one node, which is a graph itself. The
  // owner lives as long as that. Not inside of a condition. Throws kUnsupported if the driver has
  // no such nodes.
  void add_captured(const std::function<void(const Stream&)>& work,
                    std::shared_ptr<const void> owner);
  // A launch of Baton's own. `programmatic`: as in `add`; all of its threads wait. The owner lives
  // as long as the node.
  void add_own(const LaunchPlan& launch, void* const* arguments, bool programmatic,
               std::shared_ptr<const void> owner);
  bool in_condition() const { return !levels_.empty(); }
  // Resets the counts of conditions. The first node of a graph with conditions.
  void add_reset(const DeviceTests& tests);
  // What is added up to `end_condition` are the steps of the condition of that number.
  void begin_condition(DeviceTests& tests, std::size_t number, bool is_loop,
                       const bind::BufferTable& buffers);
  // Inside of a loop: what is added from here on are its steps once more, for the next iteration.
  void next_iteration(DeviceTests& tests, const bind::BufferTable& buffers);
  void end_condition(DeviceTests& tests, const bind::BufferTable& buffers);
  // Branches follow. Each comes after what was added up to here, and begins with `begin_branch`.
  // What is added after `end_branches` comes after all of them.
  void begin_branches();
  void begin_branch();
  void end_branches();
  // The launch that is added next comes after these events too. `forget_after`: it has an empty
  // grid.
  void begin_after(const bind::TapeAfter& after);
  void forget_after() { after_.clear(); }
  // The launch that was added last, or had an empty grid, records its events.
  void record(const bind::TapeRecorded& recorded);
  // Records the event when what was added last is done. Nothing waits for it: the edges between the
  // steps stay what they are. The event must outlive launches of the graph.
  void add_mark(const Event& event);

  const Graph& graph() const { return graph_; }
  // The nodes that what comes next has to wait for.
  const std::vector<GraphEdge>& ends() const { return open_; }
  bool has_conditions() const { return !bodies_.empty(); }
  bool has_captured() const { return !owners_.empty(); }
  // Those in bodies too.
  Graph::Counts counts() const;
  // Everything but what nodes are given: equal where one graph can take the values of another.
  const std::string& shape() const { return shape_; }
  // The launches' nodes, in their order.
  const std::vector<NativeGraphNode>& launches() const { return launches_; }
  bool has_priorities() const { return has_priorities_; }

 private:
  void begin_node(char kind, bool programmatic);
  void end_node(NativeGraphNode node, bool programmatic, bool waits);

  // The body of a conditional node, while it is filled.
  struct Level {
    Graph body;
    NativeGraphNode node;
    GraphCondition condition;
    std::size_t number;
    bool is_loop;
    bool is_copy;  // a further iteration in the body of a loop
  };

  // Branches that are being filled.
  struct Fork {
    std::vector<GraphEdge> begin;  // where each of them begins
    std::vector<GraphEdge> ends;   // of those that are complete
    std::uint64_t nodes;           // before the branch at hand
  };

  void end_branch();
  void come_after(const std::vector<GraphEdge>& edges);
  Graph& current() { return levels_.empty() ? graph_ : levels_.back().body; }
  NativeGraphNode add_test(const DeviceTests& tests, std::size_t number, bool is_first,
                           GraphCondition condition, const bind::BufferTable& buffers);
  void end_level();

  // Destroyed last: they wait for the graph's end.
  std::vector<std::shared_ptr<const void>> owners_;
  Graph graph_;
  std::optional<Stream> captured_;  // a stream for captures
  std::vector<Level> levels_;       // the innermost last
  std::vector<Graph> bodies_;       // that are complete
  // The nodes whose ends a full edge has to wait for, the last one added at the end. Mostly that
  // one alone; beside it those that a launch was started early after without waiting for them.
  std::vector<GraphEdge> open_;
  std::size_t last_ = 1;     // so many of these, at the end, are what was added last
  std::vector<Fork> forks_;  // the innermost last
  std::vector<std::vector<GraphEdge>> events_;  // by number: the edges to what comes after it
  std::vector<GraphEdge> after_;                // of the launch that is added next
  std::vector<NativeGraphNode> launches_;
  std::string shape_;
  std::uint64_t nodes_ = 0;
  bool has_priorities_ = false;
};

// Such a graph, ready to run. Keeps the graph that it was made from, whose nodes name its own.
class TapeInstance {
 public:
  explicit TapeInstance(TapeGraph graph);

  const TapeGraph& graph() const { return graph_; }

  // Takes over what the nodes of another graph are given. False where its shape is another one, or
  // the driver does not take it: then nothing has changed.
  bool update(const TapeGraph& graph);
  // Gives the launch of that number other parameters. Throws what the driver refuses with; the node
  // stays then.
  void update(std::size_t launch, const LaunchPlan& plan, void* const* arguments) const;
  void launch(const Stream& stream) const { instance_.launch(stream); }
  NativeGraphExec native() const { return native_; }
  // On a simulated GPU: what each launch did when the graph was launched last, in their order.
  std::vector<driver::Counters> counters() const;

 private:
  TapeGraph graph_;
  GraphInstance instance_;
  NativeGraphExec native_;  // of the instance: whoever launches reads it here
};

}  // namespace baton::play
