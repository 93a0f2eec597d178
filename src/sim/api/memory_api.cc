// Device and pinned memory, copies and fills.

#include <fmt/core.h>

#include <limits>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/graph_nodes.h"
#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"
#include "sim/device/objects.h"
#include "sim/engine/memory/memory_impl.h"
#include "sim/graph/capture_rules.h"
#include "sim/queue/place.h"

namespace baton::sim::api {
namespace {

CUresult submit_and_wait(SimStream& stream, Work work) {
  const CommandPtr command = stream.context->submit(stream, std::move(work));
  std::unique_lock lock(Scheduler::instance().mutex);
  DeviceQueue::wait(lock, command);
  return stream.context->queue().error(lock);
}

void note_wrong_free(Context& context, CUdeviceptr address, const char* call,
                     const std::string& what) {
  driver::Finding finding(driver::FindingKind::kBadFree);
  finding.message = fmt::format(
      "{} by the host takes {:#x}, {}: the call gives CUDA_ERROR_INVALID_VALUE; free each "
      "allocation once, by the address that it was given",
      call, address, what);
  context.note_finding(std::move(finding));
}

// Every device sees the host's memory: the current one tells, or any that has a context.
std::shared_ptr<Context> context_that_tells() {
  SimDevice* const current = ContextStack::of_thread().top();
  if (current != nullptr && current->context() != nullptr) return current->context();
  for (SimDevice* const device : SimDevice::all()) {
    if (const std::shared_ptr<Context> context = device->context()) return context;
  }
  return nullptr;
}

void tell_wrong_host_free(CUdeviceptr address, const char* call) {
  const std::shared_ptr<Context> context = context_that_tells();
  if (context == nullptr) return;
  const HostMemory& memory = HostMemory::instance();
  const auto around = memory.find(address);
  if (around && around->base != address && around->memory != nullptr &&
      around->kind != HostMemory::Kind::kVariable) {
    const bool is_managed = around->kind == HostMemory::Kind::kManaged;
    note_wrong_free(*context, address, call,
                    fmt::format("{} bytes inside an allocation of {} bytes of {} memory at {:#x}, "
                                "and not its start",
                                address - around->base, around->bytes,
                                is_managed ? "managed" : "pinned", around->base));
  } else if (memory.was_freed(address)) {
    note_wrong_free(*context, address, call, "memory of the host that was freed before");
  }
}

// The driver refuses what is not the start of an allocation. A program that frees twice, or the
// inside of an allocation, is wrong whether or not it looks at the result.
[[noreturn]] void refuse_free(CUdeviceptr address, const char* call) {
  tell_wrong_host_free(address, call);
  for (SimDevice* const device : SimDevice::all()) {
    const std::shared_ptr<Context> context = device->context();
    // Memory of graphs comes and goes at its address with their launches.
    if (context == nullptr || context->heap()->is_reserved(address)) continue;
    const DeviceHeap& heap = *context->heap();
    const DeviceMemory& memory = heap.memory();
    if (!memory.impl().has_window(address)) continue;
    const bool is_inside = heap.find(address).has_value();
    const bool was_freed =
        heap.is_leaving(address) || memory.impl().classify(address) == AddressKind::kFreed;
    if (!is_inside && !was_freed) continue;
    note_wrong_free(*context, address, call,
                    memory.describe(address) + (is_inside ? ", and not its start" : ""));
  }
  throw Refusal(CUDA_ERROR_INVALID_VALUE);
}

CUresult fill(CUdeviceptr address, std::uint32_t value, unsigned width, size_t count,
              CUstream handle) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  if (count == 0) return CUDA_SUCCESS;
  require(count <= std::numeric_limits<size_t>::max() / width, CUDA_ERROR_INVALID_VALUE);
  require(address % width == 0, CUDA_ERROR_INVALID_VALUE);
  stream->context->submit(*stream, Fill{device_place(address, count * width), value, width, count});
  return CUDA_SUCCESS;
}

}  // namespace

CUresult MemAlloc(CUdeviceptr* address, size_t bytes) {
  const std::shared_ptr<Context> context = usable_context();
  require(address != nullptr && bytes != 0, CUDA_ERROR_INVALID_VALUE);
  refuse_unsafe_beside_captures();
  const std::uint64_t allocated = context->heap()->allocate(bytes);
  require(allocated != 0, CUDA_ERROR_OUT_OF_MEMORY);
  *address = allocated;
  return CUDA_SUCCESS;
}

// Waits for the device first, as the CUDA driver does.
CUresult MemFree(CUdeviceptr address) {
  enter();
  if (address == 0) return CUDA_SUCCESS;
  refuse_unsafe_beside_captures();
  const auto host = HostMemory::instance().find(address);
  const bool is_ours = host && (host->kind == HostMemory::Kind::kManaged || host->pool != nullptr);
  if (is_ours && host->base == address) {
    drain_all_devices();
    require(HostMemory::instance().free(reinterpret_cast<void*>(address), host->kind),
            CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
  }
  const std::shared_ptr<Context> owner = owner_of(address);
  if (owner == nullptr || !owner->heap()->begin_free(address)) refuse_free(address, "a free");
  owner->queue().drain();
  owner->heap()->finish_free(address);
  return owner->error();
}

// The address is known, and the bytes are taken, at the call.
CUresult MemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream handle) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(address != nullptr, CUDA_ERROR_INVALID_VALUE);
  if (const auto captured = bytes == 0 ? std::nullopt : capture_alloc(*stream, bytes)) {
    *address = *captured;
    return CUDA_SUCCESS;
  }
  SimDevice& device = device_of(stream->context->ordinal());
  const std::uint64_t allocated =
      bytes == 0 ? 0
                 : stream->context->heap()->allocate(
                       bytes, Objects::instance().pools.find(device.current_pool()));
  require(bytes == 0 || allocated != 0, CUDA_ERROR_OUT_OF_MEMORY);
  if (allocated != 0) stream->context->note_allocation(*stream, allocated);
  *address = allocated;
  return CUDA_SUCCESS;
}

