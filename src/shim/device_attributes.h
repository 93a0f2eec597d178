#pragma once

#include <cuda.h>

namespace baton::shim {

// cuDeviceGetAttribute as the library exports it. The simulated GPU answers as its GPU would; here
// features whose entries are not simulated are refused, so that programs do without them.
CUresult get_device_attribute(int* value, CUdevice_attribute attribute, CUdevice device);

}  // namespace baton::shim
