#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/export.h"
#include "baton/native.h"

namespace baton {

namespace driver {
struct Driver;
}
class DeviceState;

// The limits a launch is held against, as the device reports them.
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

// A CUDA GPU or the simulated GPU. A cheap value that refers to one state per device of the
// process: it holds the device's primary context for as long as any Device, Stream, Buffer, Module
// … of it lives. Any thread may use it.
//
// Every call of Baton makes that context current where it is not, and puts the caller's back before
// it returns: which context is current is the caller's own and never changed behind its back. A
// thread that has it current already (the CUDA runtime API leaves it so) saves the exchange.
class BATON_API Device {
 public:
  // As the command line chooses: BATON_DEVICE, else the first GPU, else, with no CUDA driver or no
  // GPU, the simulated one. Throws kNoDevice where a driver is present but does not start.
  static Device open();
  // "sim", "sim:h100", "sim:h200", "sim:b200", "sim:tiny", "cuda", "cuda:N". Throws kInvalidInput
  // for another name, kNoDevice where there is no such device.
  static Device open(std::string_view spec);

  // "cuda:0", "sim:h200": what `open` takes.
  const std::string& spec() const;
  // "NVIDIA H200".
  const std::string& name() const;
  // 90 for compute capability 9.0.
  int architecture() const;
  // "sm_90a": what kernels are compiled for by default.
  std::string compile_arch() const;
  const DeviceLimits& limits() const;
  // Any CUdevice_attribute by its number. Throws kDriver where the driver does not know it.
  int attribute(int id) const;
  std::uint64_t total_memory() const;  // bytes
  std::uint64_t free_memory() const;   // bytes, now
  int driver_version() const;          // 13000 for CUDA 13.0

  // Waits for all work on the device. Throws what that work failed with.
  void synchronize() const;

  NativeDevice native() const;
  NativeContext native_context() const;

  friend bool operator==(const Device& a, const Device& b) { return a.state_ == b.state_; }

  // For the rooms of Baton itself.
  const driver::Driver& driver() const;
  const std::shared_ptr<DeviceState>& state() const { return state_; }

 private:
  friend class DeviceState;
  explicit Device(std::shared_ptr<DeviceState> state) : state_(std::move(state)) {}
  std::shared_ptr<DeviceState> state_;
};

// One line of `baton doctor`.
struct DeviceSummary {
  std::string spec;
  std::string name;
  int architecture = 0;
  std::uint64_t total_memory = 0;
};

// Every device that `Device::open` could give, GPUs first. `why_no_gpu` says why there is none,
// where there is none. Never throws for a driver that does not start: that is what it reports.
BATON_API std::vector<DeviceSummary> list_devices(std::string* why_no_gpu = nullptr);

}  // namespace baton
