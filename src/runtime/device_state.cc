#include "runtime/device_state.h"

#include <map>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "runtime/host_wait.h"
#include "runtime/release.h"

namespace baton {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::pair<const driver::Driver*, int>, std::unique_ptr<DeviceIdentity>> identities;
};

// Never destroyed: static objects of users may release devices after ours would be gone.
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

int read_attribute(const driver::Driver& driver, CUdevice_attribute id, CUdevice device) {
  int value = 0;
  BATON_DRIVER_CALL(driver, cuDeviceGetAttribute, &value, id, device);
  return value;
}

}  // namespace

std::string device_name(const driver::Driver& driver, CUdevice device) {
  char name[256] = {};
  BATON_DRIVER_CALL(driver, cuDeviceGetName, name, static_cast<int>(sizeof(name)), device);
  return name;
}

int device_architecture(const driver::Driver& driver, CUdevice device) {
  return read_attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) * 10 +
         read_attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

const DeviceIdentity& DeviceIdentity::of(const DriverProvider& provider,
                                         const driver::Driver& driver, int ordinal) {
  Registry& shared = registry();
  std::lock_guard lock(shared.mutex);
  std::unique_ptr<DeviceIdentity>& identity = shared.identities[{&driver, ordinal}];
  if (identity == nullptr) {
    identity = std::make_unique<DeviceIdentity>(provider, driver, ordinal);
  }
  return *identity;
}

std::shared_ptr<DeviceState> DeviceIdentity::acquire() const {
  std::lock_guard lock(mutex_);
  std::shared_ptr<DeviceState> state = state_.lock();
  if (state == nullptr) {
    state.reset(new DeviceState(*this));
    state_ = state;
  }
  return state;
}

std::shared_ptr<DeviceState> DeviceState::acquire(const DriverProvider& provider,
                                                  const driver::Driver& driver, int ordinal) {
  int count = 0;
  BATON_DRIVER_CALL(driver, cuDeviceGetCount, &count);
  if (ordinal < 0 || ordinal >= count) {
    throw error(ErrorCode::kNoDevice,
                "there is no device {}: the {} has {} device{}, the last is {}",
                provider.spec(ordinal), driver.name, count, count == 1 ? "" : "s",
                provider.spec(count - 1));
  }
  return DeviceIdentity::of(provider, driver, ordinal).acquire();
}

std::shared_ptr<DeviceState> DeviceState::sibling(CUdevice device) const {
  int count = 0;
  BATON_DRIVER_CALL(driver_, cuDeviceGetCount, &count);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice candidate = 0;
    BATON_DRIVER_CALL(driver_, cuDeviceGet, &candidate, ordinal);
    if (candidate == device) return acquire(identity_.provider(), driver_, ordinal);
  }
  throw error(ErrorCode::kNoDevice, "the {} has no device with the handle {}", driver_.name,
              device);
}

DeviceState::DeviceState(const DeviceIdentity& identity)
    : identity_(identity),
      driver_(identity.driver()),
      spec_(identity.provider().spec(identity.ordinal())) {
  BATON_DRIVER_CALL(driver_, cuDeviceGet, &device_, identity.ordinal());
  name_ = device_name(driver_, device_);
  architecture_ = device_architecture(driver_, device_);
  const std::pair<std::uint32_t*, CUdevice_attribute> limits[] = {
      {&limits_.threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
      {&limits_.block[0], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
      {&limits_.block[1], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
      {&limits_.block[2], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
      {&limits_.grid[0], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
      {&limits_.grid[1], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
      {&limits_.grid[2], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
      {&limits_.shared_per_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
      {&limits_.shared_per_block_optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
      {&limits_.shared_per_multiprocessor,
       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
      {&limits_.registers_per_block, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
      {&limits_.threads_per_multiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
      {&limits_.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
      {&limits_.warp_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
  };
  for (const auto& [limit, id] : limits) *limit = static_cast<std::uint32_t>(attribute(id));
  CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
  BATON_DRIVER_CALL(driver_, cuModuleGetLoadingMode, &mode);
  loads_lazily_ = mode == CU_MODULE_LAZY_LOADING;
  // Last: from here on there is something to give back.
  BATON_DRIVER_CALL(driver_, cuDevicePrimaryCtxRetain, &context_, device_);
}

DeviceState::~DeviceState() {
  if (!await_release(driver_, context_)) return;
  BATON_RELEASE(driver_, cuDevicePrimaryCtxRelease, device_);
}

int DeviceState::attribute(CUdevice_attribute id) const {
  return read_attribute(driver_, id, device_);
}

}  // namespace baton
