// Copies and fills that wait, and those of several rows.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "sim/api/api.h"
#include "sim/api/array.h"
#include "sim/api/copy.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"
#include "sim/queue/place.h"

namespace baton::sim::api {
namespace {

// The bytes from the first to the last of what a side of a copy covers.
std::uint64_t extent_of(const PitchedCopy& copy, std::uint64_t pitch, std::uint64_t slice) {
  std::uint64_t bytes = 0;
  std::uint64_t slices = 0;
  require(!__builtin_mul_overflow(copy.rows - 1, pitch, &bytes) &&
              !__builtin_mul_overflow(copy.slices - 1, slice, &slices) &&
              !__builtin_add_overflow(bytes, slices, &bytes) &&
              !__builtin_add_overflow(bytes, copy.bytes, &bytes),
          CUDA_ERROR_INVALID_VALUE);
  return bytes;
}

CopySide side_of(const PitchedCopy& copy, const PitchedSide& side, bool* pageable) {
  const bool flat = copy.rows == 1 && copy.slices == 1;
  require(flat || side.pitch >= copy.bytes, CUDA_ERROR_INVALID_VALUE);
  require(copy.slices == 1 || side.slice >= side.pitch * copy.rows, CUDA_ERROR_INVALID_VALUE);
  const std::uint64_t extent = extent_of(copy, side.pitch, side.slice);
  CopySide place = host_place(reinterpret_cast<const void*>(side.address), extent, pageable);
  require(side.is_host || !*pageable, CUDA_ERROR_INVALID_VALUE);
  place.pitch = side.pitch;
  place.slice = side.slice;
  return place;
}

// One side as a caller describes it: an array's part, or linear memory with so many bytes from one
// row, and so many rows from one slice, to the next.
struct GivenSide {
  CUmemorytype type;
  CUdeviceptr device;
  const void* host;
  std::uint64_t pitch, height;
  ArrayPlace place;
};

PitchedSide pitched_side(const GivenSide& given) {
  if (given.type == CU_MEMORYTYPE_ARRAY) return side_of_array(given.place);
  PitchedSide side;
  side.pitch = given.pitch;
  side.slice = given.pitch * given.height;
  switch (given.type) {
    case CU_MEMORYTYPE_HOST:
      side.is_host = true;
      side.address = reinterpret_cast<std::uintptr_t>(given.host);
      break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
      side.address = given.device;
      break;
    default:
      throw Refusal(CUDA_ERROR_INVALID_VALUE);
  }
  const ArrayPlace& at = given.place;
  side.address += at.x + at.y * side.pitch + at.z * side.slice;
  return side;
}

// A copy of two dimensions is one of a single slice.
PitchedCopy pitched_plane(const CUDA_MEMCPY2D* params) {
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  const CUDA_MEMCPY2D& p = *params;
  CUDA_MEMCPY3D same{};
  same.WidthInBytes = p.WidthInBytes;
  same.Height = p.Height;
  same.Depth = 1;
  same.dstMemoryType = p.dstMemoryType;
  same.dstDevice = p.dstDevice;
  same.dstHost = p.dstHost;
  same.dstArray = p.dstArray;
  same.dstPitch = p.dstPitch;
  same.dstXInBytes = p.dstXInBytes;
  same.dstY = p.dstY;
  same.srcMemoryType = p.srcMemoryType;
  same.srcDevice = p.srcDevice;
  same.srcHost = p.srcHost;
  same.srcArray = p.srcArray;
  same.srcPitch = p.srcPitch;
  same.srcXInBytes = p.srcXInBytes;
  same.srcY = p.srcY;
  return pitched(&same);
}

CUresult copy_all(CUdeviceptr target, CUdeviceptr source, std::uint64_t bytes, CUstream stream,
                  Waiting waiting) {
  PitchedCopy copy;
  copy.bytes = bytes;
  copy.target = {target, 0, 0, true};
  copy.source = {source, 0, 0, true};
  return submit_pitched(copy, stream, waiting);
}

CUresult fill_rows(CUdeviceptr address, std::uint64_t pitch, std::uint32_t value, unsigned size,
                   std::uint64_t width, std::uint64_t height, CUstream handle) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  if (width == 0 || height == 0) return CUDA_SUCCESS;
  std::uint64_t row = 0;
  std::uint64_t bytes = 0;
  require(!__builtin_mul_overflow(width, std::uint64_t{size}, &row) &&
              !__builtin_mul_overflow(height - 1, pitch, &bytes) &&
              !__builtin_add_overflow(bytes, row, &bytes),
          CUDA_ERROR_INVALID_VALUE);
  require(address % size == 0, CUDA_ERROR_INVALID_VALUE);
  require(height == 1 || (pitch >= row && pitch % size == 0), CUDA_ERROR_INVALID_VALUE);
  stream->context->submit(*stream,
                          Fill{device_place(address, bytes), value, size, width, height, pitch});
  return CUDA_SUCCESS;
}

// What a fill that does not wait gave; waits for one of memory that the host reads too.
CUresult filled(CUdeviceptr address, CUresult submitted) {
  const bool is_host = HostMemory::instance().find(address).has_value();
  return is_host && submitted == CUDA_SUCCESS ? StreamSynchronize(nullptr) : submitted;
}

CUDA_MEMCPY3D without_contexts(const CUDA_MEMCPY3D_PEER* params) {
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  // The contexts stand where the other structure has reserved pointers.
  static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER) &&
                offsetof(CUDA_MEMCPY3D, reserved0) == offsetof(CUDA_MEMCPY3D_PEER, srcContext) &&
                offsetof(CUDA_MEMCPY3D, reserved1) == offsetof(CUDA_MEMCPY3D_PEER, dstContext) &&
                offsetof(CUDA_MEMCPY3D, Depth) == offsetof(CUDA_MEMCPY3D_PEER, Depth));
  CUDA_MEMCPY3D plain;
  std::memcpy(&plain, params, sizeof plain);
  plain.reserved0 = plain.reserved1 = nullptr;
  return plain;
}

}  // namespace

