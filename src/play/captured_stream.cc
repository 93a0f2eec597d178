#include "play/captured_stream.h"

#include "driver/driver.h"
#include "launch/graph_edges.h"
#include "runtime/context.h"

namespace baton::play {

CapturedStream::CapturedStream(const Stream& stream) : stream_(stream) {
  const driver::Driver& driver = stream.device().driver();
  const ContextGuard guard(stream.device());
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* data = nullptr;  // whatever it is, the first node waits for all of them
  std::size_t count = 0;
  BATON_DRIVER_CALL(driver, cuStreamGetCaptureInfo, stream.native(), &status, nullptr, &graph_,
                    &nodes, &data, &count);
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    driver::check(driver, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "cuStreamGetCaptureInfo");
  }
  for (std::size_t i = 0; i < count; ++i) {
    after_.emplace_back(nodes[i]);
  }
}

Graph CapturedStream::graph() const {
  return Graph::adopt(stream_.device(), graph_);
}

void CapturedStream::go_on_after(const std::vector<GraphEdge>& nodes) const {
  std::vector<CUgraphNode> from;
  std::vector<CUgraphEdgeData> data;
  for (const GraphEdge& edge : nodes) {
    from.push_back(edge.from);
    data.push_back(launch::data_of(edge.kind));
  }
  const ContextGuard guard(stream_.device());
  BATON_DRIVER_CALL(stream_.device().driver(), cuStreamUpdateCaptureDependencies, stream_.native(),
                    from.data(), data.data(), from.size(), CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

}  // namespace baton::play
