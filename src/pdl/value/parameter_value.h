#pragma once

// What a load of a kernel's parameter gives, with the arguments of one launch.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pdl/code/code.h"
#include "pdl/footprint/address_binder.h"

namespace baton::overlap {

// A number, as a register has it; or an address: its offset in a memory.
struct ParameterValue {
  std::optional<MemoryId> memory;
  std::uint64_t bits = 0;
};

// Returns the value of one element that a load of parameters reads, or nothing if it is not known.
// It is known where the load reads a whole address, or begins where a number does and does not
// read beyond it. `code`: which has the operation.
std::optional<ParameterValue> parameter_value(const Code& code, const Operation& operation,
                                              std::size_t element,
                                              std::span<const GivenArgument> arguments);

// Whether an element of `width` bits at that byte lies in the kernel's parameter. After its end is
// the next one.
bool is_inside_parameter(const Code& code, std::uint32_t param, std::int64_t byte, unsigned width);

}  // namespace baton::overlap
