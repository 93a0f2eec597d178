#pragma once

#include <span>
#include <string>

namespace baton::record {

// Instructions of integers and predicates, each of which computes one value.
std::span<const char* const> operations();

// What the instruction makes of constants and ranges of all kinds, at the limits of its types.
std::string operation_text(const std::string& instruction);
// Which places in shared memory may overlap, and what moves them.
std::string places_text();

}  // namespace baton::record
