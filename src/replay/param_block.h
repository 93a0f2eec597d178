#pragma once

// The bytes of a launch's parameters, as the replay's driver wants them.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "record/format.h"

namespace baton::replay {

// Moves each parameter from its place in a recorded block to where another driver has it. Drivers
// align parameters from the begin of their own constant bank: an H100 has a first one that is
// aligned to 128 bytes at byte 112. Nothing if the two have other parameters, or if the block is too
// short. Bytes between parameters become zeros.
std::optional<std::string> lay_out(std::string_view block,
                                   std::span<const record::ParamNote> recorded,
                                   std::span<const record::ParamNote> wanted);

}  // namespace baton::replay
