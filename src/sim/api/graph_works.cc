#include "sim/api/graph_works.h"

#include "sim/api/copy.h"
#include "sim/api/current.h"
#include "sim/api/refusal.h"
#include "sim/device/context.h"
#include "sim/device/objects.h"
#include "sim/queue/launch.h"
#include "sim/queue/place.h"

namespace baton::sim::api {
namespace {

// Where a kernel node runs that is given a context; null: the current one.
SmList node_sms(CUcontext handle) {
  const CurrentContext asked =
      handle != nullptr ? find_context(handle) : ContextStack::of_thread().current();
  require(asked.device != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  if (asked.green == nullptr) return nullptr;
  const auto green = Objects::instance().greens.find(asked.green);
  require(green != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return green->sms();
}

CUDA_KERNEL_NODE_PARAMS kernel_params(const CUDA_KERNEL_NODE_PARAMS_v3& params) {
  CUDA_KERNEL_NODE_PARAMS result{};
  result.func = params.func;
  result.gridDimX = params.gridDimX;
  result.gridDimY = params.gridDimY;
  result.gridDimZ = params.gridDimZ;
  result.blockDimX = params.blockDimX;
  result.blockDimY = params.blockDimY;
  result.blockDimZ = params.blockDimZ;
  result.sharedMemBytes = params.sharedMemBytes;
  result.kernelParams = params.kernelParams;
  result.extra = params.extra;
  result.kern = params.kern;
  return result;
}

CUDA_MEMSET_NODE_PARAMS memset_params(const CUDA_MEMSET_NODE_PARAMS_v2& params) {
  CUDA_MEMSET_NODE_PARAMS result{};
  result.dst = params.dst;
  result.pitch = params.pitch;
  result.value = params.value;
  result.elementSize = params.elementSize;
  result.width = params.width;
  result.height = params.height;
  return result;
}

}  // namespace

KernelWork kernel_work(const CUDA_KERNEL_NODE_PARAMS* params,
                       std::vector<CUlaunchAttribute> attributes) {
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::shared_ptr<Context> context = usable_context();
  const CUfunction handle =
      params->func != nullptr ? params->func : reinterpret_cast<CUfunction>(params->kern);
  require(handle != nullptr, CUDA_ERROR_INVALID_VALUE);
  LaunchRequest request;
  request.grid = {params->gridDimX, params->gridDimY, params->gridDimZ};
  request.block = {params->blockDimX, params->blockDimY, params->blockDimZ};
  request.dynamic_shared = params->sharedMemBytes;
  request.params = params->kernelParams;
  request.extra = params->extra;
  apply_attributes(attributes, *context, request);
  // As in the driver, a function brings its own context, and a kernel takes the one that is given.
  if (params->func == nullptr) request.sms = node_sms(params->ctx);
  KernelWork work;
  work.function = place_function(*context, handle);
  work.launch = make_grid(request, *work.function);
  work.attributes = std::move(attributes);
  if (params->func == nullptr) work.kernel = params->kern;
  return work;
}

KernelWork with_attributes(const KernelWork& work, std::vector<CUlaunchAttribute> attributes) {
  const GridLaunch& launch = work.launch;
  LaunchRequest request;
  request.grid = launch.grid;
  if (launch.kernel->blocks_are_clusters) {
    const std::uint32_t* size = launch.kernel->required_cluster;
    request.grid = {launch.grid.x / size[0], launch.grid.y / size[1], launch.grid.z / size[2]};
  }
  request.block = launch.block;
  request.dynamic_shared = launch.dynamic_shared;
  std::size_t bytes = launch.params.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<std::byte*>(launch.params.data()),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  request.extra = extra;
  request.sms = launch.sms;
  apply_attributes(attributes, *work.function->context(), request);
  KernelWork changed{make_grid(request, *work.function), work.function, std::move(attributes),
                     work.kernel};
  changed.launch.note = launch.note;
  return changed;
}

CopyWork memcpy_work(const CUDA_MEMCPY3D* params) {
  require(
      params != nullptr && params->WidthInBytes != 0 && params->Height != 0 && params->Depth != 0,
      CUDA_ERROR_INVALID_VALUE);
  bool pageable = false;
  CopyWork work = copy_work(pitched(params), &pageable, &pageable);
  work.asked = std::make_shared<const CUDA_MEMCPY3D>(*params);
  return work;
}

Fill memset_work(const CUDA_MEMSET_NODE_PARAMS* params) {
  require(params != nullptr && params->width != 0 && params->height != 0, CUDA_ERROR_INVALID_VALUE);
  const unsigned size = params->elementSize;
  require((size == 1 || size == 2 || size == 4) && params->dst % size == 0,
          CUDA_ERROR_INVALID_VALUE);
  Fill fill;
  fill.value = params->value;
  fill.width = size;
  fill.count = params->width;
  fill.rows = params->height;
  fill.pitch = fill.rows == 1 ? 0 : params->pitch;
  std::uint64_t row = 0;
  std::uint64_t bytes = 0;
  require(!__builtin_mul_overflow(fill.count, std::uint64_t{size}, &row) &&
              !__builtin_mul_overflow(fill.rows - 1, fill.pitch, &bytes) &&
              !__builtin_add_overflow(bytes, row, &bytes),
          CUDA_ERROR_INVALID_VALUE);
  require(fill.rows == 1 || (fill.pitch >= row && fill.pitch % size == 0),
          CUDA_ERROR_INVALID_VALUE);
  fill.target = device_place(params->dst, bytes);
  return fill;
}

HostCall host_work(const CUDA_HOST_NODE_PARAMS* params) {
  require(params != nullptr && params->fn != nullptr, CUDA_ERROR_INVALID_VALUE);
  return {params->fn, params->userData};
}

std::optional<NodeWork> any_work(const CUgraphNodeParams& params,
                                 std::vector<CUlaunchAttribute> attributes) {
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const CUDA_KERNEL_NODE_PARAMS kernel = kernel_params(params.kernel);
      return kernel_work(&kernel, std::move(attributes));
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return memcpy_work(&params.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS memset = memset_params(params.memset);
      return memset_work(&memset);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS host{params.host.fn, params.host.userData};
      return host_work(&host);
    }
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return std::monostate{};
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return RecordWork{usable_event(params.eventRecord.event)};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return WaitWork{usable_event(params.eventWait.event)};
    default:
      return std::nullopt;
  }
}

CUDA_KERNEL_NODE_PARAMS widened(const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  CUDA_KERNEL_NODE_PARAMS wide{};
  wide.func = params->func;
  wide.gridDimX = params->gridDimX;
  wide.gridDimY = params->gridDimY;
  wide.gridDimZ = params->gridDimZ;
  wide.blockDimX = params->blockDimX;
  wide.blockDimY = params->blockDimY;
  wide.blockDimZ = params->blockDimZ;
  wide.sharedMemBytes = params->sharedMemBytes;
  wide.kernelParams = params->kernelParams;
  wide.extra = params->extra;
  return wide;
}

}  // namespace baton::sim::api
