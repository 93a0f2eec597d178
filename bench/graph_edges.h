#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "baton/cuda.h"
#include "baton/device.h"
#include "driver/driver.h"
#include "runtime/context.h"

namespace baton::bench {

// How many of a graph's edges are programmatic, as the driver has them.
inline std::uint64_t programmatic_edges(const Device& device, CUgraph graph) {
  const ContextGuard guard(device);
  const driver::Driver& driver = device.driver();
  std::size_t count = 0;
  BATON_DRIVER_CALL(driver, cuGraphGetEdges, graph, nullptr, nullptr, nullptr, &count);
  std::vector<CUgraphNode> from(count), to(count);
  std::vector<CUgraphEdgeData> data(count);
  BATON_DRIVER_CALL(driver, cuGraphGetEdges, graph, from.data(), to.data(), data.data(), &count);
  return static_cast<std::uint64_t>(
      std::count_if(data.begin(), data.end(), [](const CUgraphEdgeData& edge) {
        return edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
      }));
}

}  // namespace baton::bench
