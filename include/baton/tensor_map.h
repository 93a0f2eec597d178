#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "baton/dtype.h"
#include "baton/forward.h"
#include "baton/native.h"

namespace baton {

// The enumerations of cuTensorMapEncodeTiled (CUDA driver API), in its order.

// The type of the elements. It also decides whether sums of f32 keep subnormals, and whether f32 is
// rounded to tf32. kF32Ftz flushes subnormals in sums; its loads keep them on an H200.
enum class TensorMapType : std::uint8_t {
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
enum class TensorMapInterleave : std::uint8_t { kNone, k16B, k32B };
// The span in shared memory in which chunks change places. Chunks have 16 bytes. In the last three
// modes, which need compute capability 10.0, they have 32 or 64 bytes.
enum class TensorMapSwizzle : std::uint8_t {
  kNone,
  k32B,
  k64B,
  k128B,
  k128BAtom32B,
  k128BAtom32BFlip8B,
  k128BAtom64B
};
enum class TensorMapL2Promotion : std::uint8_t { kNone, k64B, k128B, k256B };
// The value of elements outside the tensor. kNan needs a floating type.
enum class TensorMapFill : std::uint8_t { kZeros, kNan };

// The names of program files: "tf32_ftz", "128b", "nan".
BATON_API std::string_view to_string(TensorMapType type) noexcept;
BATON_API std::string_view to_string(TensorMapInterleave interleave) noexcept;
BATON_API std::string_view to_string(TensorMapSwizzle swizzle) noexcept;
BATON_API std::string_view to_string(TensorMapL2Promotion promotion) noexcept;
BATON_API std::string_view to_string(TensorMapFill fill) noexcept;

// The size of an element in bytes.
BATON_API std::size_t size_of(TensorMapType type) noexcept;
// The default type for a dtype: kU8 for fp8, bool and i8, kU16 for i16.
BATON_API TensorMapType tensor_map_type(DType dtype) noexcept;

// A tensor in memory, and the box of it that one copy moves. Lists have the innermost dimension
// last, as all shapes in Baton. Coordinates in a kernel and the driver's own lists have the
// opposite order. A plain value.
struct TensorMapOptions {
  TensorMapType type = TensorMapType::kF32;
  DeviceAddress address = 0;
  std::vector<std::int64_t> shape = {};            // in elements
  std::vector<std::int64_t> strides = {};          // in elements; empty: contiguous; the last is 1
  std::vector<std::int64_t> box = {};              // in elements
  std::vector<std::int64_t> element_strides = {};  // empty: all 1
  TensorMapInterleave interleave = TensorMapInterleave::kNone;
  TensorMapSwizzle swizzle = TensorMapSwizzle::kNone;
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::kNone;
  TensorMapFill oob_fill = TensorMapFill::kZeros;
};

// A tensor map in tiled mode: the argument for `const __grid_constant__ CUtensorMap`, with its size
// and alignment. The driver defines the contents; a map of one kind of device is not valid on
// another. A plain value that refers to the tensor's memory. Thread-safe.
class BATON_API TensorMap {
 public:
  // Throws kInvalidInput for a limit that the driver documents, with both numbers. Throws
  // kUnsupported if the device (before compute capability 9.0) or its driver has no tensor maps,
  // and kDriver for another rejection by the driver.
  static TensorMap encode(const Device& device, const TensorMapOptions& options);

  const std::byte* bytes() const { return bytes_.data(); }

 private:
  alignas(128) std::array<std::byte, 128> bytes_{};
};

}  // namespace baton
