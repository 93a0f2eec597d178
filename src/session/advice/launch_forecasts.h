#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baton/check.h"
#include "baton/device.h"
#include "bind/plan.h"
#include "load/footprints.h"

namespace baton {

// Sets EdgeReport::advice of a report whose launches have their limits. `steps`: the launches by
// number. `slots`: the values of symbols and, for groups, the indexes of an iteration.
void add_forecasts(const Device& device, std::span<const bind::PlannedStep* const> steps,
                   std::span<const std::int64_t> slots, const bind::BufferTable& buffers,
                   load::Footprints& footprints, CheckReport& report);

}  // namespace baton
