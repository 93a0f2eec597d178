#pragma once

#include <cuda.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "sim/api/refusal.h"
#include "sim/graph/graph.h"

namespace baton::sim {
struct SimStream;
}

namespace baton::sim::api {

// The objects of handles. Throw Refusal(CUDA_ERROR_INVALID_VALUE) for handles of none.
std::shared_ptr<SimGraph> graph_of(CUgraph handle);
std::shared_ptr<GraphNode> node_of(CUgraphNode handle);
std::shared_ptr<GraphExec> exec_of(CUgraphExec handle);

// The work, which must be of that type. Throws Refusal(CUDA_ERROR_INVALID_VALUE).
template <typename Work>
Work& work_as(NodeWork& work) {
  auto* const found = std::get_if<Work>(&work);
  require(found != nullptr, CUDA_ERROR_INVALID_VALUE);
  return *found;
}

// Adds a node after others of the graph, with full edges. Throws Refusal.
CUresult add_node(CUgraphNode* result, CUgraph handle, const CUgraphNode* dependencies,
                  size_t count, NodeWork work);

// Fills an array of `*count` places with what there is; without an array, only counts.
template <typename T, typename Item, typename F>
void list(T* to, size_t* count, const std::vector<Item>& items, F value) {
  const size_t given = std::min(*count, items.size());
  for (size_t k = 0; k < given; ++k) to[k] = value(items[k]);
  for (size_t k = given; k < *count; ++k) to[k] = nullptr;
  *count = given;
}

// --- Memory of graphs (graph_memory_api.cc) ---

// Which kind of pool has such memory at the place (pool_api.cc). Throws
// Refusal(CUDA_ERROR_INVALID_VALUE) for no such place.
SimPool::Kind pool_kind(CUmemAllocationType type, const CUmemLocation& location);

// A node that frees memory of a graph. Throws Refusal(CUDA_ERROR_INVALID_VALUE) where no graph
// allocates at the address, and where the graph frees it already.
FreeWork free_work(const SimGraph& graph, std::uint64_t address);
// Whether a capture takes what is submitted to the stream.
bool is_capturing(const SimStream& stream);
// Adds a node that allocates memory, if the stream is being captured, and returns the memory's
// address. Otherwise returns nothing.
std::optional<CUdeviceptr> capture_alloc(SimStream& stream, std::uint64_t bytes);
// Adds a node that frees the memory, if the stream is being captured and the address is a graph's.
// Returns whether it did.
bool capture_free(SimStream& stream, std::uint64_t address);

}  // namespace baton::sim::api
