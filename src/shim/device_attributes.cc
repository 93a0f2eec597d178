#include "shim/device_attributes.h"

#include <algorithm>
#include <iterator>

#include "sim/api/driver.h"

namespace baton::shim {
namespace {

// Each is 0 on a device that lacks the feature.
constexpr CUdevice_attribute kNotSimulated[] = {
    CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES,
    CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
};

}  // namespace

CUresult get_device_attribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  const CUresult result = sim::simulated_driver().cuDeviceGetAttribute(value, attribute, device);
  const bool is_refused = std::find(std::begin(kNotSimulated), std::end(kNotSimulated),
                                    attribute) != std::end(kNotSimulated);
  if (result == CUDA_SUCCESS && is_refused) *value = 0;
  return result;
}

}  // namespace baton::shim
