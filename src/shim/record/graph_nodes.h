#pragma once

// The nodes and edges that calls add to graphs without a capture.

#include <cstdint>
#include <span>
#include <string_view>

namespace baton::recorder {

// How the words of a call name a node.
enum class NodeCall : std::uint8_t {
  kNone,       // it is not noted
  kKernel,     // the node, graph, dependencies, their number, the structure
  kCopy,       // likewise
  kFill,       // likewise
  kHost,       // likewise
  kEmpty,      // the node, graph, dependencies, their number
  kOther,      // likewise; what it does is not noted
  kAny,        // the node, graph, dependencies, their data, their number, CUgraphNodeParams
  kEdges,      // graph, nodes, nodes, the edges' data, their number
  kUpdate,     // executable graph, node, the structure of a kernel
  kAttribute,  // node, the attribute's number, its value
};
NodeCall node_call(std::string_view symbol);

// Records, before the call, the structures that its words point to.
void note_node(NodeCall call, std::span<const std::uint64_t> words);

}  // namespace baton::recorder
