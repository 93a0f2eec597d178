#pragma once

#include <cuda.h>

#include <memory>

#include "sim/graph/capture.h"

namespace baton::sim {

class Context;

// What captures forbid to calls that do not concern them, by the modes of the captures and of the
// calling thread. A call that is refused ends the captures that forbid it. Thread-safe.

// A capture that the calling thread begins, under the scheduler's mutex.
void note_capture(const std::shared_ptr<Capture>& capture);
// The calling thread's mode; cuThreadExchangeStreamCaptureMode. Returns the one before.
CUstreamCaptureMode exchange_capture_mode(CUstreamCaptureMode mode);

// For calls that may wait for work that is only being captured. Throws Refusal where the thread has
// a capture under way, or another one has a global one; a relaxed thread or capture forbids
// nothing.
void refuse_unsafe_beside_captures();
// For calls that concern all streams of a context, one of which is captured, whatever the mode.
void refuse_beside_captures_of(const Context& context);

}  // namespace baton::sim
