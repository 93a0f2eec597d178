#include "runtime/polling_launches.h"

#include "base/log.h"

namespace baton {

void PollingLaunches::launched(const std::string& kernel, CUstream stream) {
  const std::lock_guard lock(mutex_);
  kernels_[stream] = kernel;
  any_ = true;
}

void PollingLaunches::warn_before_load(const std::string& kernel) {
  if (!any_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (kernels_.empty() || warned_) return;
  warned_ = true;
  log(LogLevel::kWarning,
      "kernel {} is loaded while kernel {} may run, which polls memory: a driver that loads lazily "
      "may wait for it, which is a deadlock if it waits for {}; load the module's kernels "
      "before that launch (load_kernels), or set CUDA_MODULE_LOADING=EAGER",
      kernel, kernels_.begin()->second, kernel);
}

void PollingLaunches::forget(CUstream stream) {
  const std::lock_guard lock(mutex_);
  kernels_.erase(stream);
  any_ = !kernels_.empty();
}

void PollingLaunches::forget_all() {
  const std::lock_guard lock(mutex_);
  kernels_.clear();
  any_ = false;
}

}  // namespace baton
