// Memory that graphs allocate and free, and captures of it.

#include <algorithm>

#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/graph_nodes.h"
#include "sim/api/refusal.h"
#include "sim/device/context.h"
#include "sim/graph/graph_memory.h"

namespace baton::sim::api {
namespace {

// The memory that a node of the graph allocates at the address, or null.
std::shared_ptr<GraphMemory> memory_at(const SimGraph& graph, std::uint64_t address) {
  for (const auto& node : graph.nodes()) {
    const auto* alloc = std::get_if<AllocWork>(&node->work);
    if (alloc != nullptr && alloc->memory->address() == address) return alloc->memory;
  }
  return nullptr;
}

DeviceHeap::GraphUse use_of(CUdevice device) {
  enter();
  const std::shared_ptr<Context> context = device_of(device).context();
  return context == nullptr ? DeviceHeap::GraphUse{} : context->heap()->graph_use();
}

}  // namespace

FreeWork free_work(const SimGraph& graph, std::uint64_t address) {
  const std::shared_ptr<Context> owner = owner_of(address);
  require(owner != nullptr && owner->heap()->is_reserved(address), CUDA_ERROR_INVALID_VALUE);
  const auto found = owner->heap()->find(address);
  require(found && found->base == address, CUDA_ERROR_INVALID_VALUE);
  for (const auto& node : graph.nodes()) {
    const auto* other = std::get_if<FreeWork>(&node->work);
    require(other == nullptr || other->address != address, CUDA_ERROR_INVALID_VALUE);
  }
  return {owner->heap(), address, memory_at(graph, address)};
}

bool is_capturing(const SimStream& stream) {
  std::lock_guard lock(Scheduler::instance().mutex);
  return stream.capture.capture != nullptr;
}

std::optional<CUdeviceptr> capture_alloc(SimStream& stream, std::uint64_t bytes) {
  std::lock_guard lock(Scheduler::instance().mutex);
  if (stream.capture.capture == nullptr) return std::nullopt;
  require(!stream.capture.capture->graph->is_body, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = stream.context->ordinal();
  const auto memory = std::make_shared<GraphMemory>(stream.context->heap(), bytes, properties);
  capture_node(stream.capture, AllocWork{memory});
  return memory->address();
}

bool capture_free(SimStream& stream, std::uint64_t address) {
  std::lock_guard lock(Scheduler::instance().mutex);
  if (stream.capture.capture == nullptr) return false;
  const std::shared_ptr<Context> owner = owner_of(address);
  if (owner == nullptr || !owner->heap()->is_reserved(address)) return false;
  capture_node(stream.capture, free_work(*stream.capture.capture->graph, address));
  return true;
}

// Memory of the host is seen by the current device, and that of a device by itself.
CUresult GraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  require(params != nullptr && params->bytesize != 0, CUDA_ERROR_INVALID_VALUE);
  const CUmemPoolProps& properties = params->poolProps;
  require(properties.handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_NOT_SUPPORTED);
  pool_kind(properties.allocType, properties.location);
  require(!graph_of(graph)->is_child, CUDA_ERROR_NOT_SUPPORTED);
  const bool names_device = properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  const std::shared_ptr<Context> context =
      names_device ? device_of(properties.location.id).context() : usable_context();
  require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  const auto memory = std::make_shared<GraphMemory>(context->heap(), params->bytesize, properties);
  const CUresult result = add_node(node, graph, dependencies, count, AllocWork{memory});
  params->dptr = memory->address();
  return result;
}

CUresult GraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             size_t count, CUdeviceptr address) {
  require(!graph_of(graph)->is_child, CUDA_ERROR_NOT_SUPPORTED);
  return add_node(node, graph, dependencies, count, free_work(*graph_of(graph), address));
}

CUresult GraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  const GraphMemory& memory = *work_as<AllocWork>(node->work).memory;
  *params = {};
  params->poolProps = memory.properties();
  params->bytesize = memory.bytes();
  params->dptr = memory.address();
  return CUDA_SUCCESS;
}

CUresult GraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* address) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(address != nullptr, CUDA_ERROR_INVALID_VALUE);
  *address = work_as<FreeWork>(node->work).address;
  return CUDA_SUCCESS;
}

CUresult DeviceGraphMemTrim(CUdevice device) {
  enter();
  const std::shared_ptr<Context> context = device_of(device).context();
  if (context != nullptr) context->heap()->trim_graph_memory();
  return CUDA_SUCCESS;
}

CUresult DeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  const DeviceHeap::GraphUse use = use_of(device);
  require(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  auto& number = *static_cast<cuuint64_t*>(value);
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      number = use.used;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      number = use.used_high;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      number = use.reserved;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      number = use.reserved_high;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// A mark can only be reset.
CUresult DeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  enter();
  const std::shared_ptr<Context> context = device_of(device).context();
  require(value != nullptr && *static_cast<cuuint64_t*>(value) == 0 &&
              (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
               attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH),
          CUDA_ERROR_INVALID_VALUE);
  if (context == nullptr) return CUDA_SUCCESS;
  if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) {
    context->heap()->reset_graph_used_high();
  } else {
    context->heap()->reset_graph_reserved_high();
  }
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
