#pragma once

// The modules of a recorded process, loaded for a replay, and their kernels.

#include <cuda.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/device.h"
#include "record/recorded_kernels.h"
#include "runtime/library.h"

namespace baton::replay {

struct ReplayedKernel {
  const record::KernelOfRecord* recorded = nullptr;
  CUkernel handle = nullptr;  // null: see `refusal`
  std::string refusal;        // why it cannot run
  std::vector<record::ParamNote> params;  // as the replay's driver has them
  // Its accesses depend on the contents of memory (pdl/memory_dependence.h).
  bool follows_contents = true;
};

class ReplayModules {
 public:
  ReplayModules(const Device& device, const record::ImageBytes& images)
      : device_(device), kernels_(images), images_(images) {}

  // Follows images, functions, and the calls that change handles.
  void follow(const record::RecordedEvent& event);
  void unload(std::uint64_t module);
  // The kernel of a handle of the record.
  ReplayedKernel& kernel(std::uint64_t function);
  // The address and the bytes of a variable of a module; nothing if the module is not replayed.
  std::optional<std::pair<CUdeviceptr, std::size_t>> variable(std::uint64_t module,
                                                              const std::string& name);
  // The handle that has the variables of a module.
  std::uint64_t owner(std::uint64_t module) const { return kernels_.owner(module); }
  const std::vector<std::string>& remarks() const { return kernels_.remarks(); }

 private:
  using Digest = std::array<std::uint8_t, 32>;
  using Key = std::pair<std::uint64_t, Digest>;
  // An image that the device has loaded, or why it has not.
  struct Loaded {
    std::unique_ptr<DriverLibrary> library;
    std::string refusal;
  };

  const Loaded& library(const Key& key);

  const Device device_;
  record::RecordedKernels kernels_;
  const record::ImageBytes& images_;
  std::map<Key, Loaded> libraries_;
  std::map<const record::KernelOfRecord*, ReplayedKernel> replayed_;
};

}  // namespace baton::replay
