// Copies and fills.

#include "shim/cudart/copy.h"

#include "shim/cudart/channel.h"
#include "shim/cudart/fat_binaries.h"
#include "shim/cudart/thread_state.h"

namespace baton::cudart {
namespace {

bool is_device_memory(const void* pointer) {
  unsigned type = 0;
  const CUresult result = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                reinterpret_cast<CUdeviceptr>(pointer));
  return result == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE;
}

CUarray driver_array(const ArrayPart& part) {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(part.array));
}

bool is_of_device(const void* pointer, cudaMemcpyKind kind, bool by_kind) {
  return kind == cudaMemcpyDefault ? is_device_memory(pointer) : by_kind;
}

}  // namespace

cudaError_t params_of(const RowCopy& copy, CUDA_MEMCPY3D* params) {
  if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  const bool is_pitched = copy.extent.height > 1 || copy.extent.depth > 1;
  const auto is_narrow = [&](const cudaPitchedPtr& side, const ArrayPart& array) {
    return is_pitched && array.array == nullptr && side.pitch < copy.extent.width;
  };
  if (is_narrow(copy.target, copy.target_array) || is_narrow(copy.source, copy.source_array)) {
    return cudaErrorInvalidPitchValue;
  }
  *params = {};
  params->WidthInBytes = copy.extent.width;
  params->Height = copy.extent.height;
  params->Depth = copy.extent.depth;
  params->dstPitch = copy.target.pitch;
  params->srcPitch = copy.source.pitch;
  params->dstHeight = copy.target.ysize;
  params->srcHeight = copy.source.ysize;
  const bool to_device =
      copy.kind == cudaMemcpyHostToDevice || copy.kind == cudaMemcpyDeviceToDevice;
  const bool from_device =
      copy.kind == cudaMemcpyDeviceToHost || copy.kind == cudaMemcpyDeviceToDevice;
  if (copy.target_array.array != nullptr) {
    params->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    params->dstArray = driver_array(copy.target_array);
    params->dstXInBytes = copy.target_array.x;
    params->dstY = copy.target_array.y;
    params->dstZ = copy.target_array.z;
  } else if (is_of_device(copy.target.ptr, copy.kind, to_device)) {
    params->dstMemoryType = CU_MEMORYTYPE_DEVICE;
    params->dstDevice = reinterpret_cast<CUdeviceptr>(copy.target.ptr);
  } else {
    params->dstMemoryType = CU_MEMORYTYPE_HOST;
    params->dstHost = copy.target.ptr;
  }
  if (copy.source_array.array != nullptr) {
    params->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    params->srcArray = driver_array(copy.source_array);
    params->srcXInBytes = copy.source_array.x;
    params->srcY = copy.source_array.y;
    params->srcZ = copy.source_array.z;
  } else if (is_of_device(copy.source.ptr, copy.kind, from_device)) {
    params->srcMemoryType = CU_MEMORYTYPE_DEVICE;
    params->srcDevice = reinterpret_cast<CUdeviceptr>(copy.source.ptr);
  } else {
    params->srcMemoryType = CU_MEMORYTYPE_HOST;
    params->srcHost = copy.source.ptr;
  }
  return cudaSuccess;
}

RowCopy flat_copy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  RowCopy copy;
  copy.target = {target, bytes, bytes, 1};
  copy.source = {const_cast<void*>(source), bytes, bytes, 1};
  copy.extent = {bytes, 1, 1};
  copy.kind = kind;
  return copy;
}

// Positions in an array count its texels, and so does the width of a copy that has an array.
cudaError_t row_copy(const cudaMemcpy3DParms& params, RowCopy* copy) {
  *copy = {};
  copy->extent = params.extent;
  copy->kind = params.kind;
  size_t texel = 0;
  const auto set = [&](cudaArray_t array, const cudaPos& at, cudaPitchedPtr linear, ArrayPart* part,
                       cudaPitchedPtr* side) {
    if (array == nullptr) {
      linear.ptr = static_cast<char*>(linear.ptr) + at.x + at.y * linear.pitch +
                   at.z * linear.pitch * linear.ysize;
      *side = linear;
      return cudaSuccess;
    }
    if (linear.ptr != nullptr) return cudaErrorInvalidValue;
    size_t bytes = 0;
    if (const cudaError_t error = texel_bytes(array, &bytes)) return error;
    if (texel != 0 && texel != bytes) return cudaErrorInvalidValue;
    texel = bytes;
    *part = {array, at.x * bytes, at.y, at.z};
    return cudaSuccess;
  };
  if (const cudaError_t error =
          set(params.dstArray, params.dstPos, params.dstPtr, &copy->target_array, &copy->target)) {
    return error;
  }
  if (const cudaError_t error =
          set(params.srcArray, params.srcPos, params.srcPtr, &copy->source_array, &copy->source)) {
    return error;
  }
  if (texel != 0) copy->extent.width *= texel;
  return cudaSuccess;
}

