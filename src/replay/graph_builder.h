#pragma once

// Builds graphs for a replay that a process built without a capture.

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "baton/device.h"
#include "record/recorded_graphs.h"
#include "replay/copies.h"

namespace baton::replay {

class GraphBuilder {
 public:
  // Adds a kernel node; returns why it could not; empty: it did.
  using AddKernel = std::function<std::string(const record::RecordedLaunch& launch, CUgraph graph,
                                              CUgraphNode* node)>;

  GraphBuilder(const Device& device, ReplayCopies& copies) : device_(device), copies_(copies) {}

  // The caller destroys the graph. `lacks`: why it is not complete; empty: it is.
  CUgraph build(const record::GraphOfRecord& graph, const AddKernel& add_kernel,
                std::string& lacks);
  // The node of the last graph that was built with it; null: none.
  CUgraphNode node(std::uint64_t recorded) const;

 private:
  std::string add(const record::GraphNodeOfRecord& node, CUgraph graph, const AddKernel& add_kernel,
                  CUgraphNode* added);
  std::string connect(const record::GraphOfRecord& graph, CUgraph handle,
                      const std::vector<CUgraphNode>& nodes);

  const Device device_;
  ReplayCopies& copies_;
  std::map<std::uint64_t, CUgraphNode> nodes_;
};

}  // namespace baton::replay
