#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sim/engine/lower/module.h"

namespace baton::sim {

// The variables of a library that are declared __managed__. The host and all devices share them at
// one address, as long as the library is loaded. Thread-safe.
class ManagedVariables {
 public:
  ManagedVariables() = default;
  ManagedVariables(const ManagedVariables&) = delete;
  ManagedVariables& operator=(const ManagedVariables&) = delete;
  ~ManagedVariables();

  // Tells the module where its managed variables are. They get their initial values where no other
  // placed module of the library has them. Throws Refusal(CUDA_ERROR_OUT_OF_MEMORY).
  void place(const std::shared_ptr<LoadedModule>& module, int ordinal);

 private:
  std::uint64_t address_of(const std::string& name, std::uint64_t bytes, int ordinal);

  std::mutex mutex_;
  std::map<std::string, void*> addresses_;
  std::vector<std::weak_ptr<LoadedModule>> placed_;
};

}  // namespace baton::sim
