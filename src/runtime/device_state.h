#pragma once

#include <cuda.h>

#include <atomic>
#include <memory>
#include <string>

#include "baton/device.h"
#include "driver/driver.h"
#include "runtime/polling_launches.h"
#include "runtime/provider.h"

namespace baton {

// One device of a driver. Never destroyed, so that what merely names a device, as the config of a
// launch does, cannot dangle. Thread-safe.
class DeviceIdentity {
 public:
  // The one of this device, known to exist.
  static const DeviceIdentity& of(const DriverProvider& provider, const driver::Driver& driver,
                                  int ordinal);
  DeviceIdentity(const DriverProvider& provider, const driver::Driver& driver, int ordinal)
      : provider_(provider), driver_(driver), ordinal_(ordinal) {}
  DeviceIdentity(const DeviceIdentity&) = delete;
  DeviceIdentity& operator=(const DeviceIdentity&) = delete;

  const DriverProvider& provider() const { return provider_; }
  const driver::Driver& driver() const { return driver_; }
  // Among the driver's devices.
  int ordinal() const { return ordinal_; }
  // The state there is, or a new one.
  std::shared_ptr<DeviceState> acquire() const;

 private:
  const DriverProvider& provider_;
  const driver::Driver& driver_;
  const int ordinal_;
  mutable std::mutex mutex_;  // guards the state
  mutable std::weak_ptr<DeviceState> state_;
};

// What Baton holds of one device: its primary context, retained as long as this lives, and what
// never changes about it. One per device of the process while anything refers to it. Immutable but
// for the policy of findings and what polls. Thread-safe.
class DeviceState {
 public:
  // The state there is, or a new one. Throws kNoDevice where the driver has no such device.
  static std::shared_ptr<DeviceState> acquire(const DriverProvider& provider,
                                              const driver::Driver& driver, int ordinal);
  // The same for another device of the same driver, by its handle.
  std::shared_ptr<DeviceState> sibling(CUdevice device) const;
  static Device handle(std::shared_ptr<DeviceState> state) { return Device(std::move(state)); }

  ~DeviceState();
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  const DeviceIdentity& identity() const { return identity_; }
  const driver::Driver& driver() const { return driver_; }
  CUdevice device() const { return device_; }
  // Among the driver's devices.
  int ordinal() const { return identity_.ordinal(); }
  CUcontext context() const { return context_; }
  const std::string& spec() const { return spec_; }
  const std::string& name() const { return name_; }
  int architecture() const { return architecture_; }
  const DeviceLimits& limits() const { return limits_; }
  int attribute(CUdevice_attribute id) const;

  // Whether kernels are loaded by their first use, not by their module.
  bool loads_lazily() const { return loads_lazily_; }
  PollingLaunches& polling() { return polling_; }

  FindingPolicy finding_policy() const { return policy_.load(std::memory_order_relaxed); }
  void set_finding_policy(FindingPolicy policy) {
    policy_.store(policy, std::memory_order_relaxed);
  }

 private:
  friend class DeviceIdentity;
  explicit DeviceState(const DeviceIdentity& identity);

  const DeviceIdentity& identity_;
  const driver::Driver& driver_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  std::string spec_;
  std::string name_;
  int architecture_ = 0;
  DeviceLimits limits_;
  bool loads_lazily_ = false;
  PollingLaunches polling_;
  std::atomic<FindingPolicy> policy_{FindingPolicy::kThrow};
};

// What a driver says of a device without a context on it.
std::string device_name(const driver::Driver& driver, CUdevice device);
int device_architecture(const driver::Driver& driver, CUdevice device);

}  // namespace baton
