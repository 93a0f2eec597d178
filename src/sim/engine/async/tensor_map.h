#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace baton::sim {

inline constexpr std::size_t kMaxTensorRank = 5;

// The limits of cuTensorMapEncodeTiled (CUDA 13.0 driver API), which tensormap.replace shares.
inline constexpr std::uint64_t kMaxTensorExtent = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kMaxTensorStride = std::uint64_t{1} << 40;  // exclusive
inline constexpr std::uint32_t kMaxTensorBox = 256;
inline constexpr std::uint32_t kMaxElementStride = 8;

// The element types, by the numbers of CUtensorMapDataType.
enum class TensorType : std::uint8_t {
  kU8,
  kU16,
  kU32,
  kI32,
  kU64,
  kI64,
  kF16,
  kF32,
  kF64,
  kBF16,
  kF32Ftz,
  kTF32,
  kTF32Ftz
};

// In bytes.
std::uint32_t size_of(TensorType type);

// Of maps that unfold images: cuTensorMapEncodeIm2col.
inline constexpr std::uint32_t kMostPixels = 1024;

// What the 128 opaque bytes of a tensor map hold on the simulated GPU: what cuTensorMapEncodeTiled,
// cuTensorMapEncodeIm2col or tensormap.replace was given, without interleaving; lists with the
// innermost dimension first. A plain value.
//
// A map that unfolds images has pixels of `box[0]` channels, the innermost dimension. The outermost
// one counts images, and those between are the images' own. A copy walks pixel by pixel through a
// range of each image, which begins and ends at some distance from the image's corners.
struct TileMap {
  template <typename T>
  using List = std::array<T, kMaxTensorRank>;

  std::uint64_t address = 0;
  List<std::uint64_t> extents = {};
  List<std::uint64_t> strides = {};  // in bytes; of the innermost dimension an element's size
  // In elements, the element strides not taken off. Of a map that unfolds only the first; the
  // others have what `pixels` and the like give.
  List<std::uint16_t> box = {};
  List<std::uint8_t> element_strides = {};
  std::uint8_t rank = 0;
  TensorType type = TensorType::kU8;
  // Bits 4 to 6 of an address in shared memory are exclusive-ored with as many of those from bit 7
  // on: 1, 2 or 3 swizzle 16-byte chunks within 32, 64 or 128 bytes (PTX ISA 9.0, "Swizzling
  // modes"; CUTLASS calls them Swizzle<1,4,3> to Swizzle<3,4,3>).
  std::uint8_t swizzle_bits = 0;
  std::uint8_t fills_nan = 0;  // else zeros
  std::uint8_t unfolds = 0;    // images

  // --- Of maps that unfold ---
  std::uint32_t pixels() const { return box[1]; }  // of one copy
  std::size_t image_rank() const { return rank - 2u; }
  // How far the range of pixels begins after the first pixel along dimension k of an image, from 1
  // on, and ends after its last one.
  int lower_corner(std::size_t k) const { return corner(box[2], k); }
  int upper_corner(std::size_t k) const { return corner(box[3], k); }
  // False where a corner does not fit. `lower` and `upper` have one for each of image_rank().
  bool set_unfolding(std::uint32_t pixels_of_copy, const int* lower, const int* upper);
  // Bits of a corner: those of all dimensions share 16, as the limits of CUDA's function show.
  unsigned corner_bits() const { return rank == 3 ? 16 : rank == 4 ? 8 : 5; }

  std::uint32_t element_size() const { return static_cast<std::uint32_t>(strides[0]); }

 private:
  int corner(std::uint16_t packed, std::size_t k) const;
};

inline constexpr std::size_t kTensorMapBytes = 128;
using TensorMapBytes = std::array<std::byte, kTensorMapBytes>;

TensorMapBytes pack(const TileMap& map);
// Nothing if the bytes are neither a tensor map of a simulated GPU nor one that host code wrote
// (hardware_map.h), or were overwritten. Kernels may have left fields that no copy can use: see
// flaw_of.
std::optional<TileMap> unpack_tensor_map(const TensorMapBytes& bytes);

// Why no copy can use the map, such as "its box has 0 elements in dimension 1: 1 to 256 are
// possible"; empty where copies can.
std::string flaw_of(const TileMap& map);

}  // namespace baton::sim
