#pragma once

#include <cuda.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace baton {

// Launches on one device of kernels that poll memory (KernelFacts::polls), until a call waits for
// them. A driver that loads lazily may wait for running kernels before it loads one. If a running
// kernel waits for the new one, or never ends, that is a deadlock. Thread-safe.
class PollingLaunches {
 public:
  void launched(const std::string& kernel, CUstream stream);
  // The launches into the stream, or into any stream, have ended. Costs one load if no launch
  // polls.
  void ended(CUstream stream) {
    if (any_.load(std::memory_order_relaxed)) forget(stream);
  }
  void all_ended() {
    if (any_.load(std::memory_order_relaxed)) forget_all();
  }
  // Logs a warning, the first time alone, where the kernel is loaded beside such a launch.
  void warn_before_load(const std::string& kernel);

 private:
  void forget(CUstream stream);
  void forget_all();

  std::atomic<bool> any_{false};
  std::mutex mutex_;  // guards what follows
  std::map<CUstream, std::string> kernels_;
  bool warned_ = false;
};

}  // namespace baton
