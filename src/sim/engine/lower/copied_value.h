#pragma once

#include <cstdint>

#include "ptx/cfg.h"
#include "ptx/flat.h"

namespace baton::sim {

// Whether the function does no more with what the load of that number gives than to store it, or to
// store it back with other bits in it. Compilers without optimisation load so what a program never
// wrote: the padding of what is copied as a whole, and the neighbours of a bit-field.
bool is_only_copied(const ptx::FlatFunction& function, const ptx::ControlFlow& flow,
                    std::uint32_t load);

}  // namespace baton::sim
