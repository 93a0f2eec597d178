#pragma once

// The place of a wait in a kernel that has none.

#include <cstdint>
#include <string>

#include "pdl/rewrite/body_effects.h"

namespace baton::overlap {

struct WaitPlace {
  std::uint32_t before = kTop;  // an instruction of the body; kTop: before all of it
  std::string because;
};

// The latest place that every thread passes exactly once before anything that may not be early.
WaitPlace find_wait_place(const BodyEffects& effects);

}  // namespace baton::overlap
