#include "launch/tensor_map_limits.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.h"

namespace baton::launch {
namespace {

constexpr std::array<std::string_view, 13> kTypes = {"u8",      "u16",  "u32",     "i32", "u64",
                                                     "i64",     "f16",  "f32",     "f64", "bf16",
                                                     "f32_ftz", "tf32", "tf32_ftz"};
constexpr std::array<std::string_view, 3> kInterleaves = {"none", "16b", "32b"};
constexpr std::array<std::string_view, 7> kSwizzles = {
    "none", "32b", "64b", "128b", "128b_atom_32b", "128b_atom_32b_flip_8b", "128b_atom_64b"};
constexpr std::array<std::string_view, 4> kL2Promotions = {"none", "64b", "128b", "256b"};
constexpr std::array<std::string_view, 2> kFills = {"zeros", "nan"};

constexpr std::array<std::size_t, 13> kSizes = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr TensorMapType kFirstFloat = TensorMapType::kF16;  // what follows is floats too

constexpr std::int64_t kMaxExtent = std::int64_t{1} << 32;       // elements
constexpr std::int64_t kMaxStrideBytes = std::int64_t{1} << 40;  // exclusive
constexpr std::int64_t kMaxBox = 256;                            // elements
constexpr std::int64_t kMaxElementStride = 8;
constexpr std::int64_t kChunk = 16;             // bytes
constexpr std::int64_t kInterleavedChunk = 32;  // bytes, with interleave 32b
constexpr std::size_t kMinInterleavedRank = 3;
constexpr int kFirstWithAtoms = 100;  // compute capability 10.0

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw error(ErrorCode::kInvalidInput, "the tensor map's {}",
              fmt::format(format, std::forward<Args>(args)...));
}

void check_range(std::string_view what, std::span<const std::int64_t> values, std::int64_t most) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 1 || values[i] > most) {
      refuse("{}[{}] is {}, it must be 1 to {}", what, i, values[i], most);
    }
  }
}

void check_count(std::string_view what, std::size_t count, std::size_t rank) {
  if (count != rank) refuse("{} has {} extents, its shape has {}", what, count, rank);
}

// In bytes; 0 for none.
std::int64_t span_of(TensorMapSwizzle swizzle) {
  switch (swizzle) {
    case TensorMapSwizzle::kNone:
      return 0;
    case TensorMapSwizzle::k32B:
      return 32;
    case TensorMapSwizzle::k64B:
      return 64;
    default:
      return 128;
  }
}

void check_strides(const TensorMapOptions& options, std::int64_t chunk) {
  const bool given = !options.strides.empty();
  const std::vector<std::int64_t> strides = given ? options.strides : dense_strides(options.shape);
  if (strides.empty()) refuse("shape has more elements than 64 bits count");
  check_count("strides", strides.size(), options.shape.size());
  const auto size = static_cast<std::int64_t>(size_of(options.type));
  if (strides.back() != 1) {
    refuse("strides[{}] is {}, that of the innermost dimension must be 1", strides.size() - 1,
           strides.back());
  }
  for (std::size_t i = 0; i + 1 < strides.size(); ++i) {
    const std::int64_t stride = strides[i];
    if (stride < 0 || stride > (kMaxStrideBytes - 1) / size) {
      refuse("strides[{}] is {} elements of {} bytes, it must be 0 to {} bytes", i, stride, size,
             kMaxStrideBytes - 1);
    }
    if (stride * size % chunk != 0) {
      refuse("strides[{}] is {} elements, {} bytes, it must be a multiple of {} bytes{}", i, stride,
             stride * size, chunk, given ? "" : "; its dimensions are contiguous without strides");
    }
  }
}

void check_box(const TensorMapOptions& options) {
  check_count("box", options.box.size(), options.shape.size());
  check_range("box", options.box, kMaxBox);
  if (options.interleave != TensorMapInterleave::kNone) return;
  const std::int64_t inner = options.box.back() * static_cast<std::int64_t>(size_of(options.type));
  const std::size_t last = options.box.size() - 1;
  if (inner % kChunk != 0) {
    refuse("box[{}] is {} elements, {} bytes, it must be a multiple of {} bytes", last,
           options.box.back(), inner, kChunk);
  }
  const std::int64_t span = span_of(options.swizzle);
  if (span != 0 && inner > span) {
    refuse("box[{}] is {} elements, {} bytes, the most with swizzle {} is {} bytes", last,
           options.box.back(), inner, to_string(options.swizzle), span);
  }
}

void check_element_strides(const TensorMapOptions& options) {
  if (options.element_strides.empty()) return;
  check_count("element_strides", options.element_strides.size(), options.shape.size());
  check_range("element_strides", options.element_strides, kMaxElementStride);
  if (options.interleave == TensorMapInterleave::kNone && options.element_strides.back() != 1) {
    refuse(
        "element_strides[{}] is {}, that of the innermost dimension must be 1 without interleave",
        options.element_strides.size() - 1, options.element_strides.back());
  }
}

}  // namespace

