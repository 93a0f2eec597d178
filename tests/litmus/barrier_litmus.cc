// Barriers of blocks, warps and clusters, mbarriers, and instructions between lanes.

#include <initializer_list>

#include "litmus.h"

namespace baton::litmus {

std::vector<Litmus> barrier_litmus() {
  using A = Answer;
  const std::string w = "@%own st.u32 [%x], 7;\n", r = "@%own ld.u32 %v, [%x];\n";
  constexpr Set kWarps = set_of(Place::kWarps), kLanes = set_of(Place::kLanes);
  constexpr Set kBlocks = set_of(Place::kBlocks), kSharedOnly = set_of(Memory::kShared);
  constexpr Set kBeyondBlock = set_of(Place::kBlocks, Place::kClusters);
  constexpr Set kAcross = kWarps | kBlocks;
  const std::string sync = "bar.sync 0;\n";
  const auto warps = [](const char* name, A answer, Set places, std::vector<std::string> threads) {
    return Litmus{name, answer, places, kAnyMemory, std::move(threads), true};
  };
  const auto lanes = [=](const char* name, A answer, std::initializer_list<std::string> threads) {
    return Litmus{name, answer, kLanes, kAnyMemory, threads};
  };
  // All lanes of one warp: the first one writes, the others read.
  const auto together = [=](const char* name, A answer, const std::string& between) {
    return Litmus{
        name, answer, set_of(Place::kOne), kAnyMemory, {w + between + "@!%own ld.u32 %r0, [%x];\n"},
        true};
  };
  const auto mbarrier = [](const char* name, A answer, Set places,
                           std::vector<std::string> threads) {
    return Litmus{name, answer, places, kSharedOnly, std::move(threads)};
  };
  const std::string cluster = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
  const std::string loosely = "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n";
  const auto waits = [](const std::string& how) {
    return "{ AGAIN: mbarrier." + how + ".b64 %p9, [%sm], 0; @!%p9 bra AGAIN; }\n";
  };
  const auto once = [](const std::string& how) {
    return "mbarrier." + how + ".parity.shared::cta.b64 %p9, [%sm], 0;\n";
  };
  const auto arrives = [](const std::string& order) {
    return "mbarrier.arrive" + order + ".shared::cta.b64 %d0, [%sm];\n";
  };
  const std::string try_wait = waits("try_wait.parity.shared::cta");
  const std::string remote = "mbarrier.arrive.release.NARROW.shared::cluster.b64 _, [%other];\n";
  const std::string st = kWrites, ld = kReads;
  // These are whole warps: the first lane acts alone, the second lane writes, and all others read.
  const auto one = [](const std::string& text) {
    return "@!%own bra BEHIND;\n" + text + "BEHIND:\n";
  };
  const std::string told = "@%own st.release.gpu.u32 [%f], 1;\n";
  const std::string polled = polls("ld.acquire.gpu.u32", "%f", 1);
  const std::string second =
      "mov.u32 %r5, %laneid;\nsetp.eq.u32 %p5, %r5, 1;\n@%p5 st.u32 [%x], 7;\n";
  const std::string others = "@!%own ld.u32 %r0, [%x];\n", meet = "bar.warp.sync -1;\n";
  const auto in_shared = [](const char* name, A answer, std::vector<std::string> threads) {
    return Litmus{name, answer, set_of(Place::kWarps), set_of(Memory::kShared), std::move(threads),
                  true};
  };
  return {
      // --- Barriers of the block ---
      warps("bar_sync", A::kOrdered, kWarps, {w + sync, sync + r}),
      warps("bar_sync_in_each_block", A::kRacy, kBeyondBlock, {w + sync, sync + r}),
      warps("bar_sync_of_two_warps", A::kOrdered, kWarps,
            {w + "bar.sync 1, 64;\n", "bar.sync 1, 64;\n" + r}),
      warps("bar_arrive", A::kOrdered, kWarps,
            {w + "bar.arrive 1, 64;\n", "bar.sync 1, 64;\n" + r}),
      warps("bar_arrive_of_the_reader", A::kRacy, kWarps,
            {"bar.sync 1, 64;\n" + w, "bar.arrive 1, 64;\n" + r}),
      warps("bar_writes_behind_arrive", A::kRacy, kWarps,
            {"bar.arrive 1, 64;\n" + w, "bar.sync 1, 64;\n" + r}),
      warps("bar_of_others", A::kRacy, kWarps, {w + "bar.sync 1, 32;\n", "bar.sync 2, 32;\n" + r}),
      warps("bar_red", A::kOrdered, kWarps,
            {w + "bar.red.popc.u32 %r0, 0, %own;\n", "bar.red.popc.u32 %r0, 0, %own;\n" + r}),
      warps("bar_then_flag", A::kByScope, kWarps,
            {w + sync, sync + "@%own st.release.SCOPE.u32 [%f], 1;\n",
             sync + polls("ld.acquire.SCOPE.u32", "%f", 1) + r}),
      // --- Lanes of one warp ---
      lanes("lanes_without_barrier", A::kRacy, {kWrites, "nanosleep.u32 100;\n" + ld}),
      lanes("warp_sync", A::kOrdered, {st + "bar.warp.sync 3;\n", "bar.warp.sync 3;\n" + ld}),
      lanes("warp_sync_before_the_write", A::kRacy,
            {"bar.warp.sync 3;\n" + st, "bar.warp.sync 3;\n" + ld}),
      lanes("warp_sync_of_others", A::kRacy,
            {st + "bar.warp.sync 5;\n", "nanosleep.u32 100;\n" + ld, "bar.warp.sync 5;\n"}),
      lanes("warp_sync_in_a_chain", A::kOrdered,
            {st + "bar.warp.sync 3;\n", "bar.warp.sync 3;\nbar.warp.sync 6;\n",
             "bar.warp.sync 6;\n" + ld}),
      lanes("warp_sync_twice", A::kOrdered,
            {st + "bar.warp.sync 3;\nbar.warp.sync 3;\n" + ld,
             "bar.warp.sync 3;\n" + ld + "bar.warp.sync 3;\nst.u32 [%y], 1;\n"}),
      lanes("warp_sync_once_too_little", A::kRacy,
            {st + "bar.warp.sync 3;\nst.u32 [%x], 8;\n", "bar.warp.sync 3;\nld.u32 %r0, [%x];\n"}),
      together("shuffle_only", A::kRacy, "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;\n"),
      together("vote_only", A::kRacy, "vote.sync.ballot.b32 %r1, %own, -1;\n"),
      together("lanes_in_step", A::kRacy, ""),
      together("lanes_in_step_with_barrier", A::kOrdered, "bar.warp.sync -1;\n"),
      together("lanes_in_step_with_block_barrier", A::kOrdered, "bar.sync 0;\n"),
      lanes("lanes_read_only", A::kOrdered, {"ld.u32 %r0, [%x];\n", "ld.u32 %r0, [%x];\n"}),
      warps("warp_sync_in_each_warp", A::kRacy, kApart,
            {w + "bar.warp.sync -1;\n", "bar.warp.sync -1;\n" + r}),
      // --- One lane tells, or is told, and another one of its warp accesses ---
      warps("flag_polled_by_one_lane", A::kRacy, kApart, {w + told, one(polled) + others}),
      warps("flag_polled_by_one_lane_then_warp_sync", A::kOrdered, kApart,
            {w + told, one(polled) + meet + others}),
      warps("flag_polled_by_one_lane_for_itself", A::kOrdered, kApart, {w + told, one(polled) + r}),
      warps("flag_told_by_another_lane", A::kRacy, kApart, {second + told, polled + r}),
      warps("flag_told_by_another_lane_behind_warp_sync", A::kOrdered, kApart,
            {second + meet + told, polled + r}),
      warps("flag_told_by_another_lane_before_warp_sync", A::kRacy, kApart,
            {second + told + meet, polled + r}),
      in_shared("mbarrier_waited_for_by_one_lane", A::kRacy,
                {w + "@%own " + arrives(""), one(try_wait) + others}),
      in_shared("mbarrier_waited_for_by_one_lane_then_warp_sync", A::kOrdered,
                {w + "@%own " + arrives(""), one(try_wait) + meet + others}),
      in_shared("mbarrier_told_by_another_lane", A::kRacy,
                {second + "@%own " + arrives(""), try_wait + r}),
      in_shared("mbarrier_told_by_another_lane_behind_warp_sync", A::kOrdered,
                {second + meet + "@%own " + arrives(""), try_wait + r}),
      // --- The cluster's barrier ---
      warps("cluster_barrier", A::kInCluster, kApart, {w + cluster, cluster + r}),
      warps("cluster_barrier_relaxed", A::kRacy, kAcross, {w + loosely, loosely + r}),
      warps("cluster_barrier_with_fence", A::kByScope, kAcross,
            {w + "fence.acq_rel.SCOPE;\n" + loosely, loosely + r}),
      warps("cluster_barrier_with_fence_of_mbarriers", A::kRacy, kAcross,
            {w + "fence.mbarrier_init.release.cluster;\n" + loosely, loosely + r}),
      warps("cluster_barrier_acquires", A::kRacy, kAcross,
            {"barrier.cluster.arrive;\n" + w + "barrier.cluster.wait;\n", cluster + r}),
      // --- mbarriers ---
      mbarrier("mbarrier", A::kOrdered, kWarps | kLanes, {st + arrives(""), try_wait + ld}),
      mbarrier("mbarrier_tested", A::kOrdered, kWarps | kLanes,
               {st + arrives(""), waits("test_wait.parity.shared::cta") + ld}),
      mbarrier("mbarrier_tried_once", A::kRacy, kWarps | kLanes,
               {st + arrives(""), once("try_wait") + ld}),
      mbarrier("mbarrier_tested_once", A::kRacy, kWarps | kLanes,
               {st + arrives(""), once("test_wait") + ld}),
      mbarrier("mbarrier_tried_once_and_over", A::kOrdered, kWarps | kLanes,
               {st + arrives(""), once("try_wait") + "@%p9 " + ld}),
      mbarrier("mbarrier_arrives_relaxed", A::kRacy, kWarps | kLanes,
               {st + arrives(".relaxed.cta"), try_wait + ld}),
      mbarrier("mbarrier_waits_relaxed", A::kRacy, kWarps | kLanes,
               {st + arrives(""), waits("try_wait.parity.relaxed.cta.shared::cta") + ld}),
      mbarrier("mbarrier_relaxed_with_fences", A::kByScope, kWarps | kLanes,
               {st + "fence.acq_rel.SCOPE;\n" + arrives(".relaxed.cta"),
                waits("try_wait.parity.relaxed.cta.shared::cta") + "fence.acq_rel.SCOPE;\n" + ld}),
      mbarrier("mbarrier_writes_behind_arrival", A::kRacy, kWarps | kLanes,
               {arrives("") + st, try_wait + ld}),
      mbarrier(
          "mbarrier_of_the_phase_before", A::kRacy, kWarps | kLanes,
          {st + arrives(""), "mbarrier.test_wait.parity.shared::cta.b64 %p9, [%sm], 1;\n" + ld}),
      mbarrier("mbarrier_of_another_block", A::kByScope, kBlocks,
               {st + remote, waits("try_wait.parity.acquire.NARROW.shared::cta") + ld}),
      mbarrier("mbarrier_of_another_block_relaxed", A::kRacy, kBlocks,
               {st + "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%other];\n",
                waits("try_wait.parity.acquire.cluster.shared::cta") + ld}),
  };
}

}  // namespace baton::litmus
