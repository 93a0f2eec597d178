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

// Devices of compute capability 9.0 have no others.
bool has_type(CUtensorMapDataType type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_UINT8 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}
static_assert(static_cast<int>(TensorType::kTF32Ftz) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);

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
  // The driver takes a map at any address: cuda.core has its maps in Python's objects, which are
  // aligned to 16 bytes. Kernels need 64.
  need(map != nullptr);
  const auto span = swizzle_span(swizzle);
  need(has_type(type) && span && rank >= 1 && rank <= kMaxTensorRank);
  need(extents != nullptr && box != nullptr && element_strides != nullptr);
  need(rank == 1 || strides != nullptr);
  need(interleave >= CU_TENSOR_MAP_INTERLEAVE_NONE && interleave <= CU_TENSOR_MAP_INTERLEAVE_32B);
  need(l2_promotion >= CU_TENSOR_MAP_L2_PROMOTION_NONE &&
       l2_promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  const bool nan = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  need(nan || fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
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
  out.strides[0] = size_of(out.type);
  for (std::size_t k = 0; k < rank; ++k) {
    need(extents[k] >= 1 && extents[k] <= kMaxTensorExtent);
    need(box[k] >= 1 && box[k] <= kMaxTensorBox);
    need(element_strides[k] >= 1 && element_strides[k] <= kMaxElementStride);
    out.extents[k] = extents[k];
    out.box[k] = static_cast<std::uint16_t>(box[k]);
    out.element_strides[k] = static_cast<std::uint8_t>(element_strides[k]);
    if (k == 0) continue;
    need(strides[k - 1] % unit == 0 && strides[k - 1] < kMaxTensorStride);
    out.strides[k] = strides[k - 1];
  }
  if (interleaved) {
    throw error(ErrorCode::kUnsupported, "the simulated GPU has no interleaved tensor maps");
  }
  out.element_strides[0] = 1;  // it is ignored
  need(flaw_of(out).empty());
  const TensorMapBytes bytes = pack(out);
  std::memcpy(map, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
