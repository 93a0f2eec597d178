#pragma once

#include <cuda.h>

#include "driver/driver.h"

namespace baton {

// Waits for all work of the current context, for what is given back while a stream is captured,
// whoever captures it: cuCtxSynchronize would end the capture, and no call tells of captures.
CUresult synchronize_beside_captures(const driver::Driver& driver) noexcept;

}  // namespace baton
