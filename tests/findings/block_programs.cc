#include "corpus.h"

namespace baton::findings {

std::vector<Program> block_programs() {
  using B = Bench;
  const auto run = [](const char* kernel) {
    return [kernel](B& b) { b.launch(kernel, b.y, b.x); };
  };
  const auto run_in_clusters = [](const char* kernel) {
    return [kernel](B& b) { b.in_clusters(kernel, b.y, b.x); };
  };
  const auto run_by_warps = [](const char* kernel) {
    return [kernel](B& b) { b.by_warps(kernel, b.y, b.x); };
  };
  const auto ring = [](const char* kernel) {
    return [kernel](B& b) { b.launch(kernel, b.y, b.x, b.w); };
  };
  const auto exits = [](int rank) {
    return [rank](B& b) { b.in_clusters("cluster_exits", b.y, b.x, rank); };
  };
  const auto writes_weight = [](const char* kernel) {
    return [kernel](B& b) {
      b.make_weight(b.w);
      b.launch(kernel, b.y, b.w);
    };
  };
  // The counter is above all rows, or 0.
  const auto writes_frozen = [](const char* kernel) {
    return [kernel](B& b) {
      b.freeze(b.w, b.x);
      b.launch(kernel, b.y, b.w);
    };
  };
  const auto reads_unfrozen = [](const char* kernel) {
    return [kernel](B& b) {
      b.freeze(b.w, b.u);
      b.launch("produce", b.y, b.x);
      b.early(kernel, b.z, b.y, b.w);
    };
  };
  const auto copies_unfrozen = [](const char* kernel) {
    return [kernel](B& b) {
      b.freeze(b.w, b.u);
      b.launch("produce", b.y, b.x);
      b.early(kernel, b.z, b.w);
    };
  };
  return {
      {"swaps_unordered", {"shared_race"}, run("swaps_unordered")},
      {"lanes_swap_unordered", {"shared_race"}, run("lanes_swap_unordered")},
      {"lanes_swap_by_shuffle", {"shared_race"}, run("lanes_swap_by_shuffle")},
      {"lanes_sum_unordered", {"shared_race"}, run("lanes_sum_unordered")},
      {"reuses_unordered", {"shared_race"}, run("reuses_unordered")},
      {"reuses_once_unordered", {"shared_race"}, run("reuses_once_unordered")},
      {"reduces_unordered", {"shared_race"}, run("reduces_unordered")},
      {"all_write", {"shared_race"}, run("all_write")},
      {"bytes_overlap", {"shared_race"}, run("bytes_overlap")},
      {"updates_beside_reads", {"shared_race"}, run("updates_beside_reads")},
      {"cluster_swaps_unordered", {"shared_race"}, run_in_clusters("cluster_swaps_unordered")},
      {"cluster_all_write", {"shared_race"}, run_in_clusters("cluster_all_write")},
      {"cluster_reuses_unordered", {"shared_race"}, run_in_clusters("cluster_reuses_unordered")},
      {"plays_ping_pong_too_early", {"shared_race"}, run("plays_ping_pong_too_early")},
      {"normalizes_unordered", {"shared_race"}, run("normalizes_unordered")},
      {"cluster_sends_round_unasked",
       {"shared_race"},
       run_in_clusters("cluster_sends_round_unasked")},
      {"one_warp_swaps_in_cluster_unordered",
       {"shared_race"},
       [](B& b) { b.by_warps("one_warp_swaps_in_cluster_unordered", b.y, b.x, 2); }},
      {"leaves_unasked", {"shared_race"}, run("leaves_unasked")},
      {"leaves_reading", {"shared_race"}, run("leaves_reading")},
      // --- Flags, atomics and fences ---
      {"counts_unordered", {"shared_race"}, run("counts_unordered")},
      {"counts_unordered_by_last", {"shared_race"}, run("counts_unordered_by_last")},
      {"polls_unwritten_flag", {"shared_race"}, run("polls_unwritten_flag")},
      {"initializes_mbarrier_unordered",
       {"shared_race"},
       run("initializes_mbarrier_unordered"),
       "bad_mbarrier"},
      {"tells_relaxed", {"shared_race"}, run("tells_relaxed")},
      {"tells_without_acquire", {"shared_race"}, run("tells_without_acquire")},
      {"tells_without_fence_before", {"shared_race"}, run("tells_without_fence_before")},
      {"tells_without_fence_behind", {"shared_race"}, run("tells_without_fence_behind")},
      {"tells_elsewhere", {"shared_race"}, run("tells_elsewhere")},
      {"tells_elsewhere_global", {"shared_race"}, run("tells_elsewhere_global")},
      {"counts_apart", {"shared_race"}, run("counts_apart")},
      {"counts_apart_global", {"shared_race"}, run("counts_apart_global")},
      {"cluster_arrives_relaxed", {"shared_race"}, run_in_clusters("cluster_arrives_relaxed")},
      {"cluster_makes_mbarrier_unfenced",
       {"shared_race"},
       run_in_clusters("cluster_makes_mbarrier_unfenced")},
      // --- Asynchronous copies ---
      {"copies_never_waited_for", {"async_race"}, run("copies_never_waited_for")},
      {"copies_waited_for_too_late", {"async_race"}, run("copies_waited_for_too_late")},
      {"copies_one_group_short", {"async_race"}, run("copies_one_group_short")},
      {"multiplies_without_fence", {"async_race"}, run("multiplies_without_fence")},
      {"multiplies_without_proxy_fence", {"async_race"}, run("multiplies_without_proxy_fence")},
      {"multiplies_and_reads_early", {"async_race"}, run("multiplies_and_reads_early")},
      {"multiplies_one_group_short", {"async_race"}, run("multiplies_one_group_short")},
      {"multiplies_and_refills_early", {"async_race"}, run("multiplies_and_refills_early")},
      {"copies_bulk_unwaited", {"async_race"}, run("copies_bulk_unwaited")},
      {"copies_bulk_over_readers", {"async_race"}, run("copies_bulk_over_readers")},
      {"copies_bulk_out_overwritten", {"async_race"}, run("copies_bulk_out_overwritten")},
      {"ring_releases_early", {"async_race"}, ring("ring_releases_early")},
      {"ring_one_releases", {"async_race"}, ring("ring_one_releases")},
      {"one_warp_copies_never_waited_for",
       {"async_race"},
       run_by_warps("one_warp_copies_never_waited_for")},
      {"one_warp_copies_one_group_short",
       {"async_race"},
       run_by_warps("one_warp_copies_one_group_short")},
      {"one_warp_writes_under_copy", {"async_race"}, run_by_warps("one_warp_writes_under_copy")},
      {"one_warp_reads_under_bulk", {"async_race"}, run_by_warps("one_warp_reads_under_bulk")},
      {"one_warp_writes_under_bulk_store",
       {"async_race"},
       run_by_warps("one_warp_writes_under_bulk_store")},
      {"announces_half", {"async_race"}, run("announces_half")},
      {"announces_half_and_reads_it", {"async_race"}, run("announces_half_and_reads_it")},
      {"announces_half_afterwards", {"async_race"}, run("announces_half_afterwards")},
      {"announces_nothing", {"async_race"}, run("announces_nothing")},
      {"announces_one_phase_late", {"async_race"}, run("announces_one_phase_late")},
      {"copies_twice", {"async_race"}, run("copies_twice")},
      {"copies_twice_in_groups", {"async_race"}, run("copies_twice_in_groups")},
      {"copies_bulk_twice", {"async_race"}, run("copies_bulk_twice")},
      {"copies_bulk_overlapping", {"async_race"}, run("copies_bulk_overlapping")},
      {"stores_out_unfenced", {"async_race"}, run("stores_out_unfenced")},
      {"stores_out_fenced_before_write", {"async_race"}, run("stores_out_fenced_before_write")},
      {"stores_out_fenced_by_one_warp", {"async_race"}, run("stores_out_fenced_by_one_warp")},
      {"stores_out_fenced_once", {"async_race"}, run("stores_out_fenced_once")},
      {"one_warp_stores_out_unfenced",
       {"async_race"},
       run_by_warps("one_warp_stores_out_unfenced")},
      {"cluster_copies_unfenced", {"async_race"}, run_in_clusters("cluster_copies_unfenced")},
      // --- Barriers ---
      {"parts_in_warp", {"barrier_divergence"}, run("parts_in_warp")},
      {"parts_in_three", {"barrier_divergence"}, run("parts_in_three")},
      {"counts_differ", {"barrier_divergence"}, run("counts_differ"), "deadlock"},
      // --- No thread goes on ---
      {"waits_alone", {"deadlock"}, run("waits_alone")},
      {"waits_crosswise", {"deadlock"}, run("waits_crosswise")},
      {"waits_elsewhere", {"deadlock"}, run("waits_elsewhere")},
      {"polls_nobody", {"livelock"}, run("polls_nobody")},
      {"polls_nobody_plainly", {"livelock"}, run("polls_nobody_plainly")},
      {"polls_two_places_plainly", {"livelock"}, run("polls_two_places_plainly")},
      {"locks_for_good", {"livelock"}, [](B& b) { b.launch("locks_for_good", b.y); }},
      {"polls_each_other", {"livelock"}, [](B& b) { b.launch("polls_each_other", b.y); }},
      // --- Memory of a block that may be gone ---
      {"reads_of_the_gone", {"exited_block"}, exits(0)},
      {"reads_of_the_gone_behind", {"exited_block"}, exits(1)},
      {"writes_to_the_gone", {"exited_block"}, run_in_clusters("cluster_writes_late")},
      {"swaps_and_leaves", {"exited_block"}, run_in_clusters("cluster_swaps_and_leaves")},
      // --- Memory of a block that may not have begun ---
      {"cluster_stores_first", {"unstarted_block"}, run_in_clusters("cluster_stores_first")},
      {"cluster_reads_first",
       {"unstarted_block", "uninitialized"},
       run_in_clusters("cluster_reads_first")},
      {"cluster_stores_beside_one_warp",
       {"unstarted_block"},
       run_in_clusters("cluster_stores_beside_one_warp")},
      // --- Weights ---
      {"writes_weight", {"weight_written"}, writes_weight("writes_weight")},
      {"counts_in_weight", {"weight_written"}, writes_weight("counts_in_weight")},
      {"writes_one_weight", {"weight_written"}, writes_weight("writes_one_weight")},
      {"publishes_in_weight", {"weight_written"}, writes_weight("publishes_in_weight")},
      {"discards_weight", {"weight_written"}, writes_weight("discards_weight")},
      // --- Frozen rows ---
      {"writes_frozen", {"frozen_write"}, writes_frozen("writes_weight")},
      {"counts_in_frozen", {"frozen_write"}, writes_frozen("counts_in_weight")},
      {"writes_one_frozen", {"frozen_write"}, writes_frozen("writes_one_weight")},
      {"reads_unfrozen", {"unfrozen_read"}, reads_unfrozen("consume_weight")},
      {"stages_unfrozen", {"unfrozen_read"}, reads_unfrozen("consume_staged")},
      {"copies_bulk_unfrozen", {"unfrozen_read"}, copies_unfrozen("copies_first")},
      {"copies_unfrozen", {"unfrozen_read"}, copies_unfrozen("copies_thread_first")},
  };
}

}  // namespace baton::findings
