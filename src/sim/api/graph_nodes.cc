#include "sim/api/graph_nodes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/api/current.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"

namespace baton::sim::api {

std::shared_ptr<SimGraph> graph_of(CUgraph handle) {
  enter();
  std::shared_ptr<SimGraph> graph = Objects::instance().graphs.find(handle);
  require(graph != nullptr, CUDA_ERROR_INVALID_VALUE);
  return graph;
}

std::shared_ptr<GraphNode> node_of(CUgraphNode handle) {
  enter();
  std::shared_ptr<GraphNode> node = Objects::instance().graph_nodes.find(handle);
  require(node != nullptr, CUDA_ERROR_INVALID_VALUE);
  return node;
}

std::shared_ptr<GraphExec> exec_of(CUgraphExec handle) {
  enter();
  std::shared_ptr<GraphExec> exec = Objects::instance().graph_execs.find(handle);
  require(exec != nullptr, CUDA_ERROR_INVALID_VALUE);
  return exec;
}

CUresult add_node(CUgraphNode* result, CUgraph handle, const CUgraphNode* dependencies,
                  size_t count, NodeWork work) {
  const std::shared_ptr<SimGraph> graph = graph_of(handle);
  require(result != nullptr && (count == 0 || dependencies != nullptr), CUDA_ERROR_INVALID_VALUE);
  std::vector<GraphDependency> after;
  for (size_t k = 0; k < count; ++k) {
    after.push_back({node_of(dependencies[k]), {}});
    require(graph->holds(*after.back().from), CUDA_ERROR_INVALID_VALUE);
    const auto same = [&](const GraphDependency& edge) { return edge.from == after.back().from; };
    require(std::count_if(after.begin(), after.end(), same) == 1, CUDA_ERROR_INVALID_VALUE);
  }
  *result = graph->add(std::move(work), std::move(after))->handle;
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
