// Advice about managed memory. There is one place only for its pages: advice is kept, to be asked
// for, and moves nothing.

#include <algorithm>
#include <optional>
#include <span>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"

namespace baton::sim::api {
namespace {

using Page = ManagedAdvice::Page;

// A part of managed memory.
struct ManagedPart {
  std::shared_ptr<ManagedAdvice> advice;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

ManagedPart part_of(CUdeviceptr address, size_t bytes) {
  const auto host = HostMemory::instance().find(address);
  require(bytes != 0 && host && host->advice != nullptr &&
              bytes <= host->bytes - (address - host->base),
          CUDA_ERROR_INVALID_VALUE);
  return {host->advice, address - host->base, bytes};
}

// Throws Refusal for what is not a device and no part of the host.
CUmemLocation place_of(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      device_of(location.id);
      return location;
    case CU_MEM_LOCATION_TYPE_HOST:
      return {CU_MEM_LOCATION_TYPE_HOST, 0};
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      // The host has a single node.
      require(location.id == 0, CUDA_ERROR_INVALID_VALUE);
      return location;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    default:
      throw Refusal(CUDA_ERROR_INVALID_VALUE);
  }
}

CUmemLocation place_of_device(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {CU_MEM_LOCATION_TYPE_HOST, 0};
  return place_of({CU_MEM_LOCATION_TYPE_DEVICE, device});
}

CUresult advise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                const CUmemLocation& location) {
  enter();
  const ManagedPart part = part_of(address, bytes);
  const auto change = [&](auto how) { part.advice->change(part.offset, part.bytes, how); };
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      change([&](Page& page) { page.is_read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY; });
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: {
      const CUmemLocation place = place_of(location);
      change([&](Page& page) { page.preferred = place; });
      return CUDA_SUCCESS;
    }
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      change([](Page& page) { page.preferred = ManagedAdvice::kNowhere; });
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_ACCESSED_BY: {
      const CUmemLocation place = place_of(location);
      change([&](Page& page) { page.accessed_by.emplace(place.type, place.id); });
      return CUDA_SUCCESS;
    }
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY: {
      const CUmemLocation place = place_of(location);
      change([&](Page& page) { page.accessed_by.erase({place.type, place.id}); });
      return CUDA_SUCCESS;
    }
  }
  throw Refusal(CUDA_ERROR_INVALID_VALUE);
}

CUresult prefetch(CUdeviceptr address, size_t bytes, const CUmemLocation& location) {
  const ManagedPart part = part_of(address, bytes);
  part.advice->change(part.offset, part.bytes, [&](Page& page) { page.prefetched = location; });
  return CUDA_SUCCESS;
}

// Several ranges, each with the place of the last index up to its own.
struct Batch {
  CUdeviceptr* addresses;
  size_t* sizes;
  size_t count;
  CUmemLocation* locations;
  size_t* indices;
  size_t location_count;
};

CUresult prefetch(const Batch& batch, unsigned long long flags, CUstream stream) {
  usable_stream(stream);
  require(batch.count != 0 && batch.addresses != nullptr && batch.sizes != nullptr && flags == 0,
          CUDA_ERROR_INVALID_VALUE);
  require(batch.location_count != 0 && batch.location_count <= batch.count &&
              batch.locations != nullptr && batch.indices != nullptr && batch.indices[0] == 0,
          CUDA_ERROR_INVALID_VALUE);
  const std::span indices(batch.indices, batch.location_count);
  require(
      std::adjacent_find(indices.begin(), indices.end(), std::greater_equal<>()) == indices.end() &&
          indices.back() < batch.count,
      CUDA_ERROR_INVALID_VALUE);
  for (size_t k = 0; k < batch.count; ++k) part_of(batch.addresses[k], batch.sizes[k]);
  for (size_t k = 0; k < batch.count; ++k) {
    const auto next = std::upper_bound(indices.begin(), indices.end(), k);
    const auto place = static_cast<size_t>(next - indices.begin()) - 1;
    prefetch(batch.addresses[k], batch.sizes[k], place_of(batch.locations[place]));
  }
  return CUDA_SUCCESS;
}

// The place that all pages of the part have, or none.
CUmemLocation common_place(const ManagedPart& part, CUmemLocation Page::*member) {
  std::optional<CUmemLocation> common;
  part.advice->visit(part.offset, part.bytes, [&](const Page& page) {
    const CUmemLocation& each = page.*member;
    if (!common) common = each;
    if (common->type != each.type || common->id != each.id) common = ManagedAdvice::kNowhere;
  });
  return *common;
}

