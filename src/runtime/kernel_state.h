#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "baton/device.h"
#include "baton/image.h"
#include "baton/launch.h"
#include "chip/chip.h"
#include "runtime/device_state.h"

namespace baton {

class ModuleState;

// What sort of argument a parameter takes, as far as that is certain. By its use alone an integer
// of eight bytes may be an address.
enum class ArgumentClass : std::uint8_t { kAny, kPointer, kFloat, kInteger, kIntegerOrPointer };

struct TypedParam {
  std::uint32_t size = 0;  // in bytes
  ArgumentClass takes = ArgumentClass::kAny;
  std::optional<DType> element = std::nullopt;  // kPointer: of what it points to, where known
};

// What a launch needs to know of one kernel on one device: resolved once, then immutable but for
// the opt-ins, which launches only ever raise. Thread-safe.
class ResolvedKernel {
 public:
  // With the device's context current. Throws what the driver says.
  ResolvedKernel(const Device& device, CUfunction function, const KernelFacts& facts);

  const Device& device() const { return device_; }
  const driver::Driver& driver() const { return driver_; }
  const KernelFacts& facts() const { return facts_; }
  CUfunction function() const { return function_; }
  const std::vector<TypedParam>& params() const { return params_; }
  std::uint32_t max_threads() const { return max_threads_; }
  std::uint32_t registers() const { return registers_; }
  std::uint32_t static_shared() const { return static_shared_; }
  // The opt-in limit of a block less the static shared memory.
  std::uint32_t max_dynamic_shared() const { return max_dynamic_shared_; }
  // Zero where the image does not fix it.
  const std::array<std::uint32_t, 3>& required_block() const { return required_block_; }
  const std::array<std::uint32_t, 3>& required_cluster() const { return required_cluster_; }
  // The same, and where the image is not known, as of a foreign kernel, what the driver says. In
  // what its grid is counted is then unknown, so no grid is refused by it.
  const std::array<std::uint32_t, 3>& compiled_cluster() const { return compiled_cluster_; }
  // The driver counts this kernel's grids in clusters of the required size, not in blocks.
  bool grid_in_clusters() const { return grid_in_clusters_; }
  // Its launches are noted, as other kernels may be loaded beside them: see PollingLaunches.
  bool is_noted() const { return is_noted_; }
  // It is instrumented: after its parameters it takes the address of its records.
  bool is_traced() const { return facts_.traced; }
  // A launch is more than the driver's call.
  bool is_special() const { return is_special_; }
  void note_launch(CUstream stream) const {
    device_.state()->polling().launched(facts_.name, stream);
  }

  // Make launches with so many bytes of dynamic shared memory, or clusters of so many blocks,
  // legal. One load where they are already; else the function is allowed all that the device has.
  // What is allowed costs a launch nothing, and a function that several kernels or threads share
  // is then never lowered by one of them.
  CUresult allow_shared(std::uint32_t bytes) const noexcept {
    return allows_shared(bytes) ? CUDA_SUCCESS : raise_shared(bytes);
  }
  CUresult allow_cluster(std::uint64_t blocks) const noexcept {
    return allows_cluster(blocks) ? CUDA_SUCCESS : raise_cluster();
  }
  // Whether both are legal already.
  bool allows(std::uint32_t shared, std::uint64_t cluster) const noexcept {
    return allows_shared(shared) && allows_cluster(cluster);
  }

  // Bits of the launch attributes that the device and its driver are known to have: what launches
  // have found out so far.
  std::uint32_t known_attributes() const {
    return known_attributes_.load(std::memory_order_relaxed);
  }
  // Gives the bits among them that were not known before.
  std::uint32_t know_attributes(std::uint32_t bits) const {
    return bits & ~known_attributes_.fetch_or(bits, std::memory_order_relaxed);
  }

  // The fingerprint of the argument types that were accepted last, or 0. Most kernels are launched
  // with the same types for ever.
  std::uint64_t accepted_types() const { return accepted_types_.load(std::memory_order_relaxed); }
  void accept_types(std::uint64_t fingerprint) const {
    accepted_types_.store(fingerprint, std::memory_order_relaxed);
  }

