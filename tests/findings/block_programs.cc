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
  return {
      {"swaps_unordered", {"shared_race"}, run("swaps_unordered")},
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
      // --- Asynchronous copies ---
      {"copies_never_waited_for", {"async_race"}, run("copies_never_waited_for")},
      {"copies_waited_for_too_late", {"async_race"}, run("copies_waited_for_too_late")},
      {"copies_one_group_short", {"async_race"}, run("copies_one_group_short")},
      {"copies_bulk_unwaited", {"async_race"}, run("copies_bulk_unwaited")},
      {"copies_bulk_over_readers", {"async_race"}, run("copies_bulk_over_readers")},
      {"copies_bulk_out_overwritten", {"async_race"}, run("copies_bulk_out_overwritten")},
      {"ring_releases_early", {"async_race"}, ring("ring_releases_early")},
      {"ring_one_releases", {"async_race"}, ring("ring_one_releases")},
      // --- Barriers ---
      {"parts_in_warp", {"barrier_divergence"}, run("parts_in_warp")},
      {"parts_in_three", {"barrier_divergence"}, run("parts_in_three")},
      {"counts_differ", {"barrier_divergence"}, run("counts_differ")},
      // --- Nobody goes on ---
      {"waits_alone", {"deadlock"}, run("waits_alone")},
      {"waits_crosswise", {"deadlock"}, run("waits_crosswise")},
      {"waits_elsewhere", {"deadlock"}, run("waits_elsewhere")},
      {"polls_nobody", {"livelock"}, run("polls_nobody")},
      {"locks_for_good", {"livelock"}, [](B& b) { b.launch("locks_for_good", b.y); }},
      {"polls_each_other", {"livelock"}, [](B& b) { b.launch("polls_each_other", b.y); }},
      // --- Memory of a block that may be gone ---
      {"reads_of_the_gone", {"exited_block"}, exits(0)},
      {"reads_of_the_gone_behind", {"exited_block"}, exits(1)},
      {"writes_to_the_gone", {"exited_block"}, run_in_clusters("cluster_writes_late")},
      {"swaps_and_leaves", {"exited_block"}, run_in_clusters("cluster_swaps_and_leaves")},
      // --- Weights ---
      {"writes_weight", {"weight_written"}, writes_weight("writes_weight")},
      {"counts_in_weight", {"weight_written"}, writes_weight("counts_in_weight")},
      {"writes_one_weight", {"weight_written"}, writes_weight("writes_one_weight")},
      {"publishes_in_weight", {"weight_written"}, writes_weight("publishes_in_weight")},
  };
}

}  // namespace baton::findings
