// Launches.

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/launch_note.h"
#include "sim/api/refusal.h"
#include "sim/device/context.h"
#include "sim/queue/launch.h"

namespace baton::sim::api {
namespace {

CUresult launch(LaunchRequest& request, std::span<CUlaunchAttribute> attributes, CUfunction handle,
                CUstream stream_handle) {
  // Taken first: it is not for the launch after one that is refused.
  std::shared_ptr<const driver::LaunchNote> note = take_next_note();
  require(handle != nullptr, CUDA_ERROR_INVALID_HANDLE);
  const std::shared_ptr<SimStream> stream = usable_stream(stream_handle);
  request.sms = launch_sms(stream_handle, *stream);
  const std::shared_ptr<SimFunction> function = place_function(*stream->context, handle);
  apply_attributes(attributes, *stream->context, request);
  KernelWork work{make_grid(request, *function), function, {}};
  work.launch.note = std::move(note);
  for (const CUlaunchAttribute& attribute : attributes) {
    const bool is_event = attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
                          attribute.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
    if (!is_event) work.attributes.push_back(attribute);
  }
  const std::shared_ptr<GraphNode> node =
      stream->context->launch(*stream, std::move(work), request);
  // Where a node was captured that kernels may update, the driver gives its handle back.
  for (CUlaunchAttribute& attribute : attributes) {
    if (attribute.id != CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE || node == nullptr)
      continue;
    attribute.value.deviceUpdatableKernelNode.devNode =
        reinterpret_cast<CUgraphDeviceNode>(node->handle);
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult LaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_shared,
                      CUstream stream, void** params, void** extra) {
  LaunchRequest request;
  request.grid = {grid_x, grid_y, grid_z};
  request.block = {block_x, block_y, block_z};
  request.dynamic_shared = dynamic_shared;
  request.params = params;
  request.extra = extra;
  return launch(request, {}, function, stream);
}

CUresult LaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params,
                        void** extra) {
  require(config != nullptr, CUDA_ERROR_INVALID_VALUE);
  require(config->numAttrs == 0 || config->attrs != nullptr, CUDA_ERROR_INVALID_VALUE);
  LaunchRequest request;
  request.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
  request.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
  request.dynamic_shared = config->sharedMemBytes;
  request.params = params;
  request.extra = extra;
  return launch(request, {config->attrs, config->numAttrs}, function, config->hStream);
}

}  // namespace baton::sim::api
