#pragma once

#include <cstdint>
#include <string>

namespace baton::record {

// A kernel with the parameters of number_kernel() whose loops walk over memory. Pointers and
// counters advance in one or several steps, on one way or several; iterations have several blocks.
std::string loop_kernel(std::uint64_t seed, const std::string& name);

}  // namespace baton::record
