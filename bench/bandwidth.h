#pragma once

#include "baton/cuda.h"
#include "baton/device.h"

namespace baton::bench {

// Of the memory, as the device's clock and bus have it, in bytes a second.
inline double nominal_bandwidth(const Device& device) {
  const auto clock = device.attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const auto bus = device.attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  return 2 * 1e3 * static_cast<double>(clock) * static_cast<double>(bus) / 8;
}

}  // namespace baton::bench
