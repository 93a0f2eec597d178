#pragma once

#include <cstdint>
#include <string_view>

#include "baton/export.h"

namespace baton {

// Which races the simulated GPU looks for. Each one includes those before it.
enum class Races : std::uint8_t {
  kUsual,   // in shared memory, and of grids and copies that nothing orders
  kGlobal,  // also in global memory between warps of one grid; on one core, and slower
  // Also what the memory model of PTX calls a race, and what usual kernels count on: two writes of
  // one value, an update without an acquire that reads a flag, and a bulk copy that overwrites what
  // threads wrote without a proxy fence.
  kModel,
};

// "usual", "global" or "model": a name that parse_races takes.
BATON_API std::string_view to_string(Races races);

// Returns the races with that name. Throws kInvalidInput for any other text.
BATON_API Races parse_races(std::string_view text);

}  // namespace baton
