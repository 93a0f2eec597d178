// What is known of an address.

#include <cstring>
#include <optional>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"
#include "sim/device/objects.h"

namespace baton::sim::api {
namespace {

// An allocation and where the asked address lies in it.
struct Pointer {
  CUdeviceptr address = 0;
  SimDevice* device = nullptr;
  bool on_device = false;
  bool is_managed = false;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint64_t id = 0;
  std::shared_ptr<SimPool> pool = nullptr;  // that it came from; null: from none
};

std::optional<Pointer> find(CUdeviceptr address) {
  if (const auto host = HostMemory::instance().find(address)) {
    Pointer pointer{
        address, SimDevice::find(CUdevice{host->ordinal}), false, false, host->base, host->bytes,
        host->id};
    pointer.is_managed = host->is_managed();
    pointer.pool = host->pool;
    return pointer;
  }
  if (const std::shared_ptr<Context> owner = owner_of(address)) {
    Pointer pointer{address, SimDevice::find(CUdevice{owner->ordinal()}), true, false, 0, 0, 0};
    owner->heap()->memory().range(address, &pointer.base, &pointer.bytes);
    if (const auto allocation = owner->heap()->find(address)) {
      pointer.id = allocation->id;
      pointer.pool = allocation->pool;
    }
    return pointer;
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
CUmemoryPool handle_of(const std::shared_ptr<SimPool>& pool) {
  CUmemoryPool result = nullptr;
  Objects::instance().pools.each([&](CUmemoryPool handle, const SimPool& each) {
    if (&each == pool.get()) result = handle;
  });
  return result;
}
void base_address(const Pointer& p, void* data) {
  store<CUdeviceptr>(data, p.base);
}
void size(const Pointer& p, void* data) {
  store<std::size_t>(data, p.bytes);
}

struct PointerAttributeRow {
  CUpointer_attribute attribute;
  std::size_t bytes;  // of the value
  void (*get)(const Pointer& pointer, void* data);
};

constexpr PointerAttributeRow kPointerRows[] = {
    {CU_POINTER_ATTRIBUTE_CONTEXT, 8,
     [](const Pointer& p, void* data) { store(data, p.device->handle()); }},
    {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 4,
     [](const Pointer& p, void* data) {
       store<unsigned>(data,
                       p.on_device || p.is_managed ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
     }},
    {CU_POINTER_ATTRIBUTE_DEVICE_POINTER, 8,
     [](const Pointer& p, void* data) { store(data, p.address); }},
    {CU_POINTER_ATTRIBUTE_HOST_POINTER, 8,
     [](const Pointer& p, void* data) {
       require(!p.on_device, CUDA_ERROR_INVALID_VALUE);
       store(data, reinterpret_cast<void*>(p.address));
     }},
    {CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 4, no},
    {CU_POINTER_ATTRIBUTE_BUFFER_ID, 8,
     [](const Pointer& p, void* data) { store<unsigned long long>(data, p.id); }},
    {CU_POINTER_ATTRIBUTE_IS_MANAGED, 4,
     // Managed memory of pools does not count (CUDA 13.0's answer to cuda.core's tests).
     [](const Pointer& p, void* data) {
       store<unsigned>(data, p.is_managed && p.pool == nullptr);
     }},
    {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 4,
     [](const Pointer& p, void* data) { store(data, p.device->ordinal()); }},
    {CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, 4, no},
    {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, 8, base_address},
    {CU_POINTER_ATTRIBUTE_RANGE_SIZE, 8, size},
    {CU_POINTER_ATTRIBUTE_MAPPED, 4, [](const Pointer&, void* data) { store<unsigned>(data, 1); }},
    {CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, 8,
     [](const Pointer&, void* data) { store<unsigned long long>(data, 0); }},
    {CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, 4, no},
    {CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, 4,
     [](const Pointer&, void* data) {
       store<unsigned>(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
     }},
    {CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, 8,
     [](const Pointer& p, void* data) { store(data, handle_of(p.pool)); }},
    {CU_POINTER_ATTRIBUTE_MAPPING_SIZE, 8, size},
    {CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, 8, base_address},
    {CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, 8,
     [](const Pointer& p, void* data) { store<unsigned long long>(data, p.id); }},
};

const PointerAttributeRow* row_of(CUpointer_attribute attribute) {
  for (const PointerAttributeRow& row : kPointerRows) {
    if (row.attribute == attribute) return &row;
  }
  return nullptr;
}

}  // namespace

CUresult PointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  const PointerAttributeRow* const row = row_of(attribute);
  require(data != nullptr && row != nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::optional<Pointer> pointer = find(address);
  require(pointer.has_value(), CUDA_ERROR_INVALID_VALUE);
  row->get(*pointer, data);
  return CUDA_SUCCESS;
}

// What does not hold for the address, or is not known, is zero.
CUresult PointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                              CUdeviceptr address) {
  enter();
  require(count != 0 && attributes != nullptr && data != nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::optional<Pointer> pointer = find(address);
  for (unsigned k = 0; k < count; ++k) {
    const PointerAttributeRow* const row = row_of(attributes[k]);
    require(row != nullptr && data[k] != nullptr, CUDA_ERROR_INVALID_VALUE);
    std::memset(data[k], 0, row->bytes);
    if (row->attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) store(data[k], -2);
    const bool is_pageable_host = row->attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER &&
                                  pointer.has_value() && pointer->on_device;
    if (pointer.has_value() && !is_pageable_host) row->get(*pointer, data[k]);
  }
  return CUDA_SUCCESS;
}

// Every copy here is as ordered as CU_POINTER_ATTRIBUTE_SYNC_MEMOPS asks for.
CUresult PointerSetAttribute(const void* value, CUpointer_attribute attribute,
                             CUdeviceptr address) {
  enter();
  require(value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
              find(address).has_value(),
          CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
