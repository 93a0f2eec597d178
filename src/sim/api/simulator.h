#pragma once

#include "driver/simulator.h"

namespace baton::sim {

// The one object behind driver::kSimulatorUuid; never destroyed.
driver::Simulator* simulator();

}  // namespace baton::sim
