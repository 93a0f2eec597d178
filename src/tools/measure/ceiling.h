#pragma once

#include <cstdint>
#include <vector>

#include "baton/buffer.h"
#include "baton/launch_plan.h"
#include "baton/report.h"
#include "baton/stream.h"

namespace baton::tools {

// What a device moves at the most: the time of a kernel that does nothing but copy, taken where and
// when a program is measured. Owns the memory it copies. One thread at a time.
class CopyCeiling {
 public:
  // Throws kOutOfMemory where the device has no room for even a small copy beside what is there.
  explicit CopyCeiling(const Device& device);

  // Copies once, and waits for it. Nothing else should be under way on the device.
  void measure();

  // Bytes read and written by one copy.
  std::uint64_t bytes() const { return 2 * half_; }
  // Times of the copies so far, the first, which is a warm-up, apart. At least one of `measure`.
  TimeStatistics times() const;
  // By the median.
  double bytes_per_second() const;

 private:
  static std::uint64_t first_size(const Device& device);

  Device device_;
  Stream stream_;
  std::uint64_t half_;  // bytes of each side
  std::vector<Memory> sides_;
  std::vector<LaunchPlan> launch_;  // one
  Event begin_, end_;
  std::vector<double> seconds_;
};

}  // namespace baton::tools
