#pragma once

#include <cstdint>

#include "baton/array.h"
#include "baton/stream.h"
#include "bind/buffers.h"

namespace baton::bind {

// Enqueues what gives an allocated buffer its first contents: `given` where there is one (an
// --input, or the file that the program names), else the program's init. Takes host memory for a
// few MiB at a time. Throws kInvalidInput for an arange that the dtype does not hold.
void initialise(const BoundBuffer& buffer, const Array* given, std::uint64_t seed,
                const Stream& stream);

// Whether another seed gives the buffer other contents.
bool depends_on_seed(const ProgramBuffer& buffer);

// Throws kInvalidInput for an arange that the dtype does not hold: an integer out of range.
void check_arange(const BoundBuffer& buffer);

}  // namespace baton::bind
