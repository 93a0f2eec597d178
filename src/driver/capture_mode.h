#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include "driver/driver.h"

namespace baton::driver {

// What the simulated GPU gives for this id of cuGetExportTable: cuThreadExchangeStreamCaptureMode,
// which its table of functions lacks. 6f1e9c0a-7d34-4b52-9e0b-ba7082518e02
struct CaptureModeTable {
  PFN_cuThreadExchangeStreamCaptureMode_v10010 exchange;
};
inline constexpr CUuuid kCaptureModeUuid = {{'\x6f', '\x1e', '\x9c', '\x0a', '\x7d', '\x34', '\x4b',
                                             '\x52', '\x9e', '\x0b', '\xba', '\x70', '\x82', '\x51',
                                             '\x8e', '\x02'}};

// While it lives, the calling thread may allocate, give back, ask and wait beside the captures of
// streams. Without it such a call fails, and it ends the captures of this thread, and others of the
// global mode. A call that concerns a captured stream itself still ends its capture, as does
// cuCtxSynchronize. Does nothing for a driver without the function.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& driver) noexcept;
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  PFN_cuThreadExchangeStreamCaptureMode_v10010 exchange_;  // null: the mode stays as it is
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace baton::driver
