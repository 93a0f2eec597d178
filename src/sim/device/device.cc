#include "sim/device/device.h"

#include <utility>

#include "sim/device/host_memory.h"
#include "sim/device/objects.h"

namespace baton::sim {
namespace {

const Context* context_of(const SimStream& stream) {
  return stream.context.get();
}
const Context* context_of(const SimEvent& event) {
  return event.context.get();
}
const Context* context_of(const SimFunction& function) {
  return function.context().get();
}

}  // namespace

std::deque<SimDevice>& SimDevice::all() {
  static auto& devices = *[] {
    auto* made = new std::deque<SimDevice>;
    for (const Profile& profile : profiles()) {
      made->emplace_back(static_cast<int>(made->size()), profile);
    }
    return made;
  }();
  return devices;
}

SimDevice* SimDevice::find(CUdevice ordinal) {
  std::deque<SimDevice>& devices = all();
  if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= devices.size()) return nullptr;
  return &devices[static_cast<std::size_t>(ordinal)];
}

SimDevice* SimDevice::find(CUcontext handle) {
  for (SimDevice& device : all()) {
    if (device.handle() == handle) return &device;
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
    default_pool_ = Objects::instance().pools.add(std::make_shared<SimPool>(ordinal_, true));
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
