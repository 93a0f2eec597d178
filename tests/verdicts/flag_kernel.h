#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel_writer.h"

namespace baton::verdicts {

// Writes a kernel whose warps pass order on by flags in shared memory. One warp waits for the
// launch before and sets a flag; others poll it, and may set the next one. Often something is
// wrong: a flag has no first value, its first value is stored too late, a warp sets it before it
// waits, a fence is missing, or a poll looks at another value. A thread that has polled in vain
// leaves, so kernels end. Not thread-safe.
class FlagKernel : public KernelWriter {
 public:
  FlagKernel(std::uint64_t seed, std::uint32_t threads);

 private:
  struct Flag {
    std::uint32_t at = 0;              // byte of shared memory
    std::uint32_t first = 0, set = 1;  // values
    std::uint32_t giver = 0;           // warp
    std::vector<bool> takes;           // by warp
  };

  void plan();
  void begin();
  void role(std::uint32_t warp);
  void set(const Flag& flag);
  void poll(const Flag& flag);
  std::string place(std::uint32_t at, std::string& space);
  void access();

  const std::uint32_t threads_, warps_;
  std::vector<Flag> flags_;
  std::uint32_t waits_in_ = 0;  // before the flag of this index
};

}  // namespace baton::verdicts
