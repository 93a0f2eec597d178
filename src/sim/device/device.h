#pragma once

#include <cuda.h>

#include <deque>
#include <memory>
#include <mutex>

#include "sim/device/context.h"
#include "sim/device/profile.h"

namespace baton::sim {

// A simulated device and its primary context, which lives while someone retains it. The device is
// never destroyed, and a CUcontext is its address: the handle of a primary context stays the same
// when it is reset and retained again. Thread-safe.
class SimDevice {
 public:
  SimDevice(int ordinal, const Profile& profile) : ordinal_(ordinal), profile_(profile) {}

  // All devices, by ordinal.
  static std::deque<SimDevice>& all();
  // Null for an ordinal, or a context handle, that is none.
  static SimDevice* find(CUdevice ordinal);
  static SimDevice* find(CUcontext handle);

  int ordinal() const { return ordinal_; }
  const Profile& profile() const { return profile_; }
  CUcontext handle() { return reinterpret_cast<CUcontext>(this); }

  // The live context, or null.
  std::shared_ptr<Context> context() const;

  void retain();
  // False where nobody retains the context. The last release waits for what was submitted, and then
  // frees all that the context holds; errors that poisoned it are gone with it.
  bool release();

  // At the exit of the process: the thread stops, and all else stays as it is.
  void abandon();

 private:
  const int ordinal_;
  const Profile& profile_;
  std::mutex retain_mutex_;   // one change at a time
  mutable std::mutex mutex_;  // guards the pointer alone
  int references_ = 0;
  std::shared_ptr<Context> context_;
};

}  // namespace baton::sim
