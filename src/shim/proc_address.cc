#include "shim/proc_address.h"

#include <cuda.h>

#include "shim/device_attributes.h"
#include "shim/export_table.h"
#include "shim/own_entry.h"
#include "shim/symbols.h"

extern "C" void* const baton_exports[];  // by number; exports.S has it

namespace baton::shim {
namespace {

CUresult get_proc_address(const char* name, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  if (name == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  constexpr cuuint64_t kKnown =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if ((flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  const bool is_own = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const Lookup found =
      look_up(name, version, is_own ? DefaultStream::thread : DefaultStream::legacy);
  *function = found.symbol != nullptr ? baton_exports[found.symbol - symbols().data()] : nullptr;
  if (status != nullptr) {
    *status = found.symbol != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
              : found.is_known        ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  // Drivers answer so where the caller cannot see the status.
  if (found.symbol == nullptr && status == nullptr) return CUDA_ERROR_NOT_FOUND;
  return CUDA_SUCCESS;
}

// As of CUDA 11.3, without a status.
CUresult get_proc_address_v1(const char* name, void** function, int version, cuuint64_t flags) {
  return get_proc_address(name, function, version, flags, nullptr);
}

}  // namespace

void* own_function(std::string_view symbol) {
  if (symbol == "cuGetProcAddress_v2")
    return reinterpret_cast<void*>(&OwnEntry<get_proc_address>::call);
  if (symbol == "cuGetProcAddress")
    return reinterpret_cast<void*>(&OwnEntry<get_proc_address_v1>::call);
  if (symbol == "cuDeviceGetAttribute")
    return reinterpret_cast<void*>(&OwnEntry<get_device_attribute>::call);
  if (symbol == "cuGetExportTable") return reinterpret_cast<void*>(get_export_table);
  return nullptr;
}

}  // namespace baton::shim
