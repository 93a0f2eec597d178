// Arrays and their channels.

#include "shim/cudart/channel.h"
#include "shim/cudart/thread_state.h"

namespace baton::cudart {
namespace {

struct ChannelFormat {
  cudaChannelFormatKind kind;
  int bits;
  CUarray_format format;
};
constexpr ChannelFormat kFormats[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

const ChannelFormat* row_of(CUarray_format format) {
  for (const ChannelFormat& row : kFormats) {
    if (row.format == format) return &row;
  }
  return nullptr;
}

}  // namespace

bool format_of(const cudaChannelFormatDesc& description, CUarray_format* format,
               unsigned* channels) {
  const int bits[] = {description.x, description.y, description.z, description.w};
  unsigned count = 0;
  while (count < 4 && bits[count] != 0) ++count;
  for (unsigned k = 0; k < 4; ++k) {
    if (bits[k] != (k < count ? bits[0] : 0)) return false;
  }
  for (const ChannelFormat& row : kFormats) {
    if (row.kind != description.f || row.bits != bits[0]) continue;
    *format = row.format;
    *channels = count;
    return true;
  }
  return false;
}

cudaChannelFormatDesc description_of(CUarray_format format, unsigned channels) {
  const ChannelFormat* const row = row_of(format);
  if (row == nullptr) return {0, 0, 0, 0, cudaChannelFormatKindNone};
  const auto bits = [&](unsigned channel) { return channel < channels ? row->bits : 0; };
  return {bits(0), bits(1), bits(2), bits(3), row->kind};
}

cudaError_t describe(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR* description) {
  const CUresult result = cuArray3DGetDescriptor(
      description, reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array)));
  return static_cast<cudaError_t>(result);
}

cudaError_t texel_bytes(cudaArray_const_t array, size_t* bytes) {
  CUDA_ARRAY3D_DESCRIPTOR description;
  if (const cudaError_t error = describe(array, &description)) return error;
  const ChannelFormat* const row = row_of(description.Format);
  if (row == nullptr) return cudaErrorInvalidValue;
  *bytes = description.NumChannels * static_cast<unsigned>(row->bits) / 8;
  return cudaSuccess;
}

}  // namespace baton::cudart

namespace {

using baton::cudart::answer;

// False for channels that no array has.
bool to_driver(const cudaChannelFormatDesc& description, cudaExtent extent, unsigned flags,
               CUDA_ARRAY3D_DESCRIPTOR* wanted) {
  wanted->Width = extent.width;
  wanted->Height = extent.height;
  wanted->Depth = extent.depth;
  wanted->Flags = flags;  // the same bits
  return baton::cudart::format_of(description, &wanted->Format, &wanted->NumChannels);
}

}  // namespace

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmap,
                                     const cudaChannelFormatDesc* description, cudaExtent extent,
                                     unsigned levels, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  if (mipmap == nullptr || description == nullptr) return answer(cudaErrorInvalidValue);
  CUDA_ARRAY3D_DESCRIPTOR wanted{};
  if (!to_driver(*description, extent, flags, &wanted)) {
    return answer(cudaErrorInvalidChannelDescriptor);
  }
  return answer(
      cuMipmappedArrayCreate(reinterpret_cast<CUmipmappedArray*>(mipmap), &wanted, levels));
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* array, cudaMipmappedArray_const_t mipmap,
                                       unsigned level) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMipmappedArrayGetLevel(
      reinterpret_cast<CUarray*>(array),
      reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray_t>(mipmap)), level));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap) {
  BATON_RUNTIME_BEGIN();
  if (mipmap == nullptr) return cudaSuccess;
  return answer(cuMipmappedArrayDestroy(reinterpret_cast<CUmipmappedArray>(mipmap)));
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* description,
                              cudaExtent extent, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  if (array == nullptr || description == nullptr) return answer(cudaErrorInvalidValue);
  CUDA_ARRAY3D_DESCRIPTOR wanted{};
  if (!to_driver(*description, extent, flags, &wanted)) {
    return answer(cudaErrorInvalidChannelDescriptor);
  }
  return answer(cuArray3DCreate(reinterpret_cast<CUarray*>(array), &wanted));
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* description,
                            size_t width, size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, description, {width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  BATON_RUNTIME_BEGIN();
  if (array == nullptr) return cudaSuccess;
  return answer(cuArrayDestroy(reinterpret_cast<CUarray>(array)));
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* description, cudaExtent* extent,
                             unsigned* flags, cudaArray_t array) {
  BATON_RUNTIME_BEGIN();
  CUDA_ARRAY3D_DESCRIPTOR found;
  if (const cudaError_t error = baton::cudart::describe(array, &found)) return answer(error);
  if (description != nullptr) {
    *description = baton::cudart::description_of(found.Format, found.NumChannels);
  }
  if (extent != nullptr) *extent = {found.Width, found.Height, found.Depth};
  if (flags != nullptr) *flags = found.Flags;
  return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* description, cudaArray_const_t array) {
  if (description == nullptr) return answer(cudaErrorInvalidValue);
  return cudaArrayGetInfo(description, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
