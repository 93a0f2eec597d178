#pragma once

#include <cstdint>
#include <string>

#include "kernel_writer.h"

namespace baton::verdicts {

// Writes a kernel whose blocks, in clusters of two, pass signals and values to each other, and copy
// between shared and global memory in bulk. Its parameters are those of an OrderedKernel. All
// threads go the same way through cluster barriers; single statements belong to one warp, one
// thread or one block. Not thread-safe.
class ExchangeKernel : public KernelWriter {
 public:
  // `cluster`: blocks, 1 or 2. `threads`: of a block, a multiple of 32.
  ExchangeKernel(std::uint64_t seed, std::uint32_t cluster, std::uint32_t threads);

 private:
  void statement();
  void wait();
  void access();
  // A predicate that holds for some threads: of one block of the cluster, one warp, one thread.
  std::string guard();
  // Between its two halves other statements may stand.
  void cluster_barrier();

  // A value, or a buffer's address, that the other block stores into this one's shared memory.
  void pass_value();
  // An mbarrier of this block that a thread of the other one arrives at.
  void pass_signal();

  // From global into shared memory, with an mbarrier that counts the bytes.
  void bulk_load();
  // From shared to global memory, as a group of copies.
  void bulk_store();
  // Of an mbarrier and shared memory, which are used once.
  std::uint32_t fresh_slot();
  // An address at a multiple of `bytes` in a buffer, which may be the weight if it is read.
  std::string place(std::uint32_t bytes, bool reads);

  const std::uint32_t cluster_, threads_;
  std::uint32_t slots_ = 0;
  unsigned depth_ = 0;
};

}  // namespace baton::verdicts
