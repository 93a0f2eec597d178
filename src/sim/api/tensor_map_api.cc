// Tensor maps. The limits are those that the documentation of cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col gives (CUDA 13.0 driver API).

#include <bit>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
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

// What both kinds of maps are made with.
struct Encoding {
  CUtensorMap* map;
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t* extents;
  const cuuint64_t* strides;
  const cuuint32_t* element_strides;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion l2_promotion;
  CUtensorMapFloatOOBfill fill;
};

// Without a box.
TileMap checked(const Encoding& e) {
  require(current_context()->profile().at(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED) != 0,
          CUDA_ERROR_NOT_SUPPORTED);
  // The driver takes a map at any address: cuda.core has its maps in Python's objects, which are
  // aligned to 16 bytes. Kernels need 64.
  need(e.map != nullptr);
  const auto span = swizzle_span(e.swizzle);
  need(has_type(e.type) && span && e.rank >= 1 && e.rank <= kMaxTensorRank);
  need(e.extents != nullptr && e.element_strides != nullptr);
  need(e.rank == 1 || e.strides != nullptr);
  need(e.interleave >= CU_TENSOR_MAP_INTERLEAVE_NONE &&
       e.interleave <= CU_TENSOR_MAP_INTERLEAVE_32B);
  need(e.l2_promotion >= CU_TENSOR_MAP_L2_PROMOTION_NONE &&
       e.l2_promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  const bool nan = e.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  need(nan || e.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  const bool wide = e.interleave == CU_TENSOR_MAP_INTERLEAVE_32B;
  need(e.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE || e.rank >= 3);
  need(!wide || e.swizzle == CU_TENSOR_MAP_SWIZZLE_32B);
  const std::uint64_t unit = wide ? 32 : 16;

  TileMap out;
  out.address = reinterpret_cast<std::uintptr_t>(e.address);
  need(out.address % unit == 0);
  out.rank = static_cast<std::uint8_t>(e.rank);
  out.type = static_cast<TensorType>(e.type);
  out.swizzle_bits = *span == 0 ? 0 : static_cast<std::uint8_t>(std::countr_zero(*span) - 4);
  out.fills_nan = nan ? 1 : 0;
  out.extents.fill(1);
  out.box.fill(1);
  out.element_strides.fill(1);
  out.strides[0] = size_of(out.type);
  for (std::size_t k = 0; k < e.rank; ++k) {
    need(e.extents[k] >= 1 && e.extents[k] <= kMaxTensorExtent);
    need(e.element_strides[k] >= 1 && e.element_strides[k] <= kMaxElementStride);
    out.extents[k] = e.extents[k];
    // That of the innermost dimension is ignored.
    if (k == 0) continue;
    out.element_strides[k] = static_cast<std::uint8_t>(e.element_strides[k]);
    need(e.strides[k - 1] % unit == 0 && e.strides[k - 1] < kMaxTensorStride);
    out.strides[k] = e.strides[k - 1];
  }
  return out;
}

CUresult give(const Encoding& e, const TileMap& made) {
  if (e.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) {
    throw error(ErrorCode::kUnsupported, "the simulated GPU has no interleaved tensor maps");
  }
  need(flaw_of(made).empty());
  const TensorMapBytes bytes = pack(made);
  std::memcpy(e.map, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

}  // namespace

CUresult TensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                              void* address, const cuuint64_t* extents, const cuuint64_t* strides,
                              const cuuint32_t* box, const cuuint32_t* element_strides,
                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                              CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill fill) {
  const Encoding encoding{
      map,        type,    rank,         address, extents, strides, element_strides,
      interleave, swizzle, l2_promotion, fill};
  TileMap made = checked(encoding);
  need(box != nullptr);
  for (std::size_t k = 0; k < rank; ++k) {
    need(box[k] >= 1 && box[k] <= kMaxTensorBox);
    made.box[k] = static_cast<std::uint16_t>(box[k]);
  }
  return give(encoding, made);
}

CUresult TensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                               void* address, const cuuint64_t* extents, const cuuint64_t* strides,
                               const int* lower, const int* upper, cuuint32_t channels,
                               cuuint32_t pixels, const cuuint32_t* element_strides,
                               CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                               CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill fill) {
  const Encoding encoding{
      map,        type,    rank,         address, extents, strides, element_strides,
      interleave, swizzle, l2_promotion, fill};
  need(rank >= 3);
  TileMap made = checked(encoding);
  need(lower != nullptr && upper != nullptr);
  need(channels >= 1 && channels <= kMaxTensorBox && pixels >= 1 && pixels <= kMostPixels);
  made.box[0] = static_cast<std::uint16_t>(channels);
  need(made.set_unfolding(pixels, lower, upper));
  return give(encoding, made);
}

CUresult TensorMapReplaceAddress(CUtensorMap* map, void* address) {
  enter();
  need(map != nullptr);
  TensorMapBytes bytes;
  std::memcpy(bytes.data(), map, bytes.size());
  std::optional<TileMap> made = unpack_tensor_map(bytes);
  need(made.has_value());
  made->address = reinterpret_cast<std::uintptr_t>(address);
  need(flaw_of(*made).empty());
  bytes = pack(*made);
  std::memcpy(map, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
