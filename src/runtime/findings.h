#pragma once

#include <cuda.h>

#include <vector>

#include "baton/finding.h"
#include "driver/simulator.h"
#include "runtime/device_state.h"

namespace baton {

FindingReport to_report(driver::Finding finding);

// Ends a call that waited for work of the device: throws what the work failed with, and tells what
// was found meanwhile, as the device's policy wants it. A thread in a session of the simulator
// takes its findings there, and is told nothing here.
void end_wait(const DeviceState& device, CUresult result, const char* call);

}  // namespace baton
