#pragma once

#include <string>

#include "baton/device.h"
#include "runtime/device_state.h"
#include "runtime/provider.h"

namespace baton::bench {

inline CUresult launch_nothing(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, unsigned, CUstream, void**, void**) {
  return CUDA_SUCCESS;
}
inline CUresult launch_nothing_ex(const CUlaunchConfig*, CUfunction, void**, void**) {
  return CUDA_SUCCESS;
}
inline CUresult launch_no_graph(CUgraphExec, CUstream) {
  return CUDA_SUCCESS;
}

inline CUresult no_capture(CUstream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

// The device of a spec, or "null": one whose launch calls do nothing, which leaves Baton's own
// share of the host's time.
inline Device open_device(const std::string& spec) {
  if (spec != "null") return Device::open(spec);
  const DriverProvider& simulated = driver_providers().back();
  static driver::Driver table = *simulated.driver(nullptr);
  table.cuLaunchKernel = launch_nothing;
  table.cuLaunchKernelEx = launch_nothing_ex;
  table.cuGraphLaunch = launch_no_graph;
  table.cuStreamIsCapturing = no_capture;
  table.simulator = nullptr;  // a GPU has none, and is told nothing of its launches
  return DeviceState::handle(DeviceState::acquire(simulated, table, *simulated.ordinal("h200")));
}

}  // namespace baton::bench
