#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/device/heap.h"
#include "sim/engine/texture/texture.h"

namespace baton::sim {

// A CUDA array: texels of one to three dimensions, layers of one or two, or the faces of cubes,
// which kernels reach by textures and surfaces. Its memory is an allocation of the device, row by
// row.
struct SimArray {
  std::shared_ptr<DeviceHeap> heap;
  std::uint64_t address = 0;
  CUDA_ARRAY3D_DESCRIPTOR description{};  // as it was made: 0 for a dimension that is not there
  std::uint64_t row_bytes = 0;            // that texels take
  std::uint64_t pitch = 0;
  std::uint64_t slice = 0;
  bool is_level = false;  // of a mipmap, which owns it

  std::uint64_t rows() const { return description.Height == 0 ? 1 : description.Height; }
  std::uint64_t slices() const { return description.Depth == 0 ? 1 : description.Depth; }
  bool is_layered() const { return (description.Flags & CUDA_ARRAY3D_LAYERED) != 0; }
  bool is_cube() const { return (description.Flags & CUDA_ARRAY3D_CUBEMAP) != 0; }
  // Without that of the layers and faces.
  int dimensions() const {
    if (description.Depth != 0 && !is_layered() && !is_cube()) return 3;
    return description.Height != 0 ? 2 : 1;
  }
};

// Arrays of falling size, each half as large as the one before: the levels of a mipmap.
struct SimMipmap {
  std::vector<CUarray> levels;
};

// Nothing for formats that have planes, blocks or channels of other sizes.
std::optional<TexelType> texel_type(CUarray_format format);

// The array's layout, and its memory. Throws Refusal: for extents that no device has
// CUDA_ERROR_INVALID_VALUE, without memory CUDA_ERROR_OUT_OF_MEMORY. Throws Error(kUnsupported)
// that names what is not simulated: sparse arrays and other formats.
SimArray make_array(const std::shared_ptr<DeviceHeap>& heap,
                    const CUDA_ARRAY3D_DESCRIPTOR& description);

// Of a level of a mipmap whose level 0 is `first`; and how many there are at most, down to one
// texel.
CUDA_ARRAY3D_DESCRIPTOR description_of_level(const CUDA_ARRAY3D_DESCRIPTOR& first, unsigned level);
unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR& first);

}  // namespace baton::sim