  // Any CUfunction_attribute, now.
  int attribute(CUfunction_attribute id) const;
  void set_attribute(CUfunction_attribute id, int value) const;

 private:
  bool allows_shared(std::uint32_t bytes) const noexcept {
    return bytes <= shared_allowed_.load(std::memory_order_acquire);
  }
  bool allows_cluster(std::uint64_t blocks) const noexcept {
    return blocks <= chip::kPortableCluster ||
           large_clusters_allowed_.load(std::memory_order_acquire);
  }
  std::array<std::uint32_t, 3> cluster_of_driver() const;
  void read_params();
  CUresult raise_shared(std::uint32_t bytes) const noexcept;
  CUresult raise_cluster() const noexcept;
  CUresult set(CUfunction_attribute id, int value) const;

  Device device_;
  const driver::Driver& driver_;  // the device's
  const KernelFacts& facts_;      // the kernel state's, which outlives this
  CUfunction function_ = nullptr;
  std::vector<TypedParam> params_;
  std::uint32_t max_threads_ = 0;
  std::uint32_t registers_ = 0;
  std::uint32_t static_shared_ = 0;
  std::uint32_t max_dynamic_shared_ = 0;
  std::array<std::uint32_t, 3> required_block_{};
  std::array<std::uint32_t, 3> required_cluster_{};
  std::array<std::uint32_t, 3> compiled_cluster_{};
  bool grid_in_clusters_ = false;
  bool is_noted_ = false;
  bool is_special_ = false;
  mutable std::mutex raising_;  // and accepting
  mutable std::atomic<std::uint32_t> shared_allowed_{0};
  mutable std::atomic<bool> large_clusters_allowed_{false};
  mutable std::atomic<std::uint32_t> known_attributes_{0};
  mutable std::atomic<std::uint64_t> accepted_types_{0};
};

// One kernel, on every device of its driver: of a module, as long as whose state it lives, or a
// foreign function. Thread-safe.
class KernelState {
 public:
  KernelState(ModuleState& module, const Device& home, CUkernel handle, const KernelFacts& facts);
  // What Baton did not load: a kernel, or a function, which belongs to one device.
  KernelState(const Device& home, CUkernel handle, KernelFacts facts);
  KernelState(const Device& home, CUfunction function, KernelFacts facts);

  // The device that its module was loaded for: where it runs unless a stream says otherwise.
  const Device& home() const { return home_; }
  const KernelFacts& facts() const { return *facts_; }
  // Null for what Baton did not load.
  ModuleState* module() const { return module_; }
  CUkernel handle() const { return handle_; }

  // Resolved at the first call for a device and published for all threads; after that one load.
  const ResolvedKernel& on(const DeviceIdentity& device) const {
    const ResolvedKernel* known = published_on(device);
    return known != nullptr ? *known : resolve(DeviceState::handle(device.acquire()));
  }
  const ResolvedKernel& on(const Device& device) const { return on(*device.identity()); }
  const ResolvedKernel& at_home() const { return on(home_); }

  // Null before the first call for a device. Inline in every launch.
  [[gnu::always_inline]] const ResolvedKernel* published_on(const DeviceIdentity& device) const {
    const auto ordinal = static_cast<std::size_t>(device.ordinal());
    if (ordinal < count_) {
      const ResolvedKernel* known = published_[ordinal].load(std::memory_order_acquire);
      if (known != nullptr && known->device().identity() == &device) return known;
    }
    return nullptr;
  }

 private:
  KernelState(ModuleState* module, const Device& home);
  const ResolvedKernel& resolve(const Device& device) const;
  CUfunction function_on(const Device& device) const;

  ModuleState* const module_;
  const Device home_;
  KernelFacts own_facts_;  // of what Baton did not load
  const KernelFacts* facts_ = nullptr;
  CUkernel handle_ = nullptr;
  CUfunction foreign_ = nullptr;

  mutable std::mutex resolving_;
  std::size_t count_ = 0;  // of the driver's devices
  std::unique_ptr<std::unique_ptr<const ResolvedKernel>[]> owned_;
  std::unique_ptr<std::atomic<const ResolvedKernel*>[]> published_;
};

}  // namespace baton
