// Streams that write words of memory, and wait for values in them.

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"
#include "sim/device/objects.h"
#include "sim/queue/place.h"

namespace baton::sim::api {
namespace {

StreamWord word_of(const SimStream& stream, CUdeviceptr address, unsigned bytes) {
  require(address % bytes == 0, CUDA_ERROR_INVALID_VALUE);
  // Managed memory is not for these (cuda.h, cuStreamWaitValue32).
  const auto host = HostMemory::instance().find(address);
  require(!host || !host->is_managed(), CUDA_ERROR_INVALID_VALUE);
  return {device_place(address, bytes), stream.context->heap(), bytes};
}

Work wait_of(const SimStream& stream, CUdeviceptr address, std::uint64_t value, unsigned bytes,
             unsigned flags) {
  require((flags & CU_STREAM_WAIT_VALUE_FLUSH) == 0, CUDA_ERROR_NOT_SUPPORTED);
  require(flags <= CU_STREAM_WAIT_VALUE_NOR, CUDA_ERROR_INVALID_VALUE);
  return WaitValue{word_of(stream, address, bytes), value, flags};
}

Work write_of(const SimStream& stream, CUdeviceptr address, std::uint64_t value, unsigned bytes,
              unsigned flags) {
  require((flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER}) == 0,
          CUDA_ERROR_INVALID_VALUE);
  return WriteValue{word_of(stream, address, bytes), value, flags == 0};
}

// What one operation of a batch does.
Work batch_work(const SimStream& stream, const CUstreamBatchMemOpParams& params) {
  switch (params.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait_of(stream, params.waitValue.address, params.waitValue.value, 4,
                     params.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait_of(stream, params.waitValue.address, params.waitValue.value64, 8,
                     params.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write_of(stream, params.writeValue.address, params.writeValue.value, 4,
                      params.writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write_of(stream, params.writeValue.address, params.writeValue.value64, 8,
                      params.writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER:
      // Every operation of a stream comes after those before it.
      require(params.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU,
              CUDA_ERROR_INVALID_VALUE);
      return Join{};
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      throw Refusal(CUDA_ERROR_NOT_SUPPORTED);
    default:
      throw Refusal(CUDA_ERROR_INVALID_VALUE);
  }
}

CUresult submit_value(SimStream& stream, Work work) {
  // Kernels of other streams may run meanwhile, in an order that the values decide.
  stream.context->expect_overlap();
  stream.context->submit(stream, std::move(work));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult StreamWaitValue32(CUstream handle, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  return submit_value(*stream, wait_of(*stream, address, value, 4, flags));
}

CUresult StreamWaitValue64(CUstream handle, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  return submit_value(*stream, wait_of(*stream, address, value, 8, flags));
}

CUresult StreamWriteValue32(CUstream handle, CUdeviceptr address, cuuint32_t value,
                            unsigned flags) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  return submit_value(*stream, write_of(*stream, address, value, 4, flags));
}

CUresult StreamWriteValue64(CUstream handle, CUdeviceptr address, cuuint64_t value,
                            unsigned flags) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  return submit_value(*stream, write_of(*stream, address, value, 8, flags));
}

// All or nothing: what is refused is refused before anything is submitted.
CUresult StreamBatchMemOp(CUstream handle, unsigned count, CUstreamBatchMemOpParams* params,
                          unsigned flags) {
  constexpr unsigned kMostOperations = 256;
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(flags == 0 && count <= kMostOperations && (count == 0 || params != nullptr),
          CUDA_ERROR_INVALID_VALUE);
  std::vector<Work> works;
  for (unsigned k = 0; k < count; ++k) works.push_back(batch_work(*stream, params[k]));
  for (Work& work : works) submit_value(*stream, std::move(work));
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
