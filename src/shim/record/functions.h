#pragma once

// What the recorder knows of kernels: the places of their parameters.

#include <cuda.h>

#include <cstdint>
#include <vector>

#include "record/format.h"

namespace baton::recorder {

struct KnownFunction {
  std::uint64_t function = 0;
  std::uint64_t module = 0;
  bool params_known = false;
  std::uint32_t param_bytes = 0;
  std::vector<record::ParamNote> params;
};

// Of a handle that a launch names: noted before, or asked of the driver and noted now. Takes no
// lock for a known one. Stays valid forever.
const KnownFunction& known_function(std::uint64_t function);

// Notes a function that the driver gave, of a module or a library (0: not known; the driver is
// asked).
void note_function(std::uint64_t function, std::uint64_t module);

// Its handles are no longer valid.
void forget_functions(std::uint64_t module);

}  // namespace baton::recorder
