#include "shim/record/graph_nodes.h"

#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "record/format.h"
#include "shim/record/functions.h"
#include "shim/record/journal.h"
#include "shim/record/params.h"

namespace baton::recorder {
namespace {

using record::NodeKind;

constexpr std::pair<std::string_view, NodeCall> kNodeCalls[] = {
    {"cuGraphAddKernelNode_v2", NodeCall::kKernel},
    {"cuGraphAddMemcpyNode", NodeCall::kCopy},
    {"cuGraphAddMemsetNode", NodeCall::kFill},
    {"cuGraphAddHostNode", NodeCall::kHost},
    {"cuGraphAddEmptyNode", NodeCall::kEmpty},
    {"cuGraphAddChildGraphNode", NodeCall::kOther},
    {"cuGraphAddNode_v2", NodeCall::kAny},
    {"cuGraphAddDependencies_v2", NodeCall::kEdges},
    {"cuGraphExecKernelNodeSetParams_v2", NodeCall::kUpdate},
    {"cuGraphKernelNodeSetAttribute", NodeCall::kAttribute},
};

// More edges than this are not noted.
constexpr std::uint64_t kMostEdges = 4096;

// An array that a word points to.
struct Words {
  const std::uint64_t* first = nullptr;
  std::uint64_t at(std::uint64_t k) const { return first == nullptr ? 0 : first[k]; }
};
Words array(std::uint64_t word) {
  return {reinterpret_cast<const std::uint64_t*>(word)};
}

std::vector<record::EdgeNote> edges_of(Words from, Words to, std::uint64_t data,
                                       std::uint64_t count) {
  static_assert(sizeof(CUgraphEdgeData) == sizeof record::EdgeNote{}.data);
  std::vector<record::EdgeNote> edges;
  if (count > kMostEdges || (count != 0 && from.first == nullptr)) return edges;
  for (std::uint64_t k = 0; k < count; ++k) {
    record::EdgeNote& edge = edges.emplace_back(record::EdgeNote{from.at(k), to.at(k), {}});
    if (data != 0) {
      std::memcpy(edge.data, reinterpret_cast<const CUgraphEdgeData*>(data) + k, sizeof edge.data);
    }
  }
  return edges;
}

void write_node(NodeKind kind, const std::vector<record::EdgeNote>& edges,
                std::initializer_list<EventPart> body = {}) {
  const record::NodeNote head = {kind, static_cast<std::uint32_t>(edges.size())};
  const EventPart list = {edges.data(),
                          static_cast<std::uint32_t>(edges.size() * sizeof(record::EdgeNote))};
  const auto part = [&](std::size_t k) { return k < body.size() ? body.begin()[k] : EventPart{}; };
  note(record::EventKind::kNode, 0, next_order(), 0,
       {{&head, sizeof head}, list, part(0), part(1)});
}

// CUDA_KERNEL_NODE_PARAMS of any version with `kern`.
template <typename KernelParams>
void write_kernel(const std::vector<record::EdgeNote>& edges, const KernelParams& params) {
  const void* const function =
      params.func != nullptr ? static_cast<const void*>(params.func) : params.kern;
  record::LaunchEvent launch = {reinterpret_cast<std::uintptr_t>(function),
                                0,
                                {params.gridDimX, params.gridDimY, params.gridDimZ},
                                {params.blockDimX, params.blockDimY, params.blockDimZ},
                                params.sharedMemBytes,
                                0,
                                0,
                                0};
  const Params given(known_function(launch.function), params.kernelParams, params.extra);
  launch.param_bytes = given.part().size;
  if (!given.is_known()) launch.flags |= record::kParamsUnknown;
  write_node(NodeKind::kKernel, edges, {{&launch, sizeof launch}, given.part()});
}

static_assert(sizeof(CUDA_MEMCPY3D) == record::kCopyNodeBytes);
static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == record::kFillNodeBytes);

template <typename T>
void write_structure(NodeKind kind, const std::vector<record::EdgeNote>& edges, const T& params) {
  write_node(kind, edges, {{&params, sizeof params}});
}

void write_any(const std::vector<record::EdgeNote>& edges, const CUgraphNodeParams& params) {
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return write_kernel(edges, params.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return write_structure(NodeKind::kCopy, edges, params.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      // The newer structure has a context after the same members.
      CUDA_MEMSET_NODE_PARAMS fill;
      std::memcpy(&fill, &params.memset, sizeof fill);
      return write_structure(NodeKind::kFill, edges, fill);
    }
    case CU_GRAPH_NODE_TYPE_HOST:
      return write_node(NodeKind::kHost, edges);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return write_node(NodeKind::kEmpty, edges);
    default:
      return write_node(NodeKind::kOther, edges);
  }
}

}  // namespace

NodeCall node_call(std::string_view symbol) {
  const auto* const found =
      std::ranges::find(kNodeCalls, symbol, &std::pair<std::string_view, NodeCall>::first);
  return found == std::end(kNodeCalls) ? NodeCall::kNone : found->second;
}

void note_node(NodeCall call, std::span<const std::uint64_t> words) {
  if (call == NodeCall::kNone) return;
  if (call == NodeCall::kEdges) {
    return write_node(NodeKind::kEmpty,
                      edges_of(array(words[1]), array(words[2]), words[3], words[4]));
  }
  if (call == NodeCall::kAttribute) {
    if (words[2] == 0) return;
    record::AttributeNote attribute = {static_cast<std::uint32_t>(words[1]), 0, {}};
    std::memcpy(attribute.value, reinterpret_cast<const void*>(words[2]), sizeof attribute.value);
    return write_structure(NodeKind::kAttribute, {}, attribute);
  }
  if (call == NodeCall::kUpdate) {
    if (words[2] == 0) return;
    return write_kernel({}, *reinterpret_cast<const CUDA_KERNEL_NODE_PARAMS*>(words[2]));
  }
  const bool is_any = call == NodeCall::kAny;
  const std::vector<record::EdgeNote> edges =
      edges_of(array(words[2]), {}, is_any ? words[3] : 0, is_any ? words[4] : words[3]);
  if (call == NodeCall::kEmpty) return write_node(NodeKind::kEmpty, edges);
  if (call == NodeCall::kHost) return write_node(NodeKind::kHost, edges);
  if (call == NodeCall::kOther) return write_node(NodeKind::kOther, edges);
  const std::uint64_t structure = words[is_any ? 5 : 4];
  if (structure == 0) return;
  if (is_any) return write_any(edges, *reinterpret_cast<const CUgraphNodeParams*>(structure));
  if (call == NodeCall::kKernel) {
    return write_kernel(edges, *reinterpret_cast<const CUDA_KERNEL_NODE_PARAMS*>(structure));
  }
  if (call == NodeCall::kCopy) {
    return write_structure(NodeKind::kCopy, edges,
                           *reinterpret_cast<const CUDA_MEMCPY3D*>(structure));
  }
  write_structure(NodeKind::kFill, edges,
                  *reinterpret_cast<const CUDA_MEMSET_NODE_PARAMS*>(structure));
}

}  // namespace baton::recorder
