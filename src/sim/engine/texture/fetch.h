#pragma once

#include <optional>

#include "sim/engine/texture/sampler.h"
#include "sim/engine/texture/texture_ops.h"

namespace baton::sim {

// What one lane's tex or tld4 gives. Each read of a texel is checked like any other; nothing after
// a fault.
std::optional<Texel> fetch(Exec* x, const Insn* i, int lane, const TextureView& view,
                           const TextureAccess& access);

}  // namespace baton::sim
