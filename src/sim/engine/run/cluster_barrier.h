#pragma once

#include <cstdint>

#include "sim/engine/run/exec.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

// barrier.cluster.arrive and .wait for the present lanes (PTX ISA 9.0, "barrier.cluster"). Each
// thread of the cluster arrives once a phase; whoever waits goes on once all have.
const Insn* op_cluster_arrive(Exec* x, const Insn* i);
const Insn* op_cluster_wait(Exec* x, const Insn* i);

// The phase with whose end all comes before what others do after it that the lane did until now.
std::uint32_t covering_phase(const Warp& warp, int lane, const ClusterBarrier& barrier);

// The lanes `gone` of the present warp left the kernel: no thread waits for them any more.
void leave_cluster_barrier(Exec* x, std::uint32_t gone);

}  // namespace baton::sim
