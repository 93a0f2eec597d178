#include "sim/queue/launch.h"

#include <algorithm>
#include <cstring>

#include "sim/api/refusal.h"
#include "sim/device/context.h"
#include "sim/device/kernel_attributes.h"
#include "sim/device/occupancy.h"

namespace baton::sim {
namespace {

std::uint32_t limit(const KernelView& view, CUdevice_attribute attribute) {
  return static_cast<std::uint32_t>(view.profile.at(attribute));
}

void require_extent(std::uint32_t extent, std::uint32_t most) {
  require(extent >= 1 && extent <= most, CUDA_ERROR_INVALID_VALUE);
}

void check_extents(const LaunchRequest& request, const KernelView& view) {
  require_extent(request.grid.x, limit(view, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X));
  require_extent(request.grid.y, limit(view, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y));
  require_extent(request.grid.z, limit(view, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z));
  require_extent(request.block.x, limit(view, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X));
  require_extent(request.block.y, limit(view, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y));
  require_extent(request.block.z, limit(view, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z));
}

void check_threads(const LaunchRequest& request, const KernelView& view) {
  const std::uint64_t threads = request.block.count();
  require(threads <= limit(view, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) &&
              threads <= view.kernel.max_threads,
          CUDA_ERROR_INVALID_VALUE);
  const std::uint32_t* block = view.kernel.required_block;
  require(block[0] == 0 || (request.block.x == block[0] && request.block.y == block[1] &&
                            request.block.z == block[2]),
          CUDA_ERROR_INVALID_VALUE);
  require(threads <= threads_by_registers(view.profile, registers(view)),
          CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
}

// The grid in blocks of a kernel whose launches count it in clusters. An extent beyond 32 bits is
// beyond the device's limit too, and stays so.
Extent3 blocks_of_clusters(const Extent3& clusters, const KernelView& view) {
  const std::uint32_t* size = view.kernel.required_cluster;
  const auto times = [](std::uint32_t count, std::uint32_t each) {
    const std::uint64_t blocks = std::uint64_t{count} * std::max(each, 1u);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, UINT32_MAX));
  };
  return {times(clusters.x, size[0]), times(clusters.y, size[1]), times(clusters.z, size[2])};
}

// Blocks of a cluster run at the same time, and all blocks of a cooperative launch do.
void check_residency(const LaunchRequest& request, const KernelView& view,
                     const std::optional<Extent3>& cluster) {
  const chip::BlockNeeds needs = needs_of(request, view);
  std::uint64_t resident = 0;
  if (cluster) {
    const auto size = static_cast<std::uint32_t>(cluster->count());
    const auto clusters =
        static_cast<std::uint64_t>(resident_clusters(view.profile, needs, size, request.sms));
    require(clusters > 0, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    resident = clusters * size;
  } else if (request.cooperative) {
    const std::uint64_t sms = request.sms != nullptr
                                  ? request.sms->size()
                                  : limit(view, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    resident = static_cast<std::uint64_t>(resident_blocks(view.profile, needs)) * sms;
  }
  require(!request.cooperative || request.grid.count() <= resident,
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

// The parameter block of a launch from the addresses of its arguments, one a parameter.
std::vector<std::byte> gather(const LoadedKernel& kernel, void** params) {
  std::vector<std::byte> block(kernel.param_bytes);
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    require(params[i] != nullptr, CUDA_ERROR_INVALID_VALUE);
    std::memcpy(block.data() + kernel.params[i].offset, params[i], kernel.params[i].size);
  }
  return block;
}

// The same from `extra`: a list of names and values that ends in CU_LAUNCH_PARAM_END. More bytes
// than the kernel takes are refused with CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, as an H200 does.
std::vector<std::byte> unpack(const LoadedKernel& kernel, void** extra) {
  const void* buffer = nullptr;
  const std::size_t* size = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[1];
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      size = static_cast<const std::size_t*>(extra[1]);
    } else {
      throw Refusal(CUDA_ERROR_INVALID_VALUE);
    }
  }
  std::vector<std::byte> block(kernel.param_bytes);
  require(size == nullptr || *size <= block.size(), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  if (block.empty()) return block;
  // A CUDA driver also takes fewer bytes, and leaves the other arguments to chance.
  require(buffer != nullptr && size != nullptr && *size == block.size(), CUDA_ERROR_INVALID_VALUE);
  std::memcpy(block.data(), buffer, block.size());
  return block;
}

std::vector<std::byte> parameters(const LoadedKernel& kernel, const LaunchRequest& request) {
  require(request.params == nullptr || request.extra == nullptr, CUDA_ERROR_INVALID_VALUE);
  if (request.extra != nullptr) return unpack(kernel, request.extra);
  require(request.params != nullptr || kernel.params.empty(), CUDA_ERROR_INVALID_VALUE);
  return gather(kernel, request.params);
}

}  // namespace

chip::BlockNeeds needs_of(const LaunchRequest& request, const KernelView& view) {
  return {request.block.count(), registers(view),
          std::uint64_t{view.kernel.static_shared} + request.dynamic_shared};
}

GridLaunch make_grid(const LaunchRequest& asked, const SimFunction& function) {
  const KernelSettings settings = function.settings();
  const KernelView view{function.context()->profile(), function.loaded(), function.module()->ptx(),
                        settings};
  LaunchRequest request = asked;
  check_extents(request, view);
  if (view.kernel.blocks_are_clusters) {
    request.grid = blocks_of_clusters(request.grid, view);
    check_extents(request, view);
  }
  check_threads(request, view);
  require(request.dynamic_shared <= static_cast<std::uint32_t>(max_dynamic_shared(view)),
          CUDA_ERROR_INVALID_VALUE);
  const std::optional<Extent3> cluster = cluster_of(request, view);
  check_cluster(request, cluster);
  check_residency(request, view, cluster);
  GridLaunch launch;
  launch.module = function.module();
  launch.kernel = &function.loaded();
  launch.grid = request.grid;
  launch.block = request.block;
  launch.cluster = cluster.value_or(Extent3{});
  launch.explicit_cluster = cluster.has_value();
  launch.cooperative = request.cooperative;
  launch.dynamic_shared = request.dynamic_shared;
  launch.sms = request.sms;
  launch.params = parameters(function.loaded(), request);
  return launch;
}

}  // namespace baton::sim