namespace {

bool is_empty(const RowCopy& copy) {
  return copy.extent.width == 0 || copy.extent.height == 0 || copy.extent.depth == 0;
}

}  // namespace

cudaError_t submit(const RowCopy& copy, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  if (is_empty(copy)) return cudaSuccess;
  CUDA_MEMCPY3D params;
  if (const cudaError_t error = params_of(copy, &params)) return answer(error);
  return answer(cuMemcpy3DAsync(&params, stream_of(stream)));
}

// A copy inside of the device is in order with the default stream, and the host need not wait.
cudaError_t submit_and_wait(const RowCopy& copy) {
  if (const cudaError_t error = submit(copy, nullptr)) return error;
  if (copy.kind == cudaMemcpyDeviceToDevice) return cudaSuccess;
  return answer(cuStreamSynchronize(stream_of(nullptr)));
}

}  // namespace baton::cudart

namespace {

using baton::cudart::answer;
using baton::cudart::check_device;
using baton::cudart::FatBinaries;
using baton::cudart::flat_copy;
using baton::cudart::RowCopy;
using baton::cudart::stream_of;
using baton::cudart::submit;
using baton::cudart::submit_and_wait;

RowCopy rows(void* target, size_t target_pitch, const void* source, size_t source_pitch,
             size_t width, size_t height, cudaMemcpyKind kind) {
  RowCopy copy;
  copy.target = {target, target_pitch, width, height};
  copy.source = {const_cast<void*>(source), source_pitch, width, height};
  copy.extent = {width, height, 1};
  copy.kind = kind;
  return copy;
}

cudaError_t cube(const cudaMemcpy3DParms* params, RowCopy* copy) {
  if (params == nullptr) return cudaErrorInvalidValue;
  return baton::cudart::row_copy(*params, copy);
}

cudaMemcpy3DParms without_devices(const cudaMemcpy3DPeerParms* params) {
  cudaMemcpy3DParms plain{};
  if (params == nullptr) return plain;
  plain.srcArray = params->srcArray;
  plain.srcPos = params->srcPos;
  plain.srcPtr = params->srcPtr;
  plain.dstArray = params->dstArray;
  plain.dstPos = params->dstPos;
  plain.dstPtr = params->dstPtr;
  plain.extent = params->extent;
  plain.kind = cudaMemcpyDefault;
  return plain;
}

// The part of a variable that a copy names.
cudaError_t part_of(const void* symbol, size_t offset, size_t bytes, void** address) {
  CUdeviceptr start = 0;
  size_t size = 0;
  if (const cudaError_t error = FatBinaries::instance().variable(symbol, &start, &size))
    return error;
  if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
  *address = reinterpret_cast<void*>(start + offset);
  return cudaSuccess;
}

struct MemoryFill {
  void* pointer = nullptr;
  size_t pitch = 0;
  int value = 0;
  size_t width = 0, height = 1;
};

cudaError_t submit(const MemoryFill& fill, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemsetD2D8Async(reinterpret_cast<CUdeviceptr>(fill.pointer), fill.pitch,
                                  static_cast<unsigned char>(fill.value), fill.width, fill.height,
                                  stream_of(stream)));
}

// Returns after the fill where the host can read the memory, as the driver does.
cudaError_t submit_and_wait(const MemoryFill& fill) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemsetD2D8(reinterpret_cast<CUdeviceptr>(fill.pointer), fill.pitch,
                             static_cast<unsigned char>(fill.value), fill.width, fill.height));
}

