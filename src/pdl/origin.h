#pragma once

// Where the addresses of a kernel come from: each register's value followed back to the parameters
// and variables that it may be an address in.

#include <cstdint>
#include <vector>

#include "pdl/code.h"

namespace baton::overlap {

struct AddressOrigin {
  enum class Kind : std::uint8_t {
    kNull,      // the constant 0, which nobody takes for an address
    kNumber,    // a value that comes from no address
    kParam,     // the 64 bits of parameter `id` at byte `offset`
    kParams,    // the address of parameter `id` itself
    kVariable,  // an address in variable `id` of the module
    kConst,     // an address in variable `id` of the module, in constant memory
    kShared,    // in shared memory
    kLocal,     // in local memory
    kLoaded,    // loaded from memory that others may write
    kUnknown,   // too many to tell
  };
  Kind kind = Kind::kNumber;
  // Added to something loaded from memory, or to another parameter: which of the two is the address
  // is known once it is known what the parameter is given.
  bool with_loaded = false;
  bool with_param = false;
  std::uint32_t id = 0;
  std::uint32_t offset = 0;

  friend auto operator<=>(const AddressOrigin&, const AddressOrigin&) = default;
};

// What a value may be, any one of these; sorted. Empty: it is never defined.
using Origins = std::vector<AddressOrigin>;

// For each operation with an address, what that may be; else empty. The order of operations plays
// no role: a register has all the origins that any of its definitions gives it.
std::vector<Origins> find_origins(const Code& code);

}  // namespace baton::overlap
