#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "baton/device.h"
#include "baton/image.h"
#include "runtime/library.h"

namespace baton {

// What sort of argument a parameter takes, as far as that is certain.
enum class ArgumentClass : std::uint8_t { kAny, kPointer, kFloat, kInteger };

struct ParamSlot {
  std::uint32_t offset = 0;  // in bytes, in the kernel's parameter block
  std::uint32_t size = 0;
  ArgumentClass takes = ArgumentClass::kAny;
};

// What a launch needs to know of one kernel on one device: resolved once, then immutable but for
// the shared-memory opt-in, which only ever rises. Thread-safe.
class ResolvedKernel {
 public:
  // With the device's context current. Throws what the driver says.
  ResolvedKernel(const Device& device, CUkernel kernel, const KernelFacts& facts);

  CUfunction function() const { return function_; }
  const std::vector<ParamSlot>& params() const { return params_; }
  std::uint32_t max_threads() const { return max_threads_; }
  std::uint32_t registers() const { return registers_; }
  std::uint32_t static_shared() const { return static_shared_; }
  // The opt-in limit of a block less the static shared memory.
  std::uint32_t max_dynamic_shared() const { return max_dynamic_shared_; }
  // Zero where the image does not fix it.
  const std::array<std::uint32_t, 3>& required_block() const { return required_block_; }
  const std::array<std::uint32_t, 3>& required_cluster() const { return required_cluster_; }

  // Makes launches with so many bytes of dynamic shared memory legal. One relaxed load where they
  // are already; else the function's attribute is raised under a lock, never lowered, so that
  // threads which launch with different sizes do not take each other's away.
  void allow_shared(std::uint32_t bytes) const {
    if (bytes > shared_allowed_.load(std::memory_order_acquire)) raise_shared(bytes);
  }

 private:
  std::uint32_t attribute(CUfunction_attribute id) const;
  void read_params(CUkernel kernel, const KernelFacts& facts);
  void raise_shared(std::uint32_t bytes) const;

  Device device_;
  CUfunction function_ = nullptr;
  std::vector<ParamSlot> params_;
  std::uint32_t max_threads_ = 0;
  std::uint32_t registers_ = 0;
  std::uint32_t static_shared_ = 0;
  std::uint32_t max_dynamic_shared_ = 0;
  std::array<std::uint32_t, 3> required_block_{};
  std::array<std::uint32_t, 3> required_cluster_{};
  mutable std::mutex raising_;
  mutable std::atomic<std::uint32_t> shared_allowed_{0};
};

// One kernel of a module. Lives as long as the module's state. Thread-safe.
struct KernelState {
  KernelState(const Device& on, const Library& library, const KernelFacts& of);

  // Resolved at the first call and published for all threads; after that one load.
  const ResolvedKernel& resolved() const {
    const ResolvedKernel* known = published_.load(std::memory_order_acquire);
    return known != nullptr ? *known : resolve();
  }

  const Device device;
  const KernelFacts& facts;
  CUkernel handle = nullptr;

 private:
  const ResolvedKernel& resolve() const;

  mutable std::mutex resolving_;
  mutable std::unique_ptr<const ResolvedKernel> owned_;
  mutable std::atomic<const ResolvedKernel*> published_{nullptr};
};

}  // namespace baton
