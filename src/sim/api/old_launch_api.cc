// Launches as CUDA 3 and earlier made them: a function keeps the block, the shared memory and the
// parameters of its next launch.

#include <cstring>
#include <mutex>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/context.h"

namespace baton::sim::api {
namespace {

constexpr std::size_t kMostParameters = 32764;  // bytes, as of any launch

// Calls `use` with what the function keeps.
template <typename Use>
CUresult with_old_launch(CUfunction handle, Use use) {
  static std::mutex mutex;
  const std::shared_ptr<Context> context = usable_context();
  OldLaunch& launch = place_function(*context, handle)->old_launch();
  std::lock_guard lock(mutex);
  return use(launch);
}

CUresult set_parameter(CUfunction function, int offset, const void* value, std::size_t bytes) {
  return with_old_launch(function, [&](OldLaunch& launch) {
    require(offset >= 0 && value != nullptr && bytes <= kMostParameters &&
                static_cast<std::size_t>(offset) <= kMostParameters - bytes,
            CUDA_ERROR_INVALID_VALUE);
    const std::size_t end = static_cast<std::size_t>(offset) + bytes;
    if (launch.parameters.size() < end) launch.parameters.resize(end);
    std::memcpy(launch.parameters.data() + offset, value, bytes);
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult FuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return with_old_launch(function, [&](OldLaunch& launch) {
    require(x > 0 && y > 0 && z > 0, CUDA_ERROR_INVALID_VALUE);
    launch.block[0] = static_cast<unsigned>(x);
    launch.block[1] = static_cast<unsigned>(y);
    launch.block[2] = static_cast<unsigned>(z);
    return CUDA_SUCCESS;
  });
}

CUresult FuncSetSharedSize(CUfunction function, unsigned bytes) {
  return with_old_launch(function, [&](OldLaunch& launch) {
    launch.shared_bytes = bytes;
    return CUDA_SUCCESS;
  });
}

CUresult ParamSetSize(CUfunction function, unsigned bytes) {
  return with_old_launch(function, [&](OldLaunch& launch) {
    require(bytes <= kMostParameters, CUDA_ERROR_INVALID_VALUE);
    launch.parameters.resize(bytes);
    return CUDA_SUCCESS;
  });
}

CUresult ParamSeti(CUfunction function, int offset, unsigned value) {
  return set_parameter(function, offset, &value, sizeof value);
}

CUresult ParamSetf(CUfunction function, int offset, float value) {
  return set_parameter(function, offset, &value, sizeof value);
}

CUresult ParamSetv(CUfunction function, int offset, void* value, unsigned bytes) {
  return set_parameter(function, offset, value, bytes);
}

CUresult LaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  OldLaunch launch;
  with_old_launch(function, [&](const OldLaunch& kept) {
    launch = kept;
    return CUDA_SUCCESS;
  });
  require(width > 0 && height > 0 && launch.block[0] != 0, CUDA_ERROR_INVALID_VALUE);
  std::size_t bytes = launch.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, launch.parameters.data(),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return LaunchKernel(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1,
                      launch.block[0], launch.block[1], launch.block[2], launch.shared_bytes,
                      stream, nullptr, bytes == 0 ? nullptr : extra);
}

CUresult LaunchGrid(CUfunction function, int width, int height) {
  return LaunchGridAsync(function, width, height, nullptr);
}

CUresult Launch(CUfunction function) {
  return LaunchGrid(function, 1, 1);
}

}  // namespace baton::sim::api