PitchedCopy pitched(const CUDA_MEMCPY3D* params) {
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  const CUDA_MEMCPY3D& p = *params;
  PitchedCopy copy;
  copy.bytes = p.WidthInBytes;
  copy.rows = p.Height;
  copy.slices = p.Depth;
  copy.target = pitched_side(
      {p.dstMemoryType,
       p.dstDevice,
       p.dstHost,
       p.dstPitch != 0 ? p.dstPitch : p.WidthInBytes,
       p.dstHeight != 0 ? p.dstHeight : p.Height,
       {p.dstArray, p.dstXInBytes, p.dstY, p.dstZ, p.WidthInBytes, p.Height, p.Depth}});
  copy.source = pitched_side(
      {p.srcMemoryType,
       p.srcDevice,
       p.srcHost,
       p.srcPitch != 0 ? p.srcPitch : p.WidthInBytes,
       p.srcHeight != 0 ? p.srcHeight : p.Height,
       {p.srcArray, p.srcXInBytes, p.srcY, p.srcZ, p.WidthInBytes, p.Height, p.Depth}});
  return copy;
}

CopyWork copy_work(const PitchedCopy& copy, bool* pageable_source, bool* pageable_target) {
  CopyWork work;
  work.target = side_of(copy, copy.target, pageable_target);
  work.source = side_of(copy, copy.source, pageable_source);
  work.bytes = copy.bytes;
  work.rows = copy.rows;
  work.slices = copy.slices;
  return work;
}

CUresult submit_pitched(const PitchedCopy& pitched, CUstream handle, Waiting waiting) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  if (pitched.bytes == 0 || pitched.rows == 0 || pitched.slices == 0) return CUDA_SUCCESS;
  bool pageable_source = false;
  bool pageable_target = false;
  const CopyWork work = copy_work(pitched, &pageable_source, &pageable_target);
  Copy copy{work.target, work.source, work.bytes, {}, work.rows, work.slices};
  const bool flat = work.rows == 1 && work.slices == 1;
  const bool stages = pageable_source && flat && waiting == Waiting::kAsNeeded;
  if (stages && stream->context->queue().executes_unasked()) StagedBytes::await_room(work.bytes);
  const bool staged =
      stages && copy.staged.take(reinterpret_cast<const void*>(work.source.address), work.bytes);
  const bool must_wait =
      waiting == Waiting::kAlways || pageable_target || (pageable_source && !staged);
  const CommandPtr command = stream->context->submit(*stream, std::move(copy));
  if (!must_wait) return CUDA_SUCCESS;
  std::unique_lock lock(Scheduler::instance().mutex);
  DeviceQueue::wait(lock, command);
  return stream->context->queue().error(lock);
}

CUresult Memcpy(CUdeviceptr target, CUdeviceptr source, size_t bytes) {
  return copy_all(target, source, bytes, nullptr, Waiting::kAlways);
}

CUresult MemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return copy_all(target, source, bytes, stream, Waiting::kAsNeeded);
}

// A batch has no order of its own; here it has that of the list.
CUresult MemcpyBatchAsync(CUdeviceptr* targets, CUdeviceptr* sources, size_t* sizes, size_t count,
                          CUmemcpyAttributes* attributes, size_t* first_copies,
                          size_t attribute_count, CUstream stream) {
  require(targets != nullptr && sources != nullptr && sizes != nullptr && count != 0,
          CUDA_ERROR_INVALID_VALUE);
  require(attributes != nullptr && first_copies != nullptr && attribute_count != 0 &&
              attribute_count <= count && first_copies[0] == 0,
          CUDA_ERROR_INVALID_VALUE);
  for (size_t k = 0; k < count; ++k) {
    require(targets[k] != 0 && sources[k] != 0 && sizes[k] != 0, CUDA_ERROR_INVALID_VALUE);
    MemcpyAsync(targets[k], sources[k], sizes[k], stream);
  }
  const auto is_read_in_call = [](const CUmemcpyAttributes& each) {
    return each.srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  };
  return std::any_of(attributes, attributes + attribute_count, is_read_in_call)
             ? StreamSynchronize(stream)
             : CUDA_SUCCESS;
}

