#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "driver/simulator.h"

namespace baton::sim {

// What the driver half itself found wrong, beside the engine's findings. Thread-safe.
class FindingLog {
 public:
  // Equal ones count as one.
  void add(driver::Finding finding);
  std::vector<driver::Finding> all() const;
  std::vector<driver::Finding> take();

 private:
  mutable std::mutex mutex_;
  std::vector<driver::Finding> findings_;
};

}  // namespace baton::sim
