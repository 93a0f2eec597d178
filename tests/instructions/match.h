#pragma once

#include <string>

#include "instructions/suite.h"

namespace baton::instructions {

// True where the device's bits are what the reference allows. `want` has kSlotsPerResult slots.
bool matches(const Result& result, const Bounds& bounds, u64 got, const u64* want);

// Operands as a person compares them: "0x3f800000 (1)".
std::string show(Kind kind, u64 bits);
std::string show_wanted(const Result& result, const u64* want);

}  // namespace baton::instructions
