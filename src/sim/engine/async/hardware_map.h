#pragma once

#include <optional>

#include "sim/engine/async/tensor_map.h"

namespace baton::sim {

// Tensor maps in the layout of GPUs of compute capability 9.0, which compilers write without the
// driver: CuTe DSL encodes maps in the host code that it generates. NVIDIA does not document the
// layout. The fields here are those that such host code fills in; bytes with any other bit set are
// not taken for a map.
std::optional<TileMap> read_hardware_map(const TensorMapBytes& bytes);

}  // namespace baton::sim
