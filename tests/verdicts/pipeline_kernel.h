#pragma once

#include <cstdint>
#include <string>

#include "kernel_writer.h"

namespace baton::verdicts {

// Writes a pipeline: one warp fills stages of shared memory, the others use them and give them
// back, by mbarriers that tell of full and of empty stages. Often something is wrong: who waits and
// where, the first phase, the place of an mbarrier, an arrival too many, a loop without a turn. A
// look at an mbarrier ends after some turns, and the thread leaves. Not thread-safe.
class PipelineKernel : public KernelWriter {
 public:
  // `threads`: of a block, a multiple of 32.
  PipelineKernel(std::uint64_t seed, std::uint32_t threads);

 private:
  void init();
  void producer();
  void consumer();
  void wait(std::uint32_t percent);
  // Goes on to the next stage and phase.
  void step();
  // Looks at [%at + offset] until the phase of that parity is over.
  void look(const std::string& at, std::int64_t offset, const std::string& parity);
  void arrive(const std::string& at, std::int64_t offset);
  void access();

  const std::uint32_t threads_, stages_;
  const std::uint32_t full_, empty_;  // offsets of the first mbarriers
  const bool by_one_lane_;            // stages are given back so
  const bool in_steps_;               // the index is kept below the number of stages by a selection
};

}  // namespace baton::verdicts
