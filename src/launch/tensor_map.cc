#include "baton/tensor_map.h"

#include <cuda.h>

#include <algorithm>

#include "base/error.h"
#include "baton/device.h"
#include "chip/chip.h"
#include "driver/driver.h"
#include "launch/tensor_map_limits.h"
#include "runtime/context.h"

namespace baton {
namespace {

static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) &&
              alignof(TensorMap) >= alignof(CUtensorMap));
static_assert(static_cast<int>(TensorMapType::kTF32Ftz) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
static_assert(static_cast<int>(TensorMapSwizzle::k128BAtom64B) ==
              CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
static_assert(static_cast<int>(TensorMapL2Promotion::k256B) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);

// A list in the driver's order, the innermost dimension first.
template <typename T>
std::array<T, launch::kMaxTensorMapRank> reversed(const std::vector<std::int64_t>& values) {
  std::array<T, launch::kMaxTensorMapRank> result;
  result.fill(1);
  std::transform(values.rbegin(), values.rend(), result.begin(),
                 [](std::int64_t value) { return static_cast<T>(value); });
  return result;
}

}  // namespace

TensorMap TensorMap::encode(const Device& device, const TensorMapOptions& options) {
  const driver::Driver& driver = device.driver();
  if (device.architecture() < chip::kFirstWithTensorMaps) {
    throw error(ErrorCode::kUnsupported,
                "tensor maps need compute capability 9.0, {} has {}.{}; load the tile by ordinary "
                "loads there",
                device.name(), device.architecture() / 10, device.architecture() % 10);
  }
  if (driver.cuTensorMapEncodeTiled == nullptr) {
    throw error(ErrorCode::kUnsupported,
                "the {} has no cuTensorMapEncodeTiled; a driver of CUDA 12.4 or later has",
                driver.name);
  }
  launch::check(options, device.architecture());
  const auto shape = reversed<cuuint64_t>(options.shape);
  auto strides = reversed<cuuint64_t>(options.strides.empty() ? launch::dense_strides(options.shape)
                                                              : options.strides);
  // The driver counts bytes, and leaves out the innermost dimension.
  for (cuuint64_t& stride : strides) stride *= size_of(options.type);
  const auto box = reversed<cuuint32_t>(options.box);
  const auto element_strides = reversed<cuuint32_t>(options.element_strides);

  CUtensorMap native{};
  ContextGuard guard(device);
  BATON_DRIVER_CALL(
      driver, cuTensorMapEncodeTiled, &native, static_cast<CUtensorMapDataType>(options.type),
      static_cast<cuuint32_t>(options.shape.size()), reinterpret_cast<void*>(options.address),
      shape.data(), strides.data() + 1, box.data(), element_strides.data(),
      static_cast<CUtensorMapInterleave>(options.interleave),
      static_cast<CUtensorMapSwizzle>(options.swizzle),
      static_cast<CUtensorMapL2promotion>(options.l2_promotion),
      static_cast<CUtensorMapFloatOOBfill>(options.oob_fill));
  TensorMap map;
  const auto* bytes = reinterpret_cast<const std::byte*>(&native);
  std::copy_n(bytes, map.bytes_.size(), map.bytes_.begin());
  return map;
}

}  // namespace baton