// As CUDA told places before it had locations.
int number_of(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return location.id;
    case CU_MEM_LOCATION_TYPE_HOST:
      return CU_DEVICE_CPU;
    default:
      return CU_DEVICE_INVALID;
  }
}

bool are_read_mostly(const ManagedPart& part) {
  bool all = true;
  part.advice->visit(part.offset, part.bytes,
                     [&](const Page& page) { all = all && page.is_read_mostly; });
  return all;
}

// Places that all pages of the part were advised for.
std::set<std::pair<int, int>> accessors(const ManagedPart& part) {
  std::optional<std::set<std::pair<int, int>>> common;
  part.advice->visit(part.offset, part.bytes, [&](const Page& page) {
    if (!common) common = page.accessed_by;
    std::erase_if(*common, [&](const auto& each) { return !page.accessed_by.contains(each); });
  });
  return *common;
}

void tell(const ManagedPart& part, CUmem_range_attribute attribute, std::span<int> values) {
  if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
    std::ranges::fill(values, CU_DEVICE_INVALID);
    auto to = values.begin();
    for (const auto& [type, id] : accessors(part)) {
      if (to == values.end()) return;
      *to++ = number_of({static_cast<CUmemLocationType>(type), id});
    }
    return;
  }
  require(values.size() == 1, CUDA_ERROR_INVALID_VALUE);
  const auto place = [&](CUmemLocation Page::*member) { return common_place(part, member); };
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      values[0] = are_read_mostly(part);
      return;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      values[0] = number_of(place(&Page::preferred));
      return;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      values[0] = number_of(place(&Page::prefetched));
      return;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      values[0] = place(&Page::preferred).type;
      return;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      values[0] = place(&Page::preferred).id;
      return;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      values[0] = place(&Page::prefetched).type;
      return;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      values[0] = place(&Page::prefetched).id;
      return;
    default:
      throw Refusal(CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace

CUresult MemAdviseDevice(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  const bool has_place = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
                         advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
                         advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
  return advise(address, bytes, advice,
                has_place ? place_of_device(device) : ManagedAdvice::kNowhere);
}

CUresult MemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  return advise(address, bytes, advice, location);
}

CUresult MemPrefetchToDeviceAsync(CUdeviceptr address, size_t bytes, CUdevice device,
                                  CUstream stream) {
  usable_stream(stream);
  return prefetch(address, bytes, place_of_device(device));
}

CUresult MemPrefetchAsync(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
                          CUstream stream) {
  usable_stream(stream);
  require(flags == 0, CUDA_ERROR_INVALID_VALUE);
  return prefetch(address, bytes, place_of(location));
}

CUresult MemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                               CUmemLocation* locations, size_t* indices, size_t location_count,
                               unsigned long long flags, CUstream stream) {
  return prefetch({addresses, sizes, count, locations, indices, location_count}, flags, stream);
}

// What is discarded may keep its contents.
CUresult MemDiscardBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                              unsigned long long flags, CUstream stream) {
  usable_stream(stream);
  require(count != 0 && addresses != nullptr && sizes != nullptr && flags == 0,
          CUDA_ERROR_INVALID_VALUE);
  for (size_t k = 0; k < count; ++k) part_of(addresses[k], sizes[k]);
  return CUDA_SUCCESS;
}

CUresult MemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                         CUmemLocation* locations, size_t* indices,
                                         size_t location_count, unsigned long long flags,
                                         CUstream stream) {
  return prefetch({addresses, sizes, count, locations, indices, location_count}, flags, stream);
}

CUresult MemRangeGetAttribute(void* data, size_t data_bytes, CUmem_range_attribute attribute,
                              CUdeviceptr address, size_t bytes) {
  enter();
  require(data != nullptr && data_bytes != 0 && data_bytes % sizeof(int) == 0,
          CUDA_ERROR_INVALID_VALUE);
  tell(part_of(address, bytes), attribute, {static_cast<int*>(data), data_bytes / sizeof(int)});
  return CUDA_SUCCESS;
}

CUresult MemRangeGetAttributes(void** data, size_t* data_bytes, CUmem_range_attribute* attributes,
                               size_t count, CUdeviceptr address, size_t bytes) {
  require(count != 0 && data != nullptr && data_bytes != nullptr && attributes != nullptr,
          CUDA_ERROR_INVALID_VALUE);
  for (size_t k = 0; k < count; ++k) {
    MemRangeGetAttribute(data[k], data_bytes[k], attributes[k], address, bytes);
  }
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
