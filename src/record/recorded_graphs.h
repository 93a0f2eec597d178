#pragma once

// The graphs that a process of a record built without a capture.

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "record/events.h"

namespace baton::record {

struct GraphNodeOfRecord {
  struct Edge {
    std::size_t from = 0;  // the number of a node of the graph
    EdgeNote note = {};
    bool programmatic = false;  // the node may start before the other is complete
    // CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER: it may start before the other triggers.
    bool is_launch_order() const { return programmatic && note.data[0] == 2; }
  };
  std::uint64_t handle = 0;
  NodeKind kind = NodeKind::kEmpty;
  RecordedLaunch launch;  // of a kernel, with the attributes that it was given
  std::string_view body;  // of a copy or a fill: its structure
  std::vector<Edge> after;
  bool lacks_edges = false;  // it comes after nodes that are not known
};

struct GraphOfRecord {
  std::vector<GraphNodeOfRecord> nodes;  // in the order that they were added
  // Their numbers, each after those that it comes after. Edges in a circle are left out.
  std::vector<std::size_t> order() const;
};

class RecordedGraphs {
 public:
  // Follows nodes and the calls that they belong to.
  void follow(const RecordedEvent& event);
  // The graph of a handle; null where no node was added to it.
  const GraphOfRecord* find(std::uint64_t graph) const;
  bool has_node(std::uint64_t node) const { return nodes_.contains(node); }

 private:
  struct Place {
    std::uint64_t graph = 0;
    std::size_t node = 0;
  };
  void call(const RecordedEvent& event, RecordedNode node);
  void connect(const EdgeNote& edge);

  std::map<std::uint32_t, RecordedNode> pending_;  // of the next call, by thread
  std::map<std::uint64_t, GraphOfRecord> graphs_;
  std::map<std::uint64_t, Place> nodes_;  // by handle
};

}  // namespace baton::record
