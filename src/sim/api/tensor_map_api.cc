// Tensor maps. The limits are those that the documentation of cuTensorMapEncodeTiled gives (CUDA
// 13.0 driver API).

#include <bit>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/refusal.h"
#include "sim/engine/async/tensor_map.h"

namespace baton::sim::api {
namespace {

constexpr std::uint64_t kMaxExtent = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxStride = std::uint64_t{1} << 40;  // exclusive
constexpr std::uint32_t kMaxBox = 256;
constexpr std::uint32_t kMaxElementStride = 8;
constexpr std::uint64_t kMapAlignment = 64;

// In bytes; nothing for types that devices of compute capability 9.0 do not have.
std::optional<std::uint32_t> element_size(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
      return 4;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
    default:
      return std::nullopt;
  }
}

static_assert(static_cast<int>(TensorType::kTF32Ftz) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);

bool is_float(CUtensorMapDataType type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
}

// In bytes; 0 for none; nothing for those that devices of compute capability 9.0 do not have.
std::optional<std::uint32_t> swizzle_span(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_NONE:
      return 0;
    case CU_TENSOR_MAP_SWIZZLE_32B:
      return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B:
      return 64;
    case CU_TENSOR_MAP_SWIZZLE_128B:
      return 128;
    default:
      return std::nullopt;
  }
}

void need(bool condition) {
  require(condition, CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

CUresult TensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                              void* address, const cuuint64_t* extents, const cuuint64_t* strides,
                              const cuuint32_t* box, const cuuint32_t* element_strides,
                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                              CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill fill) {
  require(current_context()->profile().at(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED) != 0,
          CUDA_ERROR_NOT_SUPPORTED);
  need(map != nullptr && reinterpret_cast<std::uintptr_t>(map) % kMapAlignment == 0);
  const auto size = element_size(type);
  const auto span = swizzle_span(swizzle);
  need(size && span && rank >= 1 && rank <= kMaxTensorRank);
  need(extents != nullptr && box != nullptr && element_strides != nullptr);
  need(rank == 1 || strides != nullptr);
  need(interleave >= CU_TENSOR_MAP_INTERLEAVE_NONE && interleave <= CU_TENSOR_MAP_INTERLEAVE_32B);
  need(l2_promotion >= CU_TENSOR_MAP_L2_PROMOTION_NONE &&
       l2_promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  const bool nan = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  need(nan ? is_float(type) : fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  const bool interleaved = interleave != CU_TENSOR_MAP_INTERLEAVE_NONE;
  const bool wide = interleave == CU_TENSOR_MAP_INTERLEAVE_32B;
  need(!interleaved || rank >= 3);
  need(!wide || swizzle == CU_TENSOR_MAP_SWIZZLE_32B);
  const std::uint64_t unit = wide ? 32 : 16;

  TileMap out;
  out.address = reinterpret_cast<std::uintptr_t>(address);
  need(out.address % unit == 0);
  out.rank = static_cast<std::uint8_t>(rank);
  out.type = static_cast<TensorType>(type);
  out.swizzle_bits = *span == 0 ? 0 : static_cast<std::uint8_t>(std::countr_zero(*span) - 4);
  out.fills_nan = nan ? 1 : 0;
  out.extents.fill(1);
  out.box.fill(1);
  out.element_strides.fill(1);
  out.strides[0] = *size;
  for (std::size_t k = 0; k < rank; ++k) {
    need(extents[k] >= 1 && extents[k] <= kMaxExtent);
    need(box[k] >= 1 && box[k] <= kMaxBox);
    need(element_strides[k] >= 1 && element_strides[k] <= kMaxElementStride);
    out.extents[k] = extents[k];
    out.box[k] = static_cast<std::uint16_t>(box[k]);
    out.element_strides[k] = static_cast<std::uint8_t>(element_strides[k]);
    if (k == 0) continue;
    need(strides[k - 1] % unit == 0 && strides[k - 1] < kMaxStride);
    out.strides[k] = strides[k - 1];
  }
  if (!interleaved) {
    const std::uint32_t inner = box[0] * *size;
    need(inner % 16 == 0 && (*span == 0 || inner <= *span));
    out.element_strides[0] = 1;  // it is ignored
  } else {
    throw error(ErrorCode::kUnsupported, "the simulated GPU has no interleaved tensor maps");
  }
  const TensorMapBytes bytes = pack(out);
  std::memcpy(map, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
