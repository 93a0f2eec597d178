#pragma once

#include <cstdint>

#include "baton/error.h"
#include "baton/program.h"

namespace baton::bind {

// Who set the mode of an edge.
enum class EdgeSource : std::uint8_t { kProgram, kCaller, kEnvironment };

// The PDL mode of the edge from the step before a launch, or before a collective that a kernel
// executes.
struct PlannedEdge {
  PdlMode mode = PdlMode::kAuto;  // after everything that overrides the step
  bool insisted = false;          // the program itself gives the mode: what cannot be is an error
  EdgeSource source = EdgeSource::kProgram;
  bool cannot_wait = false;  // the caller says "on", and the kernel never waits: the mode is off
  SourceLocation where;      // of the step's pdl
};

}  // namespace baton::bind
