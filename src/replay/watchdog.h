#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "baton/device.h"

namespace baton::replay {

// Stops the work on the simulated GPU when the time has passed, or at an interrupt. The thread that
// submits work may be waiting in the driver.
class Watchdog {
 public:
  Watchdog(const Device& device, std::optional<std::chrono::duration<double>> limit,
           const std::atomic<bool>* interrupt);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Throws kTimeout or kInterrupted if it has stopped the device, with the positions of the
  // kernels.
  void check();

 private:
  void watch();

  const Device device_;
  const std::optional<std::chrono::duration<double>> limit_;
  const std::atomic<bool>* const interrupt_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable end_;
  bool ends_ = false;
  bool timed_out_ = false;
  std::vector<std::string> stands_;  // the positions of the kernels when they were stopped
  std::thread thread_;
};

}  // namespace baton::replay
