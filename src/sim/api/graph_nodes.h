#pragma once

#include <cuda.h>

#include <memory>

#include "sim/graph/graph.h"

namespace baton::sim::api {

// The objects of handles. Throw Refusal(CUDA_ERROR_INVALID_VALUE) for handles of none.
std::shared_ptr<SimGraph> graph_of(CUgraph handle);
std::shared_ptr<GraphNode> node_of(CUgraphNode handle);

// Adds a node behind others of the graph, with full edges. Throws Refusal.
CUresult add_node(CUgraphNode* result, CUgraph handle, const CUgraphNode* dependencies,
                  size_t count, NodeWork work);

}  // namespace baton::sim::api
