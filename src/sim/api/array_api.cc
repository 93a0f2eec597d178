// Arrays, and copies to and from them.

#include "sim/api/api.h"
#include "sim/api/array.h"
#include "sim/api/copy.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"

namespace baton::sim::api {
namespace {

CUDA_ARRAY_DESCRIPTOR flat(const CUDA_ARRAY3D_DESCRIPTOR& description) {
  return {description.Width, description.Height, description.Format, description.NumChannels};
}

// Bytes of one row from an offset on; an array of one dimension has no other rows.
PitchedSide row_side(CUarray handle, std::uint64_t offset) {
  ArrayPlace place;
  place.handle = handle;
  place.x = offset;
  return side_of_array(place);
}

CUresult copy_row(const PitchedSide& target, const PitchedSide& source, std::uint64_t bytes,
                  CUstream stream, Waiting waiting) {
  PitchedCopy copy;
  copy.bytes = bytes;
  copy.target = target;
  copy.source = source;
  return submit_pitched(copy, stream, waiting);
}

PitchedSide host_side(const void* pointer) {
  return {reinterpret_cast<std::uintptr_t>(pointer), 0, 0, true};
}

PitchedSide device_side(CUdeviceptr address) {
  PitchedSide side;
  side.address = address;
  return side;
}

void require_in_row(CUarray handle, std::uint64_t offset, std::uint64_t bytes) {
  const std::shared_ptr<const SimArray> array = array_of(handle);
  require(offset <= array->row_bytes && bytes <= array->row_bytes - offset,
          CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

std::shared_ptr<const SimArray> array_of(CUarray handle) {
  enter();
  std::shared_ptr<const SimArray> array = Objects::instance().arrays.find(handle);
  require(array != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return array;
}

PitchedSide side_of_array(const ArrayPlace& place) {
  const std::shared_ptr<const SimArray> array = array_of(place.handle);
  const auto fits = [](std::uint64_t from, std::uint64_t count, std::uint64_t extent) {
    require(from <= extent && count <= extent - from, CUDA_ERROR_INVALID_VALUE);
  };
  fits(place.x, place.bytes, array->row_bytes);
  fits(place.y, place.rows, array->rows());
  fits(place.z, place.slices, array->slices());
  PitchedSide side;
  side.pitch = array->pitch;
  side.slice = array->slice;
  side.address = array->address + place.z * array->slice + place.y * array->pitch + place.x;
  return side;
}

CUresult Array3DCreate(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  const std::shared_ptr<Context> context = usable_context();
  require(handle != nullptr && description != nullptr, CUDA_ERROR_INVALID_VALUE);
  auto made = std::make_shared<const SimArray>(make_array(context->heap(), *description));
  *handle = Objects::instance().arrays.add(std::move(made));
  return CUDA_SUCCESS;
}

CUresult ArrayCreate(CUarray* handle, const CUDA_ARRAY_DESCRIPTOR* description) {
  require(description != nullptr, CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY3D_DESCRIPTOR same{};
  same.Width = description->Width;
  same.Height = description->Height;
  same.Format = description->Format;
  same.NumChannels = description->NumChannels;
  return Array3DCreate(handle, &same);
}

CUresult free_array(CUarray handle) {
  const std::shared_ptr<const SimArray> array = Objects::instance().arrays.remove(handle);
  require(array != nullptr, CUDA_ERROR_INVALID_HANDLE);
  const std::shared_ptr<Context> owner = owner_of(array->address);
  require(owner != nullptr && array->heap->begin_free(array->address), CUDA_ERROR_INVALID_HANDLE);
  owner->queue().drain();
  array->heap->finish_free(array->address);
  return owner->error();
}

CUresult ArrayDestroy(CUarray handle) {
  require(!array_of(handle)->is_level, CUDA_ERROR_INVALID_HANDLE);
  return free_array(handle);
}

CUresult ArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* description, CUarray handle) {
  require(description != nullptr, CUDA_ERROR_INVALID_VALUE);
  *description = flat(array_of(handle)->description);
  return CUDA_SUCCESS;
}

CUresult Array3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray handle) {
  require(description != nullptr, CUDA_ERROR_INVALID_VALUE);
  *description = array_of(handle)->description;
  return CUDA_SUCCESS;
}

CUresult MemcpyHtoA(CUarray target, size_t offset, const void* source, size_t bytes) {
  require_in_row(target, offset, bytes);
  return copy_row(row_side(target, offset), host_side(source), bytes, nullptr, Waiting::kAlways);
}

CUresult MemcpyHtoAAsync(CUarray target, size_t offset, const void* source, size_t bytes,
                         CUstream stream) {
  require_in_row(target, offset, bytes);
  return copy_row(row_side(target, offset), host_side(source), bytes, stream, Waiting::kAsNeeded);
}

CUresult MemcpyAtoH(void* target, CUarray source, size_t offset, size_t bytes) {
  require_in_row(source, offset, bytes);
  return copy_row(host_side(target), row_side(source, offset), bytes, nullptr, Waiting::kAlways);
}

CUresult MemcpyAtoHAsync(void* target, CUarray source, size_t offset, size_t bytes,
                         CUstream stream) {
  require_in_row(source, offset, bytes);
  return copy_row(host_side(target), row_side(source, offset), bytes, stream, Waiting::kAsNeeded);
}

CUresult MemcpyDtoA(CUarray target, size_t offset, CUdeviceptr source, size_t bytes) {
  require_in_row(target, offset, bytes);
  return copy_row(row_side(target, offset), device_side(source), bytes, nullptr,
                  Waiting::kAsNeeded);
}

CUresult MemcpyAtoD(CUdeviceptr target, CUarray source, size_t offset, size_t bytes) {
  require_in_row(source, offset, bytes);
  return copy_row(device_side(target), row_side(source, offset), bytes, nullptr,
                  Waiting::kAsNeeded);
}

CUresult MemcpyAtoA(CUarray target, size_t target_offset, CUarray source, size_t source_offset,
                    size_t bytes) {
  require_in_row(target, target_offset, bytes);
  require_in_row(source, source_offset, bytes);
  return copy_row(row_side(target, target_offset), row_side(source, source_offset), bytes, nullptr,
                  Waiting::kAsNeeded);
}

}  // namespace baton::sim::api
