#include "sim/device/device.h"

#include <array>
#include <atomic>
#include <utility>

#include "sim/device/host_memory.h"
#include "sim/device/objects.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/memory/kernel_heap.h"
#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {
namespace {

// The last ordinal is that of memory of no device (library.cc).
constexpr std::size_t kMostDevices = kMaxOrdinal;

// Never destroyed. Readers take no lock: a device is complete before it counts.
class Devices {
 public:
  static Devices& instance() {
    static auto& made = *new Devices;
    return made;
  }

  std::span<SimDevice* const> all() const {
    return {devices_.data(), count_.load(std::memory_order_acquire)};
  }

  SimDevice* further(const Profile& profile, int number) {
    std::lock_guard lock(mutex_);
    for (SimDevice* const device : all()) {
      if (&device->profile() == &profile && device->number() == number) return device;
    }
    return count_ < kMostDevices ? &add(profile, number) : nullptr;
  }

 private:
  Devices() {
    for (const Profile& profile : profiles()) add(profile, 0);
  }

  SimDevice& add(const Profile& profile, int number) {
    const std::size_t ordinal = count_.load();
    devices_[ordinal] = new SimDevice(static_cast<int>(ordinal), profile, number);
    count_.store(ordinal + 1, std::memory_order_release);
    return *devices_[ordinal];
  }

  std::mutex mutex_;
  std::array<SimDevice*, kMostDevices> devices_{};
  std::atomic<std::size_t> count_{0};
};

const Context* context_of(const SimStream& stream) {
  return stream.context.get();
}
const Context* context_of(const SimEvent& event) {
  return event.context.get();
}
const Context* context_of(const SimFunction& function) {
  return function.context().get();
}

KernelHeap& heap_of_kernels(Context& context) {
  return context.heap()->memory().impl().heap();
}

}  // namespace

std::span<SimDevice* const> SimDevice::all() {
  return Devices::instance().all();
}

SimDevice* SimDevice::further(const Profile& profile, int number) {
  return Devices::instance().further(profile, number);
}

SimDevice* SimDevice::find(CUdevice ordinal) {
  const auto devices = all();
  if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= devices.size()) return nullptr;
  return devices[static_cast<std::size_t>(ordinal)];
}

SimDevice* SimDevice::find(CUcontext handle) {
  for (SimDevice* const device : all()) {
    if (device->handle() == handle) return device;
  }
  return nullptr;
}

std::shared_ptr<Context> SimDevice::context() const {
  std::lock_guard lock(mutex_);
  return context_;
}

void SimDevice::retain() {
  std::lock_guard one(retain_mutex_);
  if (references_ == 0) {
    auto context = std::make_shared<Context>(ordinal_, profile_);
    std::lock_guard lock(mutex_);
    heap_of_kernels(*context).set_limit(settings_.limits[CU_LIMIT_MALLOC_HEAP_SIZE]);
    context_ = std::move(context);
    ++number_;
  }
  ++references_;
}

bool SimDevice::release() {
  std::lock_guard one(retain_mutex_);
  if (references_ == 0) return false;
  if (--references_ == 0) end_context();
  return true;
}

void SimDevice::reset() {
  std::lock_guard one(retain_mutex_);
  if (std::exchange(references_, 0) != 0) end_context();
  std::lock_guard lock(mutex_);
  settings_ = {};
}

std::uint64_t SimDevice::context_number() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::uint64_t>(ordinal_) << 32 | number_;
}

CUmemoryPool SimDevice::default_pool() {
  std::lock_guard lock(mutex_);
  if (default_pool_ == nullptr) {
    default_pool_ = Objects::instance().pools.add(std::make_shared<SimPool>(
        SimPool::Kind::kDevice, CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, ordinal_}, true));
  }
  return default_pool_;
}

CUmemoryPool SimDevice::current_pool() {
  {
    std::lock_guard lock(mutex_);
    if (current_pool_ != nullptr) return current_pool_;
  }
  return default_pool();
}

void SimDevice::set_current_pool(CUmemoryPool pool) {
  std::lock_guard lock(mutex_);
  current_pool_ = pool;
}

ContextSettings SimDevice::settings() const {
  std::lock_guard lock(mutex_);
  return settings_;
}

bool SimDevice::set_heap_limit(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  if (context_ != nullptr && !heap_of_kernels(*context_).set_limit(bytes)) return false;
  settings_.limits[CU_LIMIT_MALLOC_HEAP_SIZE] = bytes;
  return true;
}

// Under `retain_mutex_`.
void SimDevice::end_context() {
  std::shared_ptr<Context> last = context();
  last->queue().drain();
  {
    std::lock_guard lock(mutex_);
    context_.reset();
  }
  last->tell_unread();
  last->close();
  auto is_of_last = [&](const auto& object) { return context_of(object) == last.get(); };
  Objects::instance().streams.remove_if(is_of_last);
  Objects::instance().events.remove_if(is_of_last);
  Objects::instance().functions.remove_if(is_of_last);
  const auto is_in_last = [&](const auto& object) { return object.heap == last->heap(); };
  Objects::instance().arrays.remove_if(is_in_last);
  Objects::instance().textures.remove_if(is_in_last);
  HostMemory::instance().free_all(ordinal_);
}

void SimDevice::abandon() {
  const std::shared_ptr<Context> live = context();
  if (live == nullptr) return;
  live->tell_unread();
  live->queue().close();
}

Objects& Objects::instance() {
  static auto& instance = *new Objects;
  return instance;
}

}  // namespace baton::sim
