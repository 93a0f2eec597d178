// The work of a bound program that still runs after its run was stopped.

#include "base/error.h"
#include "play/run_watch.h"
#include "session/bound_program.h"

namespace baton {

void BoundProgram::note_stop(const Error& failure, const Stream& stream,
                             const play::RunWatch& watch) {
  if (!watch.gave_up(failure)) return;
  try {
    Event end(state_->device, false);
    end.record(stream);
    stopped_ = std::move(end);
  } catch (const Error&) {
    // The work ended with a failure.
  }
}

bool BoundProgram::still_runs() const noexcept {
  if (!stopped_) return false;
  try {
    return !stopped_->done();
  } catch (...) {
    return false;  // it ended with a failure, which the run has reported
  }
}

}  // namespace baton
