#include "runtime/beside_captures.h"

#include "driver/capture_mode.h"

namespace baton {

CUresult synchronize_beside_captures(const driver::Driver& driver) noexcept {
  const driver::RelaxedCapture relaxed(driver);
  // Memory is freed once all work that may use it is over, and the driver cannot know what that is.
  CUdeviceptr memory = 0;
  const CUresult allocated = driver.cuMemAlloc(&memory, 1);
  // With no memory left, a capture ends rather than that memory in use is given away.
  return allocated == CUDA_SUCCESS ? driver.cuMemFree(memory) : driver.cuCtxSynchronize();
}

}  // namespace baton
