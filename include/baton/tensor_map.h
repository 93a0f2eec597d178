#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "baton/dtype.h"
#include "baton/export.h"
#include "baton/native.h"

namespace baton {

class Device;

// The enumerations of cuTensorMapEncodeTiled (CUDA driver API), in its order.

// How elements are read and written: also whether sums of f32 keep subnormals (kF32Ftz flushes
// them; loads of it keep them, on an H200) and whether it is cut to the bits of tf32.
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
// The span in shared memory within which chunks change places: chunks of 16 bytes, in the last
// three, which need compute capability 10.0, of 32 and 64.
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
// What elements outside the tensor are loaded as. kNan is of floats.
enum class TensorMapFill : std::uint8_t { kZeros, kNan };

// As program files write them: "tf32_ftz", "128b", "nan".
BATON_API std::string_view to_string(TensorMapType type) noexcept;
BATON_API std::string_view to_string(TensorMapInterleave interleave) noexcept;
BATON_API std::string_view to_string(TensorMapSwizzle swizzle) noexcept;
BATON_API std::string_view to_string(TensorMapL2Promotion promotion) noexcept;
BATON_API std::string_view to_string(TensorMapFill fill) noexcept;

// In bytes.
BATON_API std::size_t size_of(TensorMapType type) noexcept;
// The type that elements of a dtype have where nothing else is said: fp8, bool and i8 are bytes,
// i16 is u16.
BATON_API TensorMapType tensor_map_type(DType dtype) noexcept;

// A tensor in memory and the box of it that one copy moves. All lists are in the order of rows, as
// shapes are everywhere in Baton, the innermost dimension last; coordinates in a kernel and the
// driver's own lists are in the opposite one. A plain value.
struct TensorMapOptions {
  TensorMapType type = TensorMapType::kF32;
  DeviceAddress address = 0;
  std::vector<std::int64_t> shape = {};            // in elements
  std::vector<std::int64_t> strides = {};          // in elements; empty: dense; the last is 1
  std::vector<std::int64_t> box = {};              // in elements
  std::vector<std::int64_t> element_strides = {};  // empty: all 1
  TensorMapInterleave interleave = TensorMapInterleave::kNone;
  TensorMapSwizzle swizzle = TensorMapSwizzle::kNone;
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::kNone;
  TensorMapFill oob_fill = TensorMapFill::kZeros;
};

// A tensor map in tiled mode: the argument of a kernel's `const __grid_constant__ CUtensorMap`, of
// whose bytes and alignment it is. Its contents are the driver's own, and those of one kind of
// device mean nothing to another. A plain value that refers to the memory; any thread may use it.
class BATON_API TensorMap {
 public:
  // Throws kInvalidInput for what the driver documents as a limit, with both numbers, kUnsupported
  // where the device or its driver has no tensor maps (compute capability 9.0 has), kDriver where
  // the driver refuses for another reason.
  static TensorMap encode(const Device& device, const TensorMapOptions& options);

  const std::byte* bytes() const { return bytes_.data(); }

 private:
  alignas(128) std::array<std::byte, 128> bytes_{};
};

}  // namespace baton
