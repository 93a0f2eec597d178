// What is known of an address.

#include <optional>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"

namespace baton::sim::api {
namespace {

// An allocation and where the asked address lies in it.
struct Pointer {
  CUdeviceptr address = 0;
  SimDevice* device = nullptr;
  bool on_device = false;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint64_t id = 0;
};

std::optional<Pointer> find(CUdeviceptr address) {
  if (const std::shared_ptr<Context> owner = owner_of(address)) {
    Pointer pointer{address, SimDevice::find(CUdevice{owner->ordinal()}), true, 0, 0, 0};
    owner->heap()->memory().range(address, &pointer.base, &pointer.bytes);
    if (const auto allocation = owner->heap()->find(address)) pointer.id = allocation->id;
    return pointer;
  }
  if (const auto pinned = HostMemory::instance().find(address)) {
    return Pointer{address,       SimDevice::find(CUdevice{pinned->ordinal}),
                   false,         pinned->base,
                   pinned->bytes, pinned->id};
  }
  return std::nullopt;
}

template <typename T>
void store(void* data, T value) {
  *static_cast<T*>(data) = value;
}

// What the driver documents as a boolean it writes as 32 bits.
void no(const Pointer&, void* data) {
  store<unsigned>(data, 0);
}
void base_address(const Pointer& p, void* data) {
  store<CUdeviceptr>(data, p.base);
}
void size(const Pointer& p, void* data) {
  store<std::size_t>(data, p.bytes);
}

struct PointerAttributeRow {
  CUpointer_attribute attribute;
  void (*get)(const Pointer& pointer, void* data);
};

constexpr PointerAttributeRow kPointerRows[] = {
    {CU_POINTER_ATTRIBUTE_CONTEXT,
     [](const Pointer& p, void* data) { store(data, p.device->handle()); }},
    {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
     [](const Pointer& p, void* data) {
       store<unsigned>(data, p.on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
     }},
    {CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
     [](const Pointer& p, void* data) { store(data, p.address); }},
    {CU_POINTER_ATTRIBUTE_HOST_POINTER,
     [](const Pointer& p, void* data) {
       require(!p.on_device, CUDA_ERROR_INVALID_VALUE);
       store(data, reinterpret_cast<void*>(p.address));
     }},
    {CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, no},
    {CU_POINTER_ATTRIBUTE_BUFFER_ID,
     [](const Pointer& p, void* data) { store<unsigned long long>(data, p.id); }},
    {CU_POINTER_ATTRIBUTE_IS_MANAGED, no},
    {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
     [](const Pointer& p, void* data) { store(data, p.device->ordinal()); }},
    {CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, no},
    {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, base_address},
    {CU_POINTER_ATTRIBUTE_RANGE_SIZE, size},
    {CU_POINTER_ATTRIBUTE_MAPPED, [](const Pointer&, void* data) { store<unsigned>(data, 1); }},
    {CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
     [](const Pointer&, void* data) { store<unsigned long long>(data, 0); }},
    {CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, no},
    {CU_POINTER_ATTRIBUTE_ACCESS_FLAGS,
     [](const Pointer&, void* data) {
       store<unsigned>(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
     }},
    {CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
     [](const Pointer&, void* data) { store<CUmemoryPool>(data, nullptr); }},
    {CU_POINTER_ATTRIBUTE_MAPPING_SIZE, size},
    {CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, base_address},
    {CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID,
     [](const Pointer& p, void* data) { store<unsigned long long>(data, p.id); }},
};

}  // namespace

CUresult PointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  require(data != nullptr, CUDA_ERROR_INVALID_VALUE);
  for (const PointerAttributeRow& row : kPointerRows) {
    if (row.attribute != attribute) continue;
    const std::optional<Pointer> pointer = find(address);
    require(pointer.has_value(), CUDA_ERROR_INVALID_VALUE);
    row.get(*pointer, data);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace baton::sim::api