template <typename Submit>
cudaError_t fill_slices(cudaPitchedPtr pointer, int value, cudaExtent extent,
                        const Submit& submit_slice) {
  for (size_t z = 0; z < extent.depth; ++z) {
    char* const slice = static_cast<char*>(pointer.ptr) + z * pointer.pitch * pointer.ysize;
    const cudaError_t error =
        submit_slice(MemoryFill{slice, pointer.pitch, value, extent.width, extent.height});
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t baton::cudart::to_symbol(const void* symbol, const void* source, size_t bytes,
                                     size_t offset, cudaMemcpyKind kind, RowCopy* copy) {
  void* target = nullptr;
  if (const cudaError_t error = part_of(symbol, offset, bytes, &target)) return error;
  *copy = flat_copy(target, source, bytes, kind);
  return cudaSuccess;
}

cudaError_t baton::cudart::from_symbol(void* target, const void* symbol, size_t bytes,
                                       size_t offset, cudaMemcpyKind kind, RowCopy* copy) {
  void* source = nullptr;
  if (const cudaError_t error = part_of(symbol, offset, bytes, &source)) return error;
  *copy = flat_copy(target, source, bytes, kind);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  return submit_and_wait(flat_copy(target, source, bytes, kind));
}

cudaError_t cudaMemcpyBatchAsync(void* const* targets, const void* const* sources,
                                 const size_t* sizes, size_t count,
                                 cudaMemcpyAttributes* attributes, size_t* first_copies,
                                 size_t attribute_count, cudaStream_t stream) {
  static_assert(sizeof(cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes));
  BATON_RUNTIME_BEGIN();
  return answer(cuMemcpyBatchAsync(
      const_cast<CUdeviceptr*>(reinterpret_cast<const CUdeviceptr*>(targets)),
      const_cast<CUdeviceptr*>(reinterpret_cast<const CUdeviceptr*>(sources)),
      const_cast<size_t*>(sizes), count, reinterpret_cast<CUmemcpyAttributes*>(attributes),
      first_copies, attribute_count, stream_of(stream)));
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return submit(flat_copy(target, source, bytes, kind), stream);
}

cudaError_t cudaMemcpyPeer(void* target, int target_device, const void* source, int source_device,
                           size_t bytes) {
  BATON_RUNTIME_BEGIN();
  for (const int device : {target_device, source_device}) {
    if (const cudaError_t error = check_device(device)) return answer(error);
  }
  return cudaMemcpy(target, source, bytes, cudaMemcpyDeviceToDevice);
}

cudaError_t cudaMemcpyPeerAsync(void* target, int target_device, const void* source,
                                int source_device, size_t bytes, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  for (const int device : {target_device, source_device}) {
    if (const cudaError_t error = check_device(device)) return answer(error);
  }
  return cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return submit_and_wait(rows(target, target_pitch, source, source_pitch, width, height, kind));
}

cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return submit(rows(target, target_pitch, source, source_pitch, width, height, kind), stream);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* params) {
  BATON_RUNTIME_BEGIN();
  RowCopy copy;
  if (const cudaError_t error = cube(params, &copy)) return answer(error);
  return submit_and_wait(copy);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* params, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  RowCopy copy;
  if (const cudaError_t error = cube(params, &copy)) return answer(error);
  return submit(copy, stream);
}

// An address says which device it is of, so that the devices add nothing.
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* params) {
  const cudaMemcpy3DParms plain = without_devices(params);
  return cudaMemcpy3D(params == nullptr ? nullptr : &plain);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* params, cudaStream_t stream) {
  const cudaMemcpy3DParms plain = without_devices(params);
  return cudaMemcpy3DAsync(params == nullptr ? nullptr : &plain, stream);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  BATON_RUNTIME_BEGIN();
  RowCopy copy;
  const cudaError_t error = to_symbol(symbol, source, bytes, offset, kind, &copy);
  return error != cudaSuccess ? answer(error) : submit_and_wait(copy);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  RowCopy copy;
  const cudaError_t error = to_symbol(symbol, source, bytes, offset, kind, &copy);
  return error != cudaSuccess ? answer(error) : submit(copy, stream);
}

cudaError_t cudaMemcpyFromSymbol(void* target, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
  BATON_RUNTIME_BEGIN();
  RowCopy copy;
  const cudaError_t error = from_symbol(target, symbol, bytes, offset, kind, &copy);
  return error != cudaSuccess ? answer(error) : submit_and_wait(copy);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* target, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  RowCopy copy;
  const cudaError_t error = from_symbol(target, symbol, bytes, offset, kind, &copy);
  return error != cudaSuccess ? answer(error) : submit(copy, stream);
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  return submit_and_wait(MemoryFill{pointer, bytes, value, bytes});
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  return submit(MemoryFill{pointer, bytes, value, bytes}, stream);
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return submit_and_wait(MemoryFill{pointer, pitch, value, width, height});
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return submit(MemoryFill{pointer, pitch, value, width, height}, stream);
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  return fill_slices(pointer, value, extent,
                     [](const MemoryFill& slice) { return submit_and_wait(slice); });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return fill_slices(pointer, value, extent,
                     [&](const MemoryFill& slice) { return submit(slice, stream); });
}
