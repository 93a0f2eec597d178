#pragma once

#include <memory>
#include <mutex>

#include "sim/graph/capture.h"
#include "sim/queue/command.h"

namespace baton::sim {

class Context;

// An event: what the last record put into it. `recorded` and `occurrence` are guarded by the
// scheduler's mutex.
struct SimEvent {
  SimEvent(std::shared_ptr<Context> owner, bool is_timed)
      : context(std::move(owner)), timed(is_timed) {}

  const std::shared_ptr<Context> context;
  const bool timed;
  CommandPtr recorded;  // null before the first record
  std::shared_ptr<Occurrence> occurrence;
  CaptureState captured;  // where the last record was part of a capture
};

}  // namespace baton::sim
