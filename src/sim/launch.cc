#include "sim/launch.h"

#include <fmt/format.h>

#include <cstring>

#include "sim/context.h"
#include "sim/kernel_attributes.h"
#include "sim/occupancy.h"
#include "sim/refusal.h"

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
  require(threads <= threads_by_registers(view.profile, view.kernel.registers),
          CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
}

void check_cluster(const LaunchRequest& request, const KernelView& view, const Function& function) {
  const std::uint32_t* required = view.kernel.required_cluster;
  if (required[0] == 0) return;
  require(request.grid.x % required[0] == 0 && request.grid.y % required[1] == 0 &&
              request.grid.z % required[2] == 0,
          CUDA_ERROR_INVALID_CLUSTER_SIZE);
  if (required[0] * required[1] * required[2] == 1) return;
  refuse_unsupported(function, fmt::format("it is built for clusters of {} x {} x {} blocks, which "
                                           "the simulated GPU does not have",
                                           required[0], required[1], required[2]));
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

GridLaunch make_grid(const LaunchRequest& request, const Function& function) {
  const KernelSettings settings = function.settings();
  const KernelView view{function.context()->profile(), function.loaded(), function.module()->ptx(),
                        settings};
  check_extents(request, view);
  check_threads(request, view);
  require(request.dynamic_shared <= static_cast<std::uint32_t>(max_dynamic_shared(view)),
          CUDA_ERROR_INVALID_VALUE);
  check_cluster(request, view, function);
  GridLaunch launch;
  launch.module = function.module();
  launch.kernel = &function.loaded();
  launch.grid = request.grid;
  launch.block = request.block;
  launch.cluster = request.cluster;
  launch.dynamic_shared = request.dynamic_shared;
  launch.params = parameters(function.loaded(), request);
  return launch;
}

void refuse_unsupported(const Function& function, std::string message) {
  driver::Finding finding;
  finding.kind = "unsupported_launch";
  finding.kernel = function.loaded().name;
  finding.message = std::move(message);
  function.context()->add_finding(std::move(finding));
  throw Refusal(CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace baton::sim
