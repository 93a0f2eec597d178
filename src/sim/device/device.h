#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "sim/device/context.h"
#include "sim/device/context_settings.h"
#include "sim/device/profile.h"

namespace baton::sim {

// A simulated device and its primary context, which lives while someone retains it. The device is
// never destroyed, and a CUcontext is its address: the handle of a primary context stays the same
// when it is reset and retained again. Thread-safe.
class SimDevice {
 public:
  SimDevice(int ordinal, const Profile& profile, int number = 0)
      : ordinal_(ordinal), profile_(profile), place_(number) {}

  // All devices, by ordinal: one of each profile, and then the further ones.
  static std::span<SimDevice* const> all();
  // The further device of that number, from 1 on, of a profile. The first call makes it. Null for
  // more devices than addresses have room for.
  static SimDevice* further(const Profile& profile, int number);
  // Null for an ordinal, or a context handle, that is none.
  static SimDevice* find(CUdevice ordinal);
  static SimDevice* find(CUcontext handle);

  int ordinal() const { return ordinal_; }
  const Profile& profile() const { return profile_; }
  // 0 for the first device of its profile.
  int number() const { return place_; }
  CUcontext handle() { return reinterpret_cast<CUcontext>(this); }

  // The live context, or null.
  std::shared_ptr<Context> context() const;

  void retain();
  // False where the context is not retained. The last release waits for what was submitted, and
  // then frees all that the context holds; errors that poisoned it are gone with it.
  bool release();
  // Ends the context whoever retains it. They hold a dead context until they retain it anew.
  void reset();

  // One of a kind for each context of the device that there was.
  std::uint64_t context_number() const;

  // The pools that stream-ordered allocations come from: the device's own, and the chosen one.
  CUmemoryPool default_pool();
  CUmemoryPool current_pool();
  void set_current_pool(CUmemoryPool pool);

  ContextSettings settings() const;
  template <typename Change>
  void change_settings(Change change) {
    std::lock_guard lock(mutex_);
    change(settings_);
  }

  // Sets CU_LIMIT_MALLOC_HEAP_SIZE. False where a kernel that allocates was launched before.
  bool set_heap_limit(std::size_t bytes);

  // At the exit of the process: the thread stops, and all else stays as it is.
  void abandon();

 private:
  const int ordinal_;
  const Profile& profile_;
  const int place_;          // among the devices of its profile
  std::mutex retain_mutex_;  // one change at a time
  void end_context();

  mutable std::mutex mutex_;  // guards the pointer, its number and the settings
  int references_ = 0;
  std::shared_ptr<Context> context_;
  std::uint64_t number_ = 0;
  ContextSettings settings_;
  CUmemoryPool default_pool_ = nullptr;
  CUmemoryPool current_pool_ = nullptr;  // null: the default one
};

}  // namespace baton::sim