CUresult MemcpyHtoD(CUdeviceptr target, const void* source, size_t bytes) {
  PitchedCopy copy;
  copy.bytes = bytes;
  copy.target.address = target;
  copy.source = {reinterpret_cast<std::uintptr_t>(source), 0, 0, true};
  return submit_pitched(copy, nullptr, Waiting::kAlways);
}

CUresult MemcpyDtoH(void* target, CUdeviceptr source, size_t bytes) {
  PitchedCopy copy;
  copy.bytes = bytes;
  copy.target = {reinterpret_cast<std::uintptr_t>(target), 0, 0, true};
  copy.source.address = source;
  return submit_pitched(copy, nullptr, Waiting::kAlways);
}

CUresult MemcpyDtoD(CUdeviceptr target, CUdeviceptr source, size_t bytes) {
  return MemcpyDtoDAsync(target, source, bytes, nullptr);
}

CUresult MemcpyPeer(CUdeviceptr target, CUcontext, CUdeviceptr source, CUcontext, size_t bytes) {
  return MemcpyDtoDAsync(target, source, bytes, nullptr);
}

CUresult MemcpyPeerAsync(CUdeviceptr target, CUcontext, CUdeviceptr source, CUcontext, size_t bytes,
                         CUstream stream) {
  return MemcpyDtoDAsync(target, source, bytes, stream);
}

CUresult Memcpy2D(const CUDA_MEMCPY2D* params) {
  return submit_pitched(pitched_plane(params), nullptr, Waiting::kAlways);
}

CUresult Memcpy2DUnaligned(const CUDA_MEMCPY2D* params) {
  return Memcpy2D(params);
}

CUresult Memcpy2DAsync(const CUDA_MEMCPY2D* params, CUstream stream) {
  return submit_pitched(pitched_plane(params), stream, Waiting::kAsNeeded);
}

CUresult Memcpy3D(const CUDA_MEMCPY3D* params) {
  return submit_pitched(pitched(params), nullptr, Waiting::kAlways);
}

CUresult Memcpy3DAsync(const CUDA_MEMCPY3D* params, CUstream stream) {
  return submit_pitched(pitched(params), stream, Waiting::kAsNeeded);
}

// An address says which device it is of, so that the contexts add nothing.
CUresult Memcpy3DPeer(const CUDA_MEMCPY3D_PEER* params) {
  const CUDA_MEMCPY3D plain = without_contexts(params);
  return Memcpy3D(&plain);
}

CUresult Memcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* params, CUstream stream) {
  const CUDA_MEMCPY3D plain = without_contexts(params);
  return Memcpy3DAsync(&plain, stream);
}

// Fills of device memory do not wait in the CUDA driver either; those of the host's memory do.
CUresult MemsetD8(CUdeviceptr address, unsigned char value, size_t count) {
  return filled(address, MemsetD8Async(address, value, count, nullptr));
}

CUresult MemsetD16(CUdeviceptr address, unsigned short value, size_t count) {
  return filled(address, MemsetD16Async(address, value, count, nullptr));
}

CUresult MemsetD32(CUdeviceptr address, unsigned value, size_t count) {
  return filled(address, MemsetD32Async(address, value, count, nullptr));
}

CUresult MemsetD2D8(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
                    size_t height) {
  return filled(address, fill_rows(address, pitch, value, 1, width, height, nullptr));
}

CUresult MemsetD2D16(CUdeviceptr address, size_t pitch, unsigned short value, size_t width,
                     size_t height) {
  return filled(address, fill_rows(address, pitch, value, 2, width, height, nullptr));
}

CUresult MemsetD2D32(CUdeviceptr address, size_t pitch, unsigned value, size_t width,
                     size_t height) {
  return filled(address, fill_rows(address, pitch, value, 4, width, height, nullptr));
}

CUresult MemsetD2D8Async(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
                         size_t height, CUstream stream) {
  return fill_rows(address, pitch, value, 1, width, height, stream);
}

CUresult MemsetD2D16Async(CUdeviceptr address, size_t pitch, unsigned short value, size_t width,
                          size_t height, CUstream stream) {
  return fill_rows(address, pitch, value, 2, width, height, stream);
}

CUresult MemsetD2D32Async(CUdeviceptr address, size_t pitch, unsigned value, size_t width,
                          size_t height, CUstream stream) {
  return fill_rows(address, pitch, value, 4, width, height, stream);
}

}  // namespace baton::sim::api
