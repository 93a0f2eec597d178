#include "replay/graph_builder.h"

#include <cstring>

#include "driver/driver.h"

namespace baton::replay {

using record::NodeKind;

std::string GraphBuilder::add(const record::GraphNodeOfRecord& node, CUgraph graph,
                              const AddKernel& add_kernel, CUgraphNode* added) {
  if (node.lacks_edges) return "a node comes after one that the record does not know";
  const driver::Driver& driver = device_.driver();
  CUresult result = CUDA_SUCCESS;
  switch (node.kind) {
    case NodeKind::kKernel:
      return add_kernel(node.launch, graph, added);
    case NodeKind::kCopy:
      return copies_.add_copy_node(node.body, graph, added);
    case NodeKind::kFill:
      return copies_.add_fill_node(node.body, graph, added);
    case NodeKind::kHost: {
      // The record lacks the function's own work on the host, but has its place in the order.
      CUDA_HOST_NODE_PARAMS params = {[](void*) {}, nullptr};
      result = driver.cuGraphAddHostNode(added, graph, nullptr, 0, &params);
      break;
    }
    case NodeKind::kEmpty:
      result = driver.cuGraphAddEmptyNode(added, graph, nullptr, 0);
      break;
    case NodeKind::kOther:
    case NodeKind::kAttribute:
      return "the record does not say what one of its nodes does";
  }
  return result == CUDA_SUCCESS ? std::string() : driver::describe(driver, result);
}

std::string GraphBuilder::connect(const record::GraphOfRecord& graph, CUgraph handle,
                                  const std::vector<CUgraphNode>& nodes) {
  std::vector<CUgraphNode> from, to;
  std::vector<CUgraphEdgeData> data;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    for (const record::GraphNodeOfRecord::Edge& edge : graph.nodes[k].after) {
      from.push_back(nodes[edge.from]);
      to.push_back(nodes[k]);
      std::memcpy(&data.emplace_back(), edge.note.data, sizeof edge.note.data);
    }
  }
  const driver::Driver& driver = device_.driver();
  const CUresult result =
      driver.cuGraphAddDependencies(handle, from.data(), to.data(), data.data(), from.size());
  return result == CUDA_SUCCESS ? std::string() : driver::describe(driver, result);
}

CUgraph GraphBuilder::build(const record::GraphOfRecord& graph, const AddKernel& add_kernel,
                            std::string& lacks) {
  const driver::Driver& driver = device_.driver();
  CUgraph handle = nullptr;
  BATON_DRIVER_CALL(driver, cuGraphCreate, &handle, 0);
  std::vector<CUgraphNode> nodes;
  for (const record::GraphNodeOfRecord& node : graph.nodes) {
    std::string why = add(node, handle, add_kernel, &nodes.emplace_back(nullptr));
    if (lacks.empty()) lacks = std::move(why);
    nodes_[node.handle] = nodes.back();
  }
  if (lacks.empty()) lacks = connect(graph, handle, nodes);
  return handle;
}

CUgraphNode GraphBuilder::node(std::uint64_t recorded) const {
  const auto found = nodes_.find(recorded);
  return found == nodes_.end() ? nullptr : found->second;
}

}  // namespace baton::replay
