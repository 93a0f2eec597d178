// Mipmapped arrays: each level is an array, which the mipmap owns.

#include <algorithm>

#include "sim/api/api.h"
#include "sim/api/array.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"

namespace baton::sim::api {

std::shared_ptr<const SimMipmap> mipmap_of(CUmipmappedArray handle) {
  enter();
  std::shared_ptr<const SimMipmap> mipmap = Objects::instance().mipmaps.find(handle);
  require(mipmap != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return mipmap;
}

// More levels than there are sizes are not made (CUDA 13.0 driver API, cuMipmappedArrayCreate).
CUresult MipmappedArrayCreate(CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR* description,
                              unsigned levels) {
  const std::shared_ptr<Context> context = usable_context();
  require(handle != nullptr && description != nullptr, CUDA_ERROR_INVALID_VALUE);
  auto mipmap = std::make_shared<SimMipmap>();
  const unsigned count = std::clamp(levels, 1u, std::max(most_levels(*description), 1u));
  try {
    for (unsigned level = 0; level < count; ++level) {
      SimArray array = make_array(context->heap(), description_of_level(*description, level));
      array.is_level = true;
      mipmap->levels.push_back(
          Objects::instance().arrays.add(std::make_shared<const SimArray>(std::move(array))));
    }
  } catch (...) {
    for (const CUarray made : mipmap->levels) free_array(made);
    throw;
  }
  *handle = Objects::instance().mipmaps.add(std::move(mipmap));
  return CUDA_SUCCESS;
}

CUresult MipmappedArrayGetLevel(CUarray* array, CUmipmappedArray handle, unsigned level) {
  const std::shared_ptr<const SimMipmap> mipmap = mipmap_of(handle);
  require(array != nullptr && level < mipmap->levels.size(), CUDA_ERROR_INVALID_VALUE);
  *array = mipmap->levels[level];
  return CUDA_SUCCESS;
}

CUresult MipmappedArrayDestroy(CUmipmappedArray handle) {
  enter();
  const std::shared_ptr<const SimMipmap> mipmap = Objects::instance().mipmaps.remove(handle);
  require(mipmap != nullptr, CUDA_ERROR_INVALID_HANDLE);
  CUresult result = CUDA_SUCCESS;
  for (const CUarray level : mipmap->levels) result = free_array(level);
  return result;
}

}  // namespace baton::sim::api
