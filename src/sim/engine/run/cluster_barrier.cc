#include "sim/engine/run/cluster_barrier.h"

#include <bit>
#include <utility>

#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

// Lanes of the warp that arrived in the phase that is not over yet.
std::uint32_t arrived_now(const Warp& warp, const ClusterBarrier& barrier) {
  const std::uint32_t odd = barrier.phase % 2 != 0 ? kAllLanes : 0;
  return warp.cluster_arrived & ~(warp.cluster_parity ^ odd);
}

void release(Exec* x, ClusterState& cluster) {
  for (const auto& block : cluster.blocks) {
    for (Warp& warp : block->warps) {
      for (std::uint32_t k = 0; k < warp.count; ++k) {
        Fragment& fragment = warp.fragments[k];
        if (fragment.wait != Wait::kCluster) continue;
        fragment.wait = Wait::kNone;
        block->cluster_phases = cluster.barrier.phase;
        warp.cluster_arrived &= ~fragment.mask;
        warp.ordered.add(cluster.barrier.ordered, fragment.mask);
        if (block->watch == nullptr) continue;
        block->watch->leave_cluster(x, block->rank, warp.index, fragment.mask,
                                    fragment.mask == warp.live);
      }
    }
  }
}

void complete_if_all_came(Exec* x, ClusterState& cluster) {
  ClusterBarrier& barrier = cluster.barrier;
  if (barrier.arrived == 0 || barrier.arrived < barrier.live_threads) return;
  barrier.arrived = 0;
  ++barrier.phase;
  barrier.ordered |= std::exchange(barrier.arriving_ordered, OrderedLanes::Sources{0});
  if (cluster.watch != nullptr) cluster.watch->complete_cluster();
  release(x, cluster);
}

}  // namespace

std::uint32_t covering_phase(const Warp& warp, int lane, const ClusterBarrier& barrier) {
  return barrier.phase + (arrived_now(warp, barrier) >> lane & 1);
}

const Insn* op_cluster_arrive(Exec* x, const Insn* i) {
  Warp& warp = *x->warp;
  ClusterState& cluster = *x->block->cluster;
  if (const std::uint32_t twice = warp.cluster_arrived & x->mask; twice != 0) {
    return fault(x, i, std::countr_zero(twice), CUDA_ERROR_ILLEGAL_INSTRUCTION,
                 driver::FindingKind::kBadBarrier,
                 "arrives at the cluster's barrier again without having waited at it");
  }
  warp.cluster_arrived |= x->mask;
  const bool is_relaxed = i->mode == 1;
  if (x->block->watch != nullptr) x->block->watch->arrive_cluster(x, is_relaxed);
  // What is relaxed tells no more than the latest fence released.
  cluster.barrier.arriving_ordered |=
      (is_relaxed ? warp.released : warp.ordered).sources_of(x->mask);
  warp.cluster_parity &= ~x->mask;
  if (cluster.barrier.phase % 2 != 0) warp.cluster_parity |= x->mask;
  cluster.barrier.arrived += count_lanes(x->mask);
  complete_if_all_came(x, cluster);
  return i + 1;
}

const Insn* op_cluster_wait(Exec* x, const Insn* i) {
  Warp& warp = *x->warp;
  if (const std::uint32_t missing = x->mask & ~warp.cluster_arrived; missing != 0) {
    return fault(x, i, std::countr_zero(missing), CUDA_ERROR_ILLEGAL_INSTRUCTION,
                 driver::FindingKind::kBadBarrier,
                 "waits at the cluster's barrier without having arrived at it");
  }
  const std::uint32_t waiting = arrived_now(warp, x->block->cluster->barrier) & x->mask;
  const std::uint32_t passing = x->mask & ~waiting;
  warp.cluster_arrived &= ~passing;
  warp.ordered.add(x->block->cluster->barrier.ordered, passing);
  if (passing != 0) x->block->cluster_phases = x->block->cluster->barrier.phase;
  if (passing != 0 && x->block->watch != nullptr) {
    x->block->watch->leave_cluster(x, x->block->rank, warp.index, passing, passing == warp.live);
  }
  if (waiting == 0) return i + 1;
  account(x, i->r[4], i->r[4]);
  if (passing != 0) split(x, passing, i + 1, i->r[4]);
  Fragment& fragment = warp.fragment();
  fragment.wait = Wait::kCluster;
  fragment.pc = i + 1;
  fragment.from = i->r[4];
  return resume(x);
}

void leave_cluster_barrier(Exec* x, std::uint32_t gone) {
  Warp& warp = *x->warp;
  ClusterState& cluster = *x->block->cluster;
  ClusterBarrier& barrier = cluster.barrier;
  barrier.live_threads -= count_lanes(gone);
  if (const std::uint32_t left = arrived_now(warp, barrier) & gone; left != 0) {
    barrier.arrived -= count_lanes(left);
  }
  warp.cluster_arrived &= ~gone;
  complete_if_all_came(x, cluster);
}

}  // namespace baton::sim
