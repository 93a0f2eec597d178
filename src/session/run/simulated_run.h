#pragma once

#include <memory>
#include <string>
#include <vector>

#include "baton/device.h"
#include "baton/executable.h"
#include "driver/simulator.h"
#include "play/launch_tags.h"

namespace baton {

// The session of one run on a simulated GPU: schedule, trace, and whether accesses of different
// kernels are checked against each other, as the run's options say. Ends with the object, after an
// exception too. On a GPU it only refuses options that need a simulated one.
class SimulatedRun {
 public:
  // `overlaps`: whether launches of the run may overlap. Without overlap no two kernels race, and
  // the run is faster unchecked. `instrumented`: kernels note for a trace what they do. Throws
  // kInvalidInput for options that the device does not have, and for a schedule other than the one
  // of another run that is under way.
  SimulatedRun(const Device& device, const RunOptions& options, bool overlaps, bool instrumented,
               RunReport& report);
  SimulatedRun(const SimulatedRun&) = delete;
  SimulatedRun& operator=(const SimulatedRun&) = delete;

  // Moves what the device noted into the report, with the launches of the tape. Returns the texts
  // of the errors.
  std::vector<std::string> collect(bind::Tape& tape, const play::LaunchTags& tags);

  // Of its launches so far; nothing on a GPU.
  driver::LaunchProgress progress() const {
    return session_ == nullptr ? driver::LaunchProgress{} : session_->progress();
  }

 private:
  const RunOptions& options_;
  RunReport& report_;
  bool own_trace_ = false;                               // the device records a timeline
  std::unique_ptr<driver::Simulator::Session> session_;  // null on a GPU
};

}  // namespace baton