CUresult MemFreeAsync(CUdeviceptr address, CUstream handle) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  if (address == 0 || capture_free(*stream, address)) return CUDA_SUCCESS;
  refuse_unsafe_beside_captures();
  if (HostMemory::instance().begin_free(address)) {
    try {
      stream->context->submit(*stream, HostFree{stream->context->heap(), address});
    } catch (...) {
      HostMemory::instance().keep(address);
      throw;
    }
    return CUDA_SUCCESS;
  }
  const std::shared_ptr<Context> owner = owner_of(address);
  if (owner == nullptr || !owner->heap()->begin_free(address)) {
    refuse_free(address, "a free in the order of a stream");
  }
  try {
    stream->context->submit(*stream, Free{owner->heap(), address});
  } catch (...) {
    owner->heap()->keep(address);
    throw;
  }
  return CUDA_SUCCESS;
}

CUresult MemGetInfo(size_t* free, size_t* total) {
  const std::shared_ptr<Context> context = usable_context();
  const DeviceMemory& memory = context->heap()->memory();
  if (free != nullptr) *free = memory.capacity() - memory.used();
  if (total != nullptr) *total = memory.capacity();
  return CUDA_SUCCESS;
}

CUresult MemGetAddressRange(CUdeviceptr* base, size_t* size, CUdeviceptr address) {
  usable_context();
  std::uint64_t found_base = 0;
  std::uint64_t found_size = 0;
  if (const std::shared_ptr<Context> owner = owner_of(address)) {
    owner->heap()->memory().range(address, &found_base, &found_size);
  } else if (const auto pinned = HostMemory::instance().find(address)) {
    found_base = pinned->base;
    found_size = pinned->bytes;
  }
  require(found_size != 0, CUDA_ERROR_NOT_FOUND);
  if (base != nullptr) *base = found_base;
  if (size != nullptr) *size = found_size;
  return CUDA_SUCCESS;
}

CUresult MemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  const std::shared_ptr<Context> context = usable_context();
  constexpr unsigned kKnown =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  require(pointer != nullptr && (flags & ~kKnown) == 0, CUDA_ERROR_INVALID_VALUE);
  refuse_unsafe_beside_captures();
  *pointer = bytes == 0 ? nullptr
                        : HostMemory::instance().allocate(bytes, context->ordinal(),
                                                          HostMemory::Kind::kPinned, flags);
  require(bytes == 0 || *pointer != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
  return CUDA_SUCCESS;
}

// Waits for all devices first: any of them may still read or write the memory.
CUresult MemFreeHost(void* pointer) {
  enter();
  if (pointer == nullptr) return CUDA_SUCCESS;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto pinned = HostMemory::instance().find(address);
  if (!pinned || pinned->base != address || pinned->pool != nullptr) {
    tell_wrong_host_free(address, "a free of pinned memory");
    throw Refusal(CUDA_ERROR_INVALID_VALUE);
  }
  refuse_unsafe_beside_captures();
  drain_all_devices();
  require(HostMemory::instance().free(pointer, HostMemory::Kind::kPinned),
          CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

// Pageable sources are copied at the call (or the copy is waited for, where too much is held), so
// that the caller may change them at once; pinned ones are read when the copy runs.
CUresult MemcpyHtoDAsync(CUdeviceptr target, const void* source, size_t bytes, CUstream handle) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  if (bytes == 0) return CUDA_SUCCESS;
  bool pageable = false;
  Copy copy{device_place(target, bytes), host_place(source, bytes, &pageable), bytes, {}};
  if (pageable && !copy.staged.take(source, bytes))
    return submit_and_wait(*stream, std::move(copy));
  stream->context->submit(*stream, std::move(copy));
  return CUDA_SUCCESS;
}

// Into pageable memory the copy is done when the call returns, as the CUDA driver's is.
CUresult MemcpyDtoHAsync(void* target, CUdeviceptr source, size_t bytes, CUstream handle) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  if (bytes == 0) return CUDA_SUCCESS;
  bool pageable = false;
  Copy copy{host_place(target, bytes, &pageable), device_place(source, bytes), bytes, {}};
  if (pageable) return submit_and_wait(*stream, std::move(copy));
  stream->context->submit(*stream, std::move(copy));
  return CUDA_SUCCESS;
}

CUresult MemcpyDtoDAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream handle) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  if (bytes == 0) return CUDA_SUCCESS;
  stream->context->submit(
      *stream, Copy{device_place(target, bytes), device_place(source, bytes), bytes, {}});
  return CUDA_SUCCESS;
}

CUresult MemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream) {
  return fill(address, value, 1, count, stream);
}

CUresult MemsetD16Async(CUdeviceptr address, unsigned short value, size_t count, CUstream stream) {
  return fill(address, value, 2, count, stream);
}

CUresult MemsetD32Async(CUdeviceptr address, unsigned int value, size_t count, CUstream stream) {
  return fill(address, value, 4, count, stream);
}

}  // namespace baton::sim::api
