#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/finding.h"
#include "baton/forward.h"
#include "baton/native.h"

namespace baton {

namespace driver {
struct Driver;
}
class DeviceState;
class DeviceIdentity;

// The launch limits that the device reports.
struct DeviceLimits {
  std::uint32_t threads_per_block = 0;
  std::uint32_t block[3] = {};
  std::uint32_t grid[3] = {};
  std::uint32_t shared_per_block = 0;        // bytes, without opt-in
  std::uint32_t shared_per_block_optin = 0;  // bytes, static and dynamic together
  std::uint32_t shared_per_multiprocessor = 0;
  std::uint32_t registers_per_block = 0;
  std::uint32_t threads_per_multiprocessor = 0;
  std::uint32_t multiprocessors = 0;
  std::uint32_t warp_size = 32;
};

// A CUDA GPU or the simulated GPU. A cheap value; copies share one state for each device of the
// process. The state holds the device's primary context as long as any Device, Stream, Buffer,
// Module … of it lives. Thread-safe.
//
// Every call of Baton makes that context current if necessary, and restores the caller's context
// before it returns. A thread that already has it current (the CUDA runtime API leaves it so)
// avoids the exchange.
class BATON_API Device {
 public:
  // Opens the device that the command line would choose: BATON_DEVICE, otherwise the first GPU,
  // otherwise the simulated GPU. The simulated GPU is chosen only without a CUDA driver or without
  // a GPU. Throws kNoDevice if a driver is present but does not start.
  static Device open();
  // "sim", "sim:NAME" (h100, h200, b200, sm80, sm89, sm120, tiny), "sim:NAME:1" and so on for
  // further devices of that kind, "cuda", "cuda:N". Throws kInvalidInput for another name,
  // kNoDevice where there is no such device.
  static Device open(std::string_view spec);

  // "cuda:0", "sim:h200": a name that `open` takes.
  const std::string& spec() const;
  // "NVIDIA H200".
  const std::string& name() const;
  // 90 for compute capability 9.0.
  int architecture() const;
  // "sm_90a": the default architecture to compile for.
  std::string compile_arch() const;
  const DeviceLimits& limits() const;
  // Any CUdevice_attribute by its number. Throws kDriver if the driver does not know it.
  int attribute(int id) const;
  std::uint64_t total_memory() const;  // bytes
  std::uint64_t free_memory() const;   // bytes, now
  int driver_version() const;          // 13000 for CUDA 13.0

  // Waits for all work on the device. Throws the error of that work. On the simulated GPU, also
  // throws error findings, as the policy says.
  void synchronize() const;

  // Ends the error state that a fault left on the simulated GPU. Memory, modules and streams stay
  // as they are, and later work runs. Throws kUnsupported for a GPU, where such a state ends with
  // the process.
  void recover() const;

  // Returns the findings that were not thrown, logged or returned before, in the order first seen.
  // Does not wait. Empty on a GPU.
  std::vector<FindingReport> findings() const;
  // Sets the policy of the device, for all threads. The default is kThrow. No effect on a GPU.
  // Error findings that the program never received are written to standard error when the last
  // handle of the device or the process ends.
  void set_finding_policy(FindingPolicy policy) const;

  NativeDevice native() const;
  NativeContext native_context() const;

  friend bool operator==(const Device& a, const Device& b) { return a.state_ == b.state_; }

  // For Baton's own sources.
  const driver::Driver& driver() const;
  const std::shared_ptr<DeviceState>& state() const { return state_; }
  // Which device this is. Never destroyed: it outlives every Device.
  const DeviceIdentity* identity() const { return identity_; }

 private:
  friend class DeviceState;
  explicit Device(std::shared_ptr<DeviceState> state);
  std::shared_ptr<DeviceState> state_;
  const DeviceIdentity* identity_;
};

// One line of `baton doctor`.
struct DeviceSummary {
  std::string spec;
  std::string name;
  int architecture = 0;
  std::uint64_t total_memory = 0;
};

// Returns every device that `Device::open` accepts, GPUs first. If there is no GPU, `why_no_gpu`
// receives the reason. Does not throw for a driver that does not start: it reports that.
BATON_API std::vector<DeviceSummary> list_devices(std::string* why_no_gpu = nullptr);

}  // namespace baton
