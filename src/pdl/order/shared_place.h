#pragma once

// Addresses in shared memory as values: a variable and a range of offsets. All blocks of a cluster
// have the same variables, and an offset stands for the places of all of them. Addresses of
// parameters are computed in the same way.

#include <cstdint>
#include <optional>
#include <span>

#include "pdl/code/code.h"
#include "pdl/value/value.h"

namespace baton::overlap {

// Of one element of every extent; 0 where an extent is not given.
std::uint64_t variable_bytes(const ptx::Variable& variable);

// What an operation that computes makes of its sources, of which one is such an address.
Value address_of(const Operation& operation, std::span<const Value> from);

// The address plus a number of bytes.
Value moved(const Value& address, std::int64_t bytes);

// Whether `bytes` at one address and at the other may overlap. What is not an address in shared
// memory may be any.
bool may_overlap(const Code& code, const Value& a, const Value& b, std::uint64_t bytes);

}  // namespace baton::overlap
