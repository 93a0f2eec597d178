#pragma once

#include "driver/driver.h"

namespace baton::driver {

// The installed CUDA driver (libcuda.so.1, or the library BATON_CUDA_DRIVER names), loaded at the
// first call, its table filled by cuGetProcAddress and cuInit called. The same object at every
// call. Thread-safe.
//   absent: there is no such library on this machine: null, and `why` says what dlopen said.
//   no GPU: the library is there but cuInit reports no device: null, and `why` says so.
//   else a driver that does not start (too old, a required entry missing, cuInit fails): throws
//   Error(kNoDevice) with the reason; that is not a reason to simulate.
const Driver* load_cuda(std::string* why = nullptr);

// The oldest driver that Baton runs on: CUDA 12.4.
inline constexpr int kDriverFloor = 12040;

}  // namespace baton::driver
