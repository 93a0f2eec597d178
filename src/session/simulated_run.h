#pragma once

#include <string>
#include <vector>

#include "baton/device.h"
#include "baton/executable.h"
#include "bind/buffers.h"

namespace baton {

// Directs a simulated GPU during one run, as its options say: schedule, trace, and whether accesses
// of different kernels are checked against each other. The end of its life leaves the device as
// others expect it, also after an exception. On a GPU it only refuses options that need a simulated
// one. One run of a device at a time.
class SimulatedRun {
 public:
  // `overlaps`: whether launches of the run may overlap. Without overlap no two kernels race, and
  // the run is faster unchecked. Throws kInvalidInput for options that the device does not have.
  SimulatedRun(const Device& device, const RunOptions& options, const bind::BufferTable& buffers,
               bool overlaps, RunReport& report);
  SimulatedRun(const SimulatedRun&) = delete;
  SimulatedRun& operator=(const SimulatedRun&) = delete;
  ~SimulatedRun();

  // Moves what the device found into the report. Returns the texts of the errors.
  std::vector<std::string> collect();

 private:
  const Device& device_;
  const RunOptions& options_;
  RunReport& report_;
};

}  // namespace baton
