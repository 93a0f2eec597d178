#pragma once

#include <cstdint>

namespace baton {

// Which races the simulated GPU looks for.
enum class Races : std::uint8_t {
  kUsual,   // in shared memory, and of grids and copies that nothing orders
  kGlobal,  // those, and races in global memory between warps of one grid; on one core, and slower
};

}  // namespace baton
