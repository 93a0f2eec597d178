#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/bindings.h"
#include "baton/program.h"
#include "bind/buffers.h"
#include "bind/world_place.h"

namespace baton::bind {

// The source of a symbol that has its default value.
inline constexpr const char* kProgramSource = "the program";
// The source of a symbol whose value was given: an option of the command line, a call of a library.
inline constexpr const char* kCallSource = "the call";
// The source of the symbols of the ranks and their groups.
inline constexpr const char* kWorldSource = "the world";

// What every symbol of the program is worth, and who said so: the call, the
// shape of an input, or the program itself. Throws kNotFound for unknown names, kInvalidInput for
// inputs whose dtype or shape the program does not take and for values that disagree.
std::vector<BoundSymbol> bind_symbols(const Program& program, const Bindings& bindings);

// The buffer's shape for values of all symbols, in the program's order. Throws kInvalidInput for a
// negative extent and for more bytes than can be addressed.
std::vector<std::int64_t> bind_shape(const ProgramBuffer& buffer,
                                     const std::vector<BoundSymbol>& symbols);

// Bytes of an array of the shape, which bind_shape has checked.
std::uint64_t bytes_of(const std::vector<std::int64_t>& shape, DType dtype);

// Whether the buffer, bound but for its memory, fits at an address that a caller gives. Throws
// kInvalidInput for one that is not aligned, that the device knows no memory at, or after which
// there is too little of it.
void check_memory(const BoundBuffer& buffer, DeviceAddress address, const Device& device);

}  // namespace baton::bind
