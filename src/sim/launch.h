#pragma once

#include <cuda.h>

#include <cstdint>
#include <span>

#include "sim/engine/engine.h"
#include "sim/library.h"

namespace baton::sim {

// A launch as a caller asks for it, before it is held against kernel and device.
struct LaunchRequest {
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;  // 1, 1, 1: none asked for
  std::uint32_t dynamic_shared = 0;
  void** params = nullptr;
  void** extra = nullptr;
};

// Reads the attributes of a launch into the request (launch_attributes.cc has one handler for each
// kind). Throws Refusal: CUDA_ERROR_INVALID_VALUE for what is no attribute of a launch, and
// CUDA_ERROR_NOT_SUPPORTED, with a finding on the function's context, for one that the simulated
// GPU lacks.
void apply_attributes(std::span<const CUlaunchAttribute> attributes, const Function& function,
                      LaunchRequest& request);

// Holds the request against the limits of kernel and device, with the driver's own codes, and
// copies the arguments. Throws Refusal.
GridLaunch make_grid(const LaunchRequest& request, const Function& function);

// Notes on the function's context why a launch is refused as unsupported, and refuses it.
[[noreturn]] void refuse_unsupported(const Function& function, std::string message);

}  // namespace baton::sim
