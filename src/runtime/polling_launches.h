#pragma once

#include <cuda.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace baton {

// Launches on one device of kernels that poll memory (KernelFacts::polls), until somebody waits for
// them. A driver that loads lazily may wait for what runs before it loads a kernel; where what runs
// waits for that kernel, or never ends, both stand still. Thread-safe.
class PollingLaunches {
 public:
  void launched(const std::string& kernel, CUstream stream);
  // What was launched into the stream, or into any, has ended. Costs one load where nothing polls.
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
