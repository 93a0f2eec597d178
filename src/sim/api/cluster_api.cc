// How many clusters of a kernel's blocks a device holds.

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/refusal.h"
#include "sim/device/context.h"
#include "sim/device/occupancy.h"
#include "sim/queue/launch.h"

namespace baton::sim::api {
namespace {

// Calls `action` with the request that a configuration makes, its kernel, and what a block needs.
template <typename Action>
CUresult with_config(CUfunction handle, const CUlaunchConfig* config, int* result, Action action) {
  require(config != nullptr && result != nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::shared_ptr<Context> context = usable_context();
  require(handle != nullptr, CUDA_ERROR_INVALID_HANDLE);
  const std::shared_ptr<SimFunction> function = place_function(*context, handle);
  LaunchRequest request;
  request.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
  request.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
  request.dynamic_shared = config->sharedMemBytes;
  require(config->numAttrs == 0 || config->attrs != nullptr, CUDA_ERROR_INVALID_VALUE);
  apply_attributes({config->attrs, config->numAttrs}, *context, request);
  request.sms = launch_sms(config->hStream, *usable_stream(config->hStream));
  require(request.block.count() > 0, CUDA_ERROR_INVALID_VALUE);
  const KernelSettings settings = function->settings();
  const KernelView view{context->profile(), function->loaded(), function->module()->ptx(),
                        settings};
  *result = request.dynamic_shared > static_cast<std::uint32_t>(max_dynamic_shared(view))
                ? 0
                : action(request, view, needs_of(request, view));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult OccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                    const CUlaunchConfig* config) {
  return with_config(
      function, config, clusters,
      [](const LaunchRequest& request, const KernelView& view, const chip::BlockNeeds& needs) {
        const Extent3 cluster = cluster_of(request, view).value_or(Extent3{});
        return resident_clusters(view.profile, needs, static_cast<std::uint32_t>(cluster.count()),
                                 request.sms);
      });
}

CUresult OccupancyMaxPotentialClusterSize(int* size, CUfunction function,
                                          const CUlaunchConfig* config) {
  return with_config(
      function, config, size,
      [](const LaunchRequest& request, const KernelView& view, const chip::BlockNeeds& needs) {
        std::uint32_t blocks = largest_cluster(view);
        while (blocks > 0 && resident_clusters(view.profile, needs, blocks, request.sms) == 0) {
          blocks /= 2;
        }
        return static_cast<int>(blocks);
      });
}

}  // namespace baton::sim::api
