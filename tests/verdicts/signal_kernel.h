#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel_writer.h"

namespace baton::verdicts {

// Writes a kernel whose warps have roles. Some wait for the launch before, and signal others in
// rounds, by mbarriers, bulk copies and named barriers. Often a role does something wrong: it
// arrives before it waits, looks at another mbarrier or phase, awaits too few arrivals, arrives
// where a guard lets it, or ends. A kernel with named barriers makes fewer mistakes, and waits
// for mbarriers without an end. In the others a thread leaves when it has looked in vain. So
// kernels end. Not thread-safe.
class SignalKernel : public KernelWriter {
 public:
  // `cluster`: of so many blocks. `threads`: of a block.
  SignalKernel(std::uint64_t seed, std::uint32_t cluster, std::uint32_t threads);

 private:
  enum class Way : std::uint8_t { kMbarrier, kBulkCopy, kNamed, kBlock, kCluster };
  // What the warps do at the same time: the givers signal the takers.
  struct Round {
    Way way = Way::kMbarrier;
    std::vector<bool> gives, takes;  // by warp
    std::uint32_t slot = 0;          // of an mbarrier, or the number of a barrier
    std::uint32_t phase = 0;         // of the mbarrier
    bool one_lane_gives = false;
    bool is_remote = false;
  };

  void plan();
  void init();
  void role(std::uint32_t warp);
  void statement(std::uint32_t warp);
  void wait();
  void give(const Round& round, std::uint32_t warp);
  void take(const Round& round);
  void arrive(const Round& round);
  void copy(const Round& round);
  void name(const Round& round, bool waits);
  // An operand, "shared+8" or of a register, and the suffix of the space it lies in.
  struct Place {
    std::string operand, space;
  };
  Place place(std::uint32_t slot);
  std::string parity(const Round& round);
  void access();
  std::string guard();
  // Whether it makes a mistake that may keep warps from a barrier.
  bool errs(std::uint32_t percent) { return !has_names_ && chance(percent); }

  const std::uint32_t cluster_, threads_, warps_;
  const bool has_names_;  // named barriers, at which all must come that are awaited
  std::vector<Round> rounds_;
  std::vector<std::uint32_t> counts_;  // of arrivals in a phase, by mbarrier
  std::uint32_t waiter_ = 0;           // the warp that certainly waits
  std::uint32_t waits_in_ = 0;         // before what it does in this round
  std::uint32_t names_ = 0;
};

}  // namespace baton::verdicts
