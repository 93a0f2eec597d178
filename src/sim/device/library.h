#pragma once

#include <cuda.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "chip/chip.h"
#include "ptx/ast.h"
#include "sim/device/managed_variables.h"
#include "sim/engine/lower/module.h"

namespace baton::sim {

class Context;
class SimLibrary;
class SimFunction;

// What a caller can set of a kernel, or of its function on one device.
struct KernelSettings {
  // Most dynamic shared memory of a launch; -1: what fits the device's default limit.
  int max_dynamic_shared = -1;
  int carveout = -1;
  int non_portable_cluster = 0;
  int cluster_policy = 0;
  int cluster[3] = {0, 0, 0};
  // Of a thread, from the kernel's machine code; 0: what the PTX makes likely.
  std::uint32_t registers = 0;
};

// One entry of a library, on no device in particular. Its settings are kept for each device, and
// reach the function there. Thread-safe.
class SimKernel {
 public:
  SimKernel(const SimLibrary& library, std::string name)
      : library_(library), name_(std::move(name)) {}

  const SimLibrary& library() const { return library_; }
  const std::string& name() const { return name_; }

  KernelSettings settings(int ordinal) const;
  // Sets what `change` returns of the settings there are; no other change comes between.
  using Change = std::function<KernelSettings(const KernelSettings&)>;
  void change(int ordinal, const Change& change);
  // On every device.
  void set_registers(std::uint32_t registers);
  // Gives a new function the settings of its device, and from now on those that are set later.
  void attach(int ordinal, const std::shared_ptr<SimFunction>& function);

 private:
  const SimLibrary& library_;  // owns this
  const std::string name_;
  mutable std::mutex mutex_;
  std::map<int, KernelSettings> settings_;  // by device ordinal
  KernelSettings others_;                   // of devices for which nothing was set
  std::map<int, std::weak_ptr<SimFunction>> functions_;
};

// What a launch as CUDA 3 made it takes from its function.
struct OldLaunch {
  unsigned block[3] = {0, 0, 0};
  unsigned shared_bytes = 0;
  std::vector<std::byte> parameters;
};

// A kernel placed on one device. Shares the context's ownership until that closes. Thread-safe.
class SimFunction {
 public:
  SimFunction(std::shared_ptr<SimKernel> kernel, std::shared_ptr<Context> context,
              std::shared_ptr<LoadedModule> module, const LoadedKernel* loaded);

  // Given by the context before anyone else sees the function.
  CUfunction handle() const { return handle_; }
  void set_handle(CUfunction handle) { handle_ = handle; }
  const std::shared_ptr<SimKernel>& kernel() const { return kernel_; }
  const std::shared_ptr<Context>& context() const { return context_; }
  const std::shared_ptr<LoadedModule>& module() const { return module_; }
  const LoadedKernel& loaded() const { return *loaded_; }

  KernelSettings settings() const;
  void set(const KernelSettings& settings);
  void change(const SimKernel::Change& change);
  // Guarded by who uses it (api/old_launch_api.cc).
  OldLaunch& old_launch() { return old_launch_; }

 private:
  const std::shared_ptr<SimKernel> kernel_;
  const std::shared_ptr<Context> context_;
  const std::shared_ptr<LoadedModule> module_;
  const LoadedKernel* const loaded_;  // owned by the module
  CUfunction handle_ = nullptr;
  mutable std::mutex mutex_;
  KernelSettings settings_;
  OldLaunch old_launch_;
};

// What one chip runs of an image: of a fatbin, the PTX that suits it best.
struct LibraryCode {
  std::shared_ptr<const ptx::ParsedModule> ptx;
  std::shared_ptr<LoadedModule> facts;  // placed in memory that no device has
  bool may_wait = false;                // a kernel of it may wait for the grids before it
  // Of a thread, by kernel, from the image's machine code where it has some for the chip.
  std::unordered_map<std::string, std::uint32_t> registers;
};

// Why a chip does not take an image: the driver's result, and what is wrong.
struct ImageRefusal {
  CUresult result = CUDA_SUCCESS;
  Error why;
};

// A loaded image on no device in particular; devices place it when they first need it. Immutable
// but for the kernels' settings and its managed variables.
class SimLibrary : public std::enable_shared_from_this<SimLibrary> {
 public:
  // Takes an image as cuLibraryLoadData does. Throws ImageRefusal where `wanted` does not take it,
  // or, where that is null, no simulated device does.
  static std::shared_ptr<SimLibrary> load(const void* image, const chip::Chip* wanted);

  // Throws Refusal(CUDA_ERROR_NO_BINARY_FOR_GPU) where the chip does not take the image.
  const LibraryCode& on(const chip::Chip& chip) const;
  // Those of all chips, in the order written. Each shares the library's ownership.
  std::vector<std::shared_ptr<SimKernel>> kernels();

  // The kernel's facts on a chip, whatever devices are in use. Throws as `on`, Refusal(
  // CUDA_ERROR_NOT_FOUND) where the chip's code lacks it, Error where its body does not parse.
  const LoadedKernel& facts(const SimKernel& kernel, const chip::Chip& chip) const;
  ManagedVariables& managed() const { return managed_; }

 private:
  void add_kernels(const LibraryCode& code);
  void set_registers();

  std::map<int, LibraryCode> codes_;  // by architecture, of the simulated devices
  std::deque<SimKernel> kernels_;
  mutable ManagedVariables managed_;
};

}  // namespace baton::sim
