#pragma once

// The places of a wait (griddepcontrol.wait) and of triggers (griddepcontrol.launch_dependents) in
// a kernel that lacks them, and the loads that have to become plain ones for the wait to order
// them.

#include <cstdint>
#include <string>
#include <vector>

#include "pdl/footprint/footprint.h"
#include "pdl/order/early_work.h"
#include "pdl/rewrite/body_effects.h"
#include "pdl/rewrite/trigger_placement.h"

namespace baton::overlap {

enum class TriggerPlace : std::uint8_t {
  kNowhere,
  // After the wait and the last load of global memory, also in a loop's last iteration.
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
  std::uint32_t wait = kTop;  // it is before this instruction of the kernel's own body
  std::string because;        // the reason for that place
  TriggerPlaces triggers;
  std::vector<std::uint32_t> incoherent;  // non-coherent loads that have to become plain ones
};

// A kernel that waits itself gets no wait, and a trigger only if it has none. What may not be early
// then has to come after its own wait already. `footprint` has code.
Placement place(const Footprint& footprint, const EarlyWork& early, TriggerPlace trigger);

}  // namespace baton::overlap
