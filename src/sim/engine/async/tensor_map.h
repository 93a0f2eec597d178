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

// What the 128 opaque bytes of a tensor map hold on the simulated GPU: what cuTensorMapEncodeTiled
// or tensormap.replace was given, without interleaving; lists with the innermost dimension first. A
// plain value.
struct TileMap {
  template <typename T>
  using List = std::array<T, kMaxTensorRank>;

  std::uint64_t address = 0;
  List<std::uint64_t> extents = {};
  List<std::uint64_t> strides = {};  // in bytes; of the innermost dimension an element's size
  List<std::uint16_t> box = {};      // in elements, the element strides not taken off
  List<std::uint8_t> element_strides = {};
  std::uint8_t rank = 0;
  TensorType type = TensorType::kU8;
  // Bits 4 to 6 of an address in shared memory are exclusive-ored with as many of those from bit 7
  // on: 1, 2 or 3 swizzle 16-byte chunks within 32, 64 or 128 bytes (PTX ISA 9.0, "Swizzling
  // modes"; CUTLASS calls them Swizzle<1,4,3> to Swizzle<3,4,3>).
  std::uint8_t swizzle_bits = 0;
  std::uint8_t fills_nan = 0;  // else zeros

  std::uint32_t element_size() const { return static_cast<std::uint32_t>(strides[0]); }
};

inline constexpr std::size_t kTensorMapBytes = 128;
using TensorMapBytes = std::array<std::byte, kTensorMapBytes>;

TensorMapBytes pack(const TileMap& map);
// Nothing if the bytes are not a tensor map of a simulated GPU, or were overwritten. Kernels may
// have left fields that no copy can use: see flaw_of.
std::optional<TileMap> unpack_tensor_map(const TensorMapBytes& bytes);

// Why no copy can use the map, such as "its box has 0 elements in dimension 1: 1 to 256 are
// possible"; empty where copies can.
std::string flaw_of(const TileMap& map);

}  // namespace baton::sim
