#include "sim/device/managed_variables.h"

#include <algorithm>

#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"

namespace baton::sim {

ManagedVariables::~ManagedVariables() {
  for (const auto& [name, address] : addresses_) {
    HostMemory::instance().free(address, HostMemory::Kind::kVariable);
  }
}

std::uint64_t ManagedVariables::address_of(const std::string& name, std::uint64_t bytes,
                                           int ordinal) {
  void*& address = addresses_[name];
  if (address == nullptr) {
    address = HostMemory::instance().allocate(bytes, ordinal, HostMemory::Kind::kVariable,
                                              CU_MEM_ATTACH_GLOBAL);
    require(address != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
  }
  return reinterpret_cast<std::uint64_t>(address);
}

void ManagedVariables::place(const std::shared_ptr<LoadedModule>& module, int ordinal) {
  const std::vector<LoadedModule::ManagedVariable> variables = module->managed_variables();
  if (variables.empty()) return;
  std::lock_guard lock(mutex_);
  std::erase_if(placed_, [](const std::weak_ptr<LoadedModule>& each) { return each.expired(); });
  for (const auto& [name, bytes] : variables) {
    module->set_address(name, address_of(name, bytes, ordinal), placed_.empty());
  }
  placed_.push_back(module);
}

}  // namespace baton::sim
