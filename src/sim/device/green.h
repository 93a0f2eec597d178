#pragma once

#include <cuda.h>

#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/device/occupancy.h"

namespace baton::sim {

class SimDevice;

// Multiprocessors (SMs) of one device, as callers hold them in a CUdevResource.
struct SmResource {
  static constexpr std::size_t kMostSms = 256;

  int ordinal = 0;          // of the device
  std::uint64_t split = 0;  // the call that split them off; 0: none
  std::bitset<kMostSms> sms;

  // All of a device.
  static SmResource of(const SimDevice& device);
  // Throws Refusal(CUDA_ERROR_INVALID_RESOURCE_TYPE) for what is not a resource of SMs.
  static SmResource read(const CUdevResource& resource);
  CUdevResource written() const;
};

// What a split gives: groups of one size, and the rest.
struct SmSplit {
  std::vector<SmResource> groups;
  SmResource remaining;
};
// At most `most` groups of at least `count` SMs. Groups consist of SMs that can share a cluster, as
// many as the architecture schedules together; `single`: of pairs of SMs. Throws Refusal where the
// SMs were split off before.
SmSplit split_sms(const SmResource& input, std::size_t most, unsigned count, bool single);

// The SMs of all of these. Throws Refusal(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION) where they are
// not of one split, or overlap.
SmResource join_sms(const std::vector<SmResource>& parts);

// A context over a device's primary one whose kernels run on some SMs alone. It retains the primary
// context until it is destroyed. Streams and launches share it. Thread-safe.
class GreenContext {
 public:
  GreenContext(SimDevice& device, const SmResource& resource);
  GreenContext(const GreenContext&) = delete;
  GreenContext& operator=(const GreenContext&) = delete;

  SimDevice& device() const { return device_; }
  const SmResource& resource() const { return resource_; }
  const SmList& sms() const { return sms_; }
  CUgreenCtx handle() const { return handle_; }
  void set_handle(CUgreenCtx handle) const { handle_ = handle; }
  bool is_alive() const { return alive_.load(std::memory_order_acquire); }
  // Of threads that do this, one releases the primary context.
  void destroy() const;

 private:
  SimDevice& device_;
  const SmResource resource_;
  SmList sms_;
  mutable CUgreenCtx handle_ = nullptr;
  mutable std::atomic<bool> alive_{true};
};

}  // namespace baton::sim
