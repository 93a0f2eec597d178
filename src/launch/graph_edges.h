#pragma once

#include <cuda.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "baton/device.h"
#include "baton/graph.h"
#include "driver/driver.h"

namespace baton::launch {

CUgraphEdgeData data_of(GraphEdgeKind kind);

// The nodes of the full edges, which the calls that add nodes take.
std::vector<CUgraphNode> full_edges(Span<const GraphEdge> after);

// Throws kInvalidInput for two edges from one node, which the driver refuses without a reason.
void require_distinct(Span<const GraphEdge> after);

// Throws kInvalidInput for a programmatic edge to a launch whose kernel never waits, unless its
// configuration has force_pdl.
void require_wait(const LaunchPlan& launch, Span<const GraphEdge> after);

// What the driver refused with `failure`: kInvalidInput with the edge that does not fit, where one
// is found. `to` is the node that the edges lead to, or nothing for a node that was not added.
Error explain_edges(const Device& device, CUgraph graph, Span<const GraphEdge> edges,
                    std::optional<CUgraphNode> to, const Error& failure);

// kInvalidInput with this text, for what the driver refused with `failure`.
template <typename... Args>
Error refused(const Error& failure, fmt::format_string<Args...> text, Args&&... args) {
  Error explained = error(ErrorCode::kInvalidInput, text, std::forward<Args>(args)...);
  explained.of_driver(failure.driver_result());
  return explained;
}

// Whether the driver refused an argument and nothing more is known of it.
bool is_refused_argument(const Error& failure);

// Returns the kind of a node that is not a launch, as "a host function". Returns nothing for a
// launch, and for a node that the driver does not know.
std::optional<std::string> other_than_launch(const driver::Driver& driver, CUgraphNode node);

}  // namespace baton::launch
