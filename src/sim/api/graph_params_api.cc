// What nodes of a graph were made with.

#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/graph_nodes.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"
#include "sim/queue/event.h"

namespace baton::sim::api {
namespace {

CUresult give_event(CUevent* result, const std::shared_ptr<SimEvent>& event) {
  require(result != nullptr, CUDA_ERROR_INVALID_VALUE);
  *result = nullptr;
  Objects::instance().events.each([&](CUevent handle, const SimEvent& each) {
    if (&each == event.get()) *result = handle;
  });
  return CUDA_SUCCESS;
}

}  // namespace

// The arrays are the node's and stay until the next call for it.
CUresult GraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* params) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  KernelWork& work = work_as<KernelWork>(node->work);
  GridLaunch& launch = work.launch;
  *params = {};
  params->kern = work.kernel;
  params->func = work.kernel == nullptr ? work.function->handle() : nullptr;
  Extent3 grid = launch.grid;
  if (launch.kernel->blocks_are_clusters) {
    const std::uint32_t* size = launch.kernel->required_cluster;
    grid = {grid.x / size[0], grid.y / size[1], grid.z / size[2]};
  }
  params->gridDimX = grid.x;
  params->gridDimY = grid.y;
  params->gridDimZ = grid.z;
  params->blockDimX = launch.block.x;
  params->blockDimY = launch.block.y;
  params->blockDimZ = launch.block.z;
  params->sharedMemBytes = launch.dynamic_shared;
  node->reported_arguments.clear();
  for (const auto& each : work.function->loaded().params) {
    node->reported_arguments.push_back(launch.params.data() + each.offset);
  }
  params->kernelParams = node->reported_arguments.data();
  return CUDA_SUCCESS;
}

// A captured copy is described as one of linear memory.
CUresult GraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D* params) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  const CopyWork& work = work_as<CopyWork>(node->work);
  if (work.asked != nullptr) {
    *params = *work.asked;
    return CUDA_SUCCESS;
  }
  *params = {};
  params->WidthInBytes = work.bytes;
  params->Height = work.rows;
  params->Depth = work.slices;
  const auto height = [](const CopySide& side) {
    return side.pitch == 0 ? 0 : side.slice / side.pitch;
  };
  params->srcPitch = work.source.pitch;
  params->srcHeight = height(work.source);
  params->dstPitch = work.target.pitch;
  params->dstHeight = height(work.target);
  if (is_host(work.source)) {
    params->srcMemoryType = CU_MEMORYTYPE_HOST;
    params->srcHost = reinterpret_cast<const void*>(work.source.address);
  } else {
    params->srcMemoryType = CU_MEMORYTYPE_DEVICE;
    params->srcDevice = work.source.address;
  }
  if (is_host(work.target)) {
    params->dstMemoryType = CU_MEMORYTYPE_HOST;
    params->dstHost = reinterpret_cast<void*>(work.target.address);
  } else {
    params->dstMemoryType = CU_MEMORYTYPE_DEVICE;
    params->dstDevice = work.target.address;
  }
  return CUDA_SUCCESS;
}

CUresult GraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS* params) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  const Fill& fill = work_as<Fill>(node->work);
  *params = {};
  params->dst = fill.target.address;
  params->pitch = fill.pitch;
  params->value = fill.value;
  params->elementSize = fill.width;
  params->width = fill.count;
  params->height = fill.rows;
  return CUDA_SUCCESS;
}

CUresult GraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS* params) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  const HostCall& call = work_as<HostCall>(node->work);
  *params = {call.function, call.argument};
  return CUDA_SUCCESS;
}

CUresult GraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent* event) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  return give_event(event, work_as<RecordWork>(node->work).event);
}

CUresult GraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent* event) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  return give_event(event, work_as<WaitWork>(node->work).event);
}

}  // namespace baton::sim::api
