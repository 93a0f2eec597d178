// Texture and surface objects.

#include <algorithm>

#include "shim/cudart/channel.h"
#include "shim/cudart/thread_state.h"

namespace {

using baton::cudart::answer;
using baton::cudart::description_of;
using baton::cudart::format_of;

// False for a descriptor of no texel.
bool to_driver(const cudaResourceDesc& given, CUDA_RESOURCE_DESC* resource) {
  *resource = {};
  resource->resType = static_cast<CUresourcetype>(given.resType);
  resource->flags = given.flags;
  auto& res = resource->res;
  switch (given.resType) {
    case cudaResourceTypeArray:
      res.array.hArray = reinterpret_cast<CUarray>(given.res.array.array);
      return true;
    case cudaResourceTypeMipmappedArray:
      res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(given.res.mipmap.mipmap);
      return true;
    case cudaResourceTypeLinear:
      res.linear.devPtr = reinterpret_cast<CUdeviceptr>(given.res.linear.devPtr);
      res.linear.sizeInBytes = given.res.linear.sizeInBytes;
      return format_of(given.res.linear.desc, &res.linear.format, &res.linear.numChannels);
    case cudaResourceTypePitch2D:
      res.pitch2D.devPtr = reinterpret_cast<CUdeviceptr>(given.res.pitch2D.devPtr);
      res.pitch2D.width = given.res.pitch2D.width;
      res.pitch2D.height = given.res.pitch2D.height;
      res.pitch2D.pitchInBytes = given.res.pitch2D.pitchInBytes;
      return format_of(given.res.pitch2D.desc, &res.pitch2D.format, &res.pitch2D.numChannels);
  }
  return true;  // for the driver to refuse
}

cudaResourceDesc from_driver(const CUDA_RESOURCE_DESC& given) {
  cudaResourceDesc resource{};
  resource.resType = static_cast<cudaResourceType>(given.resType);
  resource.flags = given.flags;
  auto& res = resource.res;
  switch (given.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      res.array.array = reinterpret_cast<cudaArray_t>(given.res.array.hArray);
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(given.res.mipmap.hMipmappedArray);
      break;
    case CU_RESOURCE_TYPE_LINEAR:
      res.linear.devPtr = reinterpret_cast<void*>(given.res.linear.devPtr);
      res.linear.sizeInBytes = given.res.linear.sizeInBytes;
      res.linear.desc = description_of(given.res.linear.format, given.res.linear.numChannels);
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      res.pitch2D.devPtr = reinterpret_cast<void*>(given.res.pitch2D.devPtr);
      res.pitch2D.width = given.res.pitch2D.width;
      res.pitch2D.height = given.res.pitch2D.height;
      res.pitch2D.pitchInBytes = given.res.pitch2D.pitchInBytes;
      res.pitch2D.desc = description_of(given.res.pitch2D.format, given.res.pitch2D.numChannels);
      break;
  }
  return resource;
}

CUDA_TEXTURE_DESC to_driver(const cudaTextureDesc& given) {
  CUDA_TEXTURE_DESC texture{};
  for (int d = 0; d < 3; ++d) {
    texture.addressMode[d] = static_cast<CUaddress_mode>(given.addressMode[d]);
  }
  texture.filterMode = static_cast<CUfilter_mode>(given.filterMode);
  texture.flags =
      (given.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0) |
      (given.normalizedCoords != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
      (given.sRGB != 0 ? CU_TRSF_SRGB : 0) |
      (given.disableTrilinearOptimization != 0 ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
      (given.seamlessCubemap != 0 ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
  texture.maxAnisotropy = given.maxAnisotropy;
  texture.mipmapFilterMode = static_cast<CUfilter_mode>(given.mipmapFilterMode);
  texture.mipmapLevelBias = given.mipmapLevelBias;
  texture.minMipmapLevelClamp = given.minMipmapLevelClamp;
  texture.maxMipmapLevelClamp = given.maxMipmapLevelClamp;
  std::copy_n(given.borderColor, 4, texture.borderColor);
  return texture;
}

cudaTextureDesc from_driver(const CUDA_TEXTURE_DESC& given) {
  cudaTextureDesc texture{};
  for (int d = 0; d < 3; ++d) {
    texture.addressMode[d] = static_cast<cudaTextureAddressMode>(given.addressMode[d]);
  }
  const auto has = [&](unsigned flag) { return (given.flags & flag) != 0 ? 1 : 0; };
  texture.filterMode = static_cast<cudaTextureFilterMode>(given.filterMode);
  texture.readMode =
      has(CU_TRSF_READ_AS_INTEGER) != 0 ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  texture.normalizedCoords = has(CU_TRSF_NORMALIZED_COORDINATES);
  texture.sRGB = has(CU_TRSF_SRGB);
  texture.disableTrilinearOptimization = has(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  texture.seamlessCubemap = has(CU_TRSF_SEAMLESS_CUBEMAP);
  texture.maxAnisotropy = given.maxAnisotropy;
  texture.mipmapFilterMode = static_cast<cudaTextureFilterMode>(given.mipmapFilterMode);
  texture.mipmapLevelBias = given.mipmapLevelBias;
  texture.minMipmapLevelClamp = given.minMipmapLevelClamp;
  texture.maxMipmapLevelClamp = given.maxMipmapLevelClamp;
  std::copy_n(given.borderColor, 4, texture.borderColor);
  return texture;
}

}  // namespace

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* resource_view) {
  BATON_RUNTIME_BEGIN();
  if (object == nullptr || resource == nullptr || texture == nullptr) {
    return answer(cudaErrorInvalidValue);
  }
  // The driver refuses one, whatever it says.
  CUDA_RESOURCE_VIEW_DESC view{};
  CUDA_RESOURCE_DESC of_driver;
  if (!to_driver(*resource, &of_driver)) return answer(cudaErrorInvalidChannelDescriptor);
  const CUDA_TEXTURE_DESC sampling = to_driver(*texture);
  return answer(
      cuTexObjectCreate(object, &of_driver, &sampling, resource_view == nullptr ? nullptr : &view));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  BATON_RUNTIME_BEGIN();
  return answer(cuTexObjectDestroy(object));
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  BATON_RUNTIME_BEGIN();
  CUDA_RESOURCE_DESC found;
  if (resource == nullptr) return answer(cudaErrorInvalidValue);
  if (const CUresult result = cuTexObjectGetResourceDesc(&found, object)) return answer(result);
  *resource = from_driver(found);
  return cudaSuccess;
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object) {
  BATON_RUNTIME_BEGIN();
  CUDA_TEXTURE_DESC found;
  if (texture == nullptr) return answer(cudaErrorInvalidValue);
  if (const CUresult result = cuTexObjectGetTextureDesc(&found, object)) return answer(result);
  *texture = from_driver(found);
  return cudaSuccess;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  BATON_RUNTIME_BEGIN();
  if (object == nullptr || resource == nullptr) return answer(cudaErrorInvalidValue);
  CUDA_RESOURCE_DESC of_driver;
  if (!to_driver(*resource, &of_driver)) return answer(cudaErrorInvalidChannelDescriptor);
  return answer(cuSurfObjectCreate(object, &of_driver));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  BATON_RUNTIME_BEGIN();
  return answer(cuSurfObjectDestroy(object));
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  BATON_RUNTIME_BEGIN();
  CUDA_RESOURCE_DESC found;
  if (resource == nullptr) return answer(cudaErrorInvalidValue);
  if (const CUresult result = cuSurfObjectGetResourceDesc(&found, object)) return answer(result);
  *resource = from_driver(found);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* texels,
                                                 const cudaChannelFormatDesc* description,
                                                 int device) {
  BATON_RUNTIME_BEGIN();
  if (texels == nullptr || description == nullptr) return answer(cudaErrorInvalidValue);
  CUarray_format format;
  unsigned channels = 0;
  if (!format_of(*description, &format, &channels)) {
    return answer(cudaErrorInvalidChannelDescriptor);
  }
  return answer(cuDeviceGetTexture1DLinearMaxWidth(texels, format, channels, device));
}
