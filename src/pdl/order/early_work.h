#pragma once

// What a kernel may do before it has waited, by what is known of its launches.

#include <cstdint>
#include <vector>

#include "pdl/footprint/footprint.h"

namespace baton::overlap {

// What a parameter is given at every launch of the kernel.
enum class EarlyArgument : std::uint8_t {
  kAny,
  kConstantMemory,  // the address of memory that no launch writes, which may be read early
  kScalar,          // no address
};

struct EarlyWork {
  std::vector<EarlyArgument> params;  // by index; those left out may be anything
  bool constant_memory = false;       // no launch writes variables in constant memory
};

// Whether the access may come before the wait: it only reads, and no launch writes that memory. An
// operation that also orders threads may not.
bool may_be_early(const Footprint& footprint, const AccessGroup& access, const EarlyWork& early);

}  // namespace baton::overlap
