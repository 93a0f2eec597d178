#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "driver/driver.h"

namespace baton::sim {

// The simulated GPU as a CUDA driver: one filled table, cuInit done, the same object at every call.
// It has one device a profile, ordinal 0 the default, and the further ones that were asked for.
// Thread-safe; the object is never destroyed, but when the process exits its devices stop and every
// later call gives CUDA_ERROR_DEINITIALIZED, as a CUDA driver does.
const driver::Driver& simulated_driver();

// The device ordinal of a profile ("h200"), or of a further device of it ("h200:1"), which the
// first call makes. Nothing where there is no such profile, or no room for more devices.
std::optional<int> simulated_ordinal(std::string_view name);
// The reverse.
std::string simulated_name(int ordinal);

// The profiles' names in the order of their ordinals.
std::span<const std::string_view> simulated_profiles();

}  // namespace baton::sim
