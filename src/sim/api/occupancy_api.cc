// Occupancy, and cooperative launches by their own call.

#include <algorithm>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/context.h"
#include "sim/device/kernel_attributes.h"

namespace baton::sim::api {
namespace {

int function_attribute(CUfunction function, CUfunction_attribute attribute) {
  const std::shared_ptr<SimFunction> placed = place_function(*usable_context(), function);
  int value = 0;
  const CUresult result = FuncGetAttribute(&value, attribute, placed->handle());
  require(result == CUDA_SUCCESS, result);
  return value;
}

void check_flags(unsigned flags) {
  require((flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) == 0,
          CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

CUresult OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                            int block_size, size_t shared,
                                                            unsigned flags) {
  check_flags(flags);
  return OccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared);
}

// Of the sizes in whole warps, the largest of those that occupy a multiprocessor most.
CUresult OccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                        CUoccupancyB2DSize shared_of, size_t shared, int limit) {
  const std::shared_ptr<Context> context = usable_context();
  require(grid != nullptr && block != nullptr && function != nullptr, CUDA_ERROR_INVALID_VALUE);
  int most = function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  if (limit > 0) most = std::min(most, limit);
  const int warp = context->profile().at(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  int best_threads = 0;
  *block = 0;
  for (int size = most; size > 0; size = (size - 1) / warp * warp) {
    int blocks = 0;
    const CUresult result = OccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, function, size, shared_of != nullptr ? shared_of(size) : shared);
    if (result != CUDA_SUCCESS) return result;
    if (blocks * size <= best_threads) continue;
    best_threads = blocks * size;
    *block = size;
    *grid = blocks * context->profile().at(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  }
  return *block != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult OccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                 CUoccupancyB2DSize shared_of, size_t shared,
                                                 int limit, unsigned flags) {
  check_flags(flags);
  return OccupancyMaxPotentialBlockSize(grid, block, function, shared_of, shared, limit);
}

// The most for each of so many blocks, within what the function may have.
CUresult OccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks,
                                               int block_size) {
  const std::shared_ptr<Context> context = usable_context();
  require(bytes != nullptr && blocks > 0 && block_size > 0, CUDA_ERROR_INVALID_VALUE);
  const int most = function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  const auto fits = [&](int shared) {
    int resident = 0;
    const CUresult result = OccupancyMaxActiveBlocksPerMultiprocessor(
        &resident, function, block_size, static_cast<size_t>(shared));
    require(result == CUDA_SUCCESS, result);
    return resident >= blocks;
  };
  require(fits(0), CUDA_ERROR_INVALID_VALUE);
  int low = 0;
  int high = most;
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  *bytes = static_cast<size_t>(low);
  return CUDA_SUCCESS;
}

CUresult LaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared, CUstream stream,
                                 void** params) {
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  CUlaunchConfig config{};
  config.gridDimX = grid_x;
  config.gridDimY = grid_y;
  config.gridDimZ = grid_z;
  config.blockDimX = block_x;
  config.blockDimY = block_y;
  config.blockDimZ = block_z;
  config.sharedMemBytes = shared;
  config.hStream = stream;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  return LaunchKernelEx(&config, function, params, nullptr);
}

}  // namespace baton::sim::api
