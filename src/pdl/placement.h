#pragma once

// Where a wait for the launch before (griddepcontrol.wait), and the trigger of the launch behind
// (griddepcontrol.launch_dependents), go in a kernel that lacks them, and which of its loads have
// to become others for the wait to order them.

#include <cstdint>
#include <string>
#include <vector>

#include "pdl/body_effects.h"
#include "pdl/early_work.h"
#include "pdl/footprint.h"
#include "pdl/trigger_placement.h"

namespace baton::overlap {

enum class TriggerPlace : std::uint8_t {
  kNowhere,
  // Behind the last load of global memory, also in a loop's last iteration, and the wait.
  kBehindLoads,
  kAtExits,  // wherever the kernel ends
  kAtTop,    // as its first instruction
};

struct Placement {
  // Why there is no place for a wait, or why its own is not enough, else empty.
  std::string obstacle;
  // "its own wait, at norm.cu:12, and its own trigger, at norm.cu:30": what the kernel has and
  // keeps. Empty where it gets a wait.
  std::string own;
  std::uint32_t wait = kTop;  // the instruction of the kernel's own body that it stands before
  std::string because;        // why it stands there
  TriggerPlaces triggers;
  std::vector<std::uint32_t> incoherent;  // non-coherent loads that have to become plain ones
};

// The wait stands at the latest place that every thread comes by, once, before anything that may
// not be early. A kernel that waits itself gets none, and a trigger only where it has none either;
// what may not be early has to be behind its wait as it is. `footprint` has code.
Placement place(const Footprint& footprint, const EarlyWork& early, TriggerPlace trigger);

}  // namespace baton::overlap
