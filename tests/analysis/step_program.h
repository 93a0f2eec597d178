#pragma once

#include <cstdint>
#include <string>

namespace baton::record {

// A program file of random steps over the kernels of src/session/testdata/edges.ptx. Some are
// refused.
std::string step_program(std::uint64_t seed);
// The same over kernels that take structs, and loop.
std::string field_program(std::uint64_t seed);
// Its launches fill multiprocessors, and many are to be spread evenly.
std::string crowded_program(std::uint64_t seed);
// Nearly all of its steps are in branches that run side by side.
std::string branch_program(std::uint64_t seed);

}  // namespace baton::record
