#include "sim/device/array.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "base/error.h"
#include "sim/api/refusal.h"

namespace baton::sim {
namespace {

constexpr std::uint64_t kRowAlignment = 32;

struct ArrayFlag {
  unsigned bit;
  std::string_view name;
};
constexpr ArrayFlag kNotSimulated[] = {
    {CUDA_ARRAY3D_DEPTH_TEXTURE, "depths (CUDA_ARRAY3D_DEPTH_TEXTURE)"},
    {CUDA_ARRAY3D_SPARSE, "parts without memory (CUDA_ARRAY3D_SPARSE)"},
    {CUDA_ARRAY3D_DEFERRED_MAPPING, "memory that comes later (CUDA_ARRAY3D_DEFERRED_MAPPING)"},
};
constexpr unsigned kKnown = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP |
                            CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_TEXTURE_GATHER |
                            CUDA_ARRAY3D_COLOR_ATTACHMENT;

// Of the largest textures.
constexpr std::uint64_t kMostOf1d = 131072;
constexpr std::uint64_t kMostOf2d[] = {131072, 65536};
constexpr std::uint64_t kMostOf3d = 16384;
constexpr std::uint64_t kMostWithLayers = 32768;
constexpr std::uint64_t kMostLayers = 2048;
constexpr std::uint64_t kMostOfCubes = 32768;
constexpr std::uint64_t kMostFaces = 2046;
constexpr std::uint64_t kFaces = 6;

bool fits(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  if ((d.Flags & CUDA_ARRAY3D_CUBEMAP) != 0) {
    const bool is_layered = (d.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    return d.Width != 0 && d.Width == d.Height && d.Width <= kMostOfCubes && d.Depth != 0 &&
           (is_layered ? d.Depth % kFaces == 0 && d.Depth <= kMostFaces : d.Depth == kFaces);
  }
  if ((d.Flags & CUDA_ARRAY3D_LAYERED) != 0) {
    return d.Width != 0 && d.Width <= kMostWithLayers && d.Height <= kMostWithLayers &&
           d.Depth != 0 && d.Depth <= kMostLayers;
  }
  if (d.Width == 0 || (d.Height == 0 && d.Depth != 0)) return false;
  if (d.Depth != 0) return d.Width <= kMostOf3d && d.Height <= kMostOf3d && d.Depth <= kMostOf3d;
  if (d.Height != 0) return d.Width <= kMostOf2d[0] && d.Height <= kMostOf2d[1];
  return d.Width <= kMostOf1d;
}

// Whether the last extent counts texels.
bool has_depth(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  return (d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0;
}

}  // namespace

CUDA_ARRAY3D_DESCRIPTOR description_of_level(const CUDA_ARRAY3D_DESCRIPTOR& first, unsigned level) {
  CUDA_ARRAY3D_DESCRIPTOR d = first;
  const auto reduce = [&](std::size_t* extent) {
    if (*extent != 0) *extent = std::max<std::size_t>(*extent >> level, 1);
  };
  reduce(&d.Width);
  reduce(&d.Height);
  if (has_depth(d)) reduce(&d.Depth);
  return d;
}

unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR& first) {
  const std::size_t largest =
      std::max({first.Width, first.Height, has_depth(first) ? first.Depth : 0});
  return static_cast<unsigned>(std::bit_width(largest));
}

std::optional<TexelType> texel_type(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
      return TexelType::kU8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
      return TexelType::kU16;
    case CU_AD_FORMAT_UNSIGNED_INT32:
      return TexelType::kU32;
    case CU_AD_FORMAT_SIGNED_INT8:
      return TexelType::kS8;
    case CU_AD_FORMAT_SIGNED_INT16:
      return TexelType::kS16;
    case CU_AD_FORMAT_SIGNED_INT32:
      return TexelType::kS32;
    case CU_AD_FORMAT_HALF:
      return TexelType::kF16;
    case CU_AD_FORMAT_FLOAT:
      return TexelType::kF32;
    default:
      return std::nullopt;
  }
}

SimArray make_array(const std::shared_ptr<DeviceHeap>& heap,
                    const CUDA_ARRAY3D_DESCRIPTOR& description) {
  const CUDA_ARRAY3D_DESCRIPTOR& d = description;
  for (const ArrayFlag& flag : kNotSimulated) {
    if ((d.Flags & flag.bit) != 0) {
      throw error(ErrorCode::kUnsupported, "the simulated GPU has no arrays with {}", flag.name);
    }
  }
  require((d.Flags & ~kKnown) == 0 && fits(d), CUDA_ERROR_INVALID_VALUE);
  require(d.NumChannels == 1 || d.NumChannels == 2 || d.NumChannels == 4, CUDA_ERROR_INVALID_VALUE);
  const std::optional<TexelType> type = texel_type(d.Format);
  if (!type) {
    throw error(ErrorCode::kUnsupported, "the simulated GPU has no arrays of format {:#x}",
                static_cast<unsigned>(d.Format));
  }
  SimArray array;
  array.heap = heap;
  array.description = d;
  array.row_bytes = d.Width * d.NumChannels * bytes_of(*type);
  array.pitch = (array.row_bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  array.slice = array.pitch * array.rows();
  array.address = heap->allocate(array.slice * array.slices());
  require(array.address != 0, CUDA_ERROR_OUT_OF_MEMORY);
  heap->memory().set_name(array.address, fmt::format("an array (format {:#x}, {} channels, {} x {} "
                                                     "x {})",
                                                     static_cast<unsigned>(d.Format), d.NumChannels,
                                                     d.Width, d.Height, d.Depth));
  return array;
}

}  // namespace baton::sim