std::span<const std::string_view> tensor_map_types() {
  return kTypes;
}
std::span<const std::string_view> tensor_map_interleaves() {
  return kInterleaves;
}
std::span<const std::string_view> tensor_map_swizzles() {
  return kSwizzles;
}
std::span<const std::string_view> tensor_map_l2_promotions() {
  return kL2Promotions;
}
std::span<const std::string_view> tensor_map_fills() {
  return kFills;
}

std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    if (__builtin_mul_overflow(strides[i], shape[i], &strides[i - 1])) return {};
  }
  return strides;
}

void check(const TensorMapOptions& options, int architecture) {
  const std::size_t rank = options.shape.size();
  if (rank < 1 || rank > kMaxTensorMapRank) {
    refuse("shape has {} dimensions, it must have 1 to {}", rank, kMaxTensorMapRank);
  }
  const bool interleaved = options.interleave != TensorMapInterleave::kNone;
  if (interleaved && rank < kMinInterleavedRank) {
    refuse("shape has {} dimensions, with interleave {} it must have {} to {}", rank,
           to_string(options.interleave), kMinInterleavedRank, kMaxTensorMapRank);
  }
  const bool wide = options.interleave == TensorMapInterleave::k32B;
  if (wide && options.swizzle != TensorMapSwizzle::k32B) {
    refuse("swizzle is {}, with interleave 32b it must be 32b", to_string(options.swizzle));
  }
  check_range("shape", options.shape, kMaxExtent);
  const std::int64_t chunk = wide ? kInterleavedChunk : kChunk;
  check_strides(options, chunk);
  check_box(options);
  check_element_strides(options);
  if (options.oob_fill == TensorMapFill::kNan && options.type < kFirstFloat) {
    refuse("oob_fill is nan, its type {} is not a floating type", to_string(options.type));
  }
  if (options.address % static_cast<std::uint64_t>(chunk) != 0) {
    refuse("address is aligned to {} bytes, it must be to {}",
           std::uint64_t{1} << std::countr_zero(options.address), chunk);
  }
  if (options.swizzle > TensorMapSwizzle::k128B && architecture < kFirstWithAtoms) {
    throw error(ErrorCode::kUnsupported,
                "the tensor map's swizzle {} needs compute capability {}.{}, the device has {}.{}",
                to_string(options.swizzle), kFirstWithAtoms / 10, kFirstWithAtoms % 10,
                architecture / 10, architecture % 10);
  }
}

void check_reach(const TensorMapOptions& options, std::int64_t elements) {
  const std::vector<std::int64_t> strides =
      options.strides.empty() ? dense_strides(options.shape) : options.strides;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    std::int64_t step = 0;
    if (__builtin_mul_overflow(options.shape[i] - 1, strides[i], &step) ||
        __builtin_add_overflow(last, step, &last)) {
      refuse("last element is beyond 64-bit offsets");
    }
  }
  if (last >= elements) {
    refuse("last element is {} elements after its first, the buffer has {} from there on", last,
           elements);
  }
}

}  // namespace baton::launch

namespace baton {

std::string_view to_string(TensorMapType type) noexcept {
  return launch::kTypes[static_cast<std::size_t>(type)];
}
std::string_view to_string(TensorMapInterleave interleave) noexcept {
  return launch::kInterleaves[static_cast<std::size_t>(interleave)];
}
std::string_view to_string(TensorMapSwizzle swizzle) noexcept {
  return launch::kSwizzles[static_cast<std::size_t>(swizzle)];
}
std::string_view to_string(TensorMapL2Promotion promotion) noexcept {
  return launch::kL2Promotions[static_cast<std::size_t>(promotion)];
}
std::string_view to_string(TensorMapFill fill) noexcept {
  return launch::kFills[static_cast<std::size_t>(fill)];
}

std::size_t size_of(TensorMapType type) noexcept {
  return launch::kSizes[static_cast<std::size_t>(type)];
}

TensorMapType tensor_map_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::kF16:
      return TensorMapType::kF16;
    case DType::kBF16:
      return TensorMapType::kBF16;
    case DType::kF32:
      return TensorMapType::kF32;
    case DType::kF64:
      return TensorMapType::kF64;
    case DType::kI16:
    case DType::kU16:
      return TensorMapType::kU16;
    case DType::kI32:
      return TensorMapType::kI32;
    case DType::kU32:
      return TensorMapType::kU32;
    case DType::kI64:
      return TensorMapType::kI64;
    case DType::kU64:
      return TensorMapType::kU64;
    case DType::kF8E4M3:
    case DType::kF8E5M2:
    case DType::kBool:
    case DType::kI8:
    case DType::kU8:
      break;
  }
  return TensorMapType::kU8;
}

}  // namespace baton
