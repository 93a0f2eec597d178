// Launches.

#include "sim/api.h"
#include "sim/current.h"
#include "sim/launch.h"
#include "sim/refusal.h"

namespace baton::sim::api {
namespace {

CUresult launch(LaunchRequest& request, std::span<const CUlaunchAttribute> attributes,
                CUfunction handle, CUstream stream_handle) {
  require(handle != nullptr, CUDA_ERROR_INVALID_HANDLE);
  const std::shared_ptr<Stream> stream = usable_stream(stream_handle);
  const std::shared_ptr<Function> function = place_function(*stream->context, handle);
  apply_attributes(attributes, *stream->context, request);
  stream->context->submit(*stream, make_grid(request, *function));
  for (const std::shared_ptr<Event>& event : request.events) {
    stream->context->record(*event, *stream);
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
