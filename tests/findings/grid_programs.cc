// Programs about global memory inside one grid (grid_kernels.cu), which run with Races::kGlobal.

#include "corpus.h"

namespace baton::findings {
namespace {

constexpr unsigned kBlocks = 4, kThreads = 64;

Program program(const char* kernel, std::set<std::string> found,
                const LaunchAttributes& attributes = {}) {
  Program made{kernel, std::move(found), [kernel, attributes](Bench& b) {
                 LaunchConfig config{.grid = kBlocks, .block = kThreads, .stream = b.stream};
                 config.attributes = attributes;
                 b.module.kernel(kernel).launch(config, b.y, b.x, b.u, b.v);
               }};
  made.races = Races::kGlobal;
  return made;
}

LaunchAttributes in_clusters() {
  LaunchAttributes attributes;
  attributes.set(cluster(2));
  return attributes;
}

LaunchAttributes together() {
  LaunchAttributes attributes;
  attributes.set(cooperative());
  return attributes;
}

}  // namespace

std::vector<Program> grid_programs() {
  const std::set<std::string> race = {"global_race"};
  std::vector<Program> programs;
  for (const char* kernel : {"tells_without_fence",
                             "hears_without_fence",
                             "tells_with_block_fences",
                             "hears_with_block_fence",
                             "tells_relaxed",
                             "hears_relaxed",
                             "tells_by_plain_store",
                             "hears_by_plain_load",
                             "tells_for_block",
                             "hears_for_block",
                             "tells_for_cluster",
                             "tells_by_block_atomic",
                             "tells_by_relaxed_atomic",
                             "tells_by_relaxed_count",
                             "fences_behind_the_flag",
                             "overwrites_the_release",
                             "tells_before_others_wrote",
                             "hears_in_one_warp",
                             "adds_behind_queue_lock_unfenced",
                             "pops_what_blocks_pushed_unfenced",
                             "swaps_without_barrier",
                             "swaps_by_warp_barrier",
                             "swaps_by_block_fence",
                             "uses_one_buffer",
                             "writes_one_block_of_the_heap",
                             "waits_at_other_barriers",
                             "arrives_before_it_writes",
                             "one_warp_writes_for_all",
                             "copies_what_others_write",
                             "swaps_between_blocks",
                             "counts_plainly",
                             "makes_histogram_plainly",
                             "smooths_in_place",
                             "all_write_their_sum",
                             "stores_vectors_over_words",
                             "stores_rows_that_overlap",
                             "stores_word_over_byte",
                             "shifts_in_place",
                             "adds_and_reads_plainly",
                             "looks_at_what_others_update",
                             "resets_what_others_count",
                             "counts_for_blocks",
                             "makes_flags_for_others",
                             "last_block_without_fence",
                             "last_block_with_block_fence",
                             "last_block_counts_too_early",
                             "last_block_without_barrier",
                             "last_block_writes_before",
                             "looks_back_without_fence",
                             "looks_back_too_far",
                             "meets_without_fence",
                             "meets_before_others_arrive",
                             "meets_and_others_go_on",
                             "meets_once_too_little",
                             "meets_in_blocks_only",
                             "unlocks_without_fence",
                             "one_block_locks_not",
                             "uses_two_locks",
                             "reads_without_the_lock",
                             "queues_before_it_writes",
                             "takes_items_twice",
                             "copies_out_over_others"}) {
    programs.push_back(program(kernel, race));
  }
  for (const char* kernel : {"swaps_in_cluster_without_barrier", "swaps_between_clusters"}) {
    programs.push_back(program(kernel, race, in_clusters()));
  }
  programs.push_back(program("meets_by_groups_once_too_little", race, together()));
  // Where the block is freed first, the others find that.
  programs.push_back(program("lanes_meet_alone", {"shared_race"}));
  programs.push_back(program("frees_what_others_read", race));
  programs.back().instead = "use_after_free";
  return programs;
}

std::vector<Program> right_grid_programs() {
  std::vector<Program> programs;
  for (const char* kernel : {"tells_release_acquire",
                             "tells_release_acquire_sys",
                             "tells_fence_volatile",
                             "tells_system_fences",
                             "tells_fence_relaxed",
                             "tells_fence_sc",
                             "tells_fence_and_acquire",
                             "tells_release_and_fence",
                             "tells_by_adding_nothing",
                             "tells_by_swaps",
                             "tells_by_maximum",
                             "tells_by_atomic_ref",
                             "tells_by_default_order",
                             "tells_by_wait_and_notify",
                             "tells_by_thread_fences",
                             "tells_by_fetch_add",
                             "tells_and_tells_again",
                             "tells_and_others_count",
                             "tells_in_one_word",
                             "tells_behind_fences_of_all",
                             "adds_up",
                             "reduces_then_adds",
                             "makes_histogram",
                             "finds_maximum",
                             "multiplies_by_swaps",
                             "looks_before_it_updates",
                             "writes_one_value_and_reads_it",
                             "counts_in_own_block",
                             "takes_tickets",
                             "adds_behind_queue_lock",
                             "pops_what_blocks_pushed",
                             "last_block_by_fences",
                             "last_block_by_orders",
                             "last_block_resets",
                             "last_block_behind_fences_of_all",
                             "last_warp_sums",
                             "looks_back_by_orders",
                             "looks_back_at_all",
                             "looks_back_through_others",
                             "meets_by_counter",
                             "meets_by_orders",
                             "meets_by_turns",
                             "meets_in_every_warp",
                             "locks_by_swaps",
                             "locks_by_orders",
                             "locks_by_tickets",
                             "locks_for_blocks",
                             "queues_up",
                             "hands_to_and_fro",
                             "takes_the_flag_back",
                             "swaps_by_barrier",
                             "works_in_two_buffers",
                             "swaps_by_named_barrier",
                             "swaps_by_votes_of_all",
                             "hands_to_other_warp",
                             "swaps_by_mbarrier",
                             "tells_other_warp_for_block",
                             "tells_other_warp_by_shared_flag",
                             "keeps_to_its_warp",
                             "scales_in_place",
                             "writes_one_value",
                             "writes_one_value_in_vectors",
                             "writes_bytes_beside",
                             "writes_halves_beside",
                             "reads_what_all_read",
                             "reads_volatile_counter",
                             "multiplies",
                             "copies_what_was_swapped",
                             "copies_out_in_bulk",
                             "copies_in_and_is_overwritten"}) {
    programs.push_back(program(kernel, {}));
  }
  for (const char* kernel : {"swaps_in_cluster", "tells_in_cluster"}) {
    programs.push_back(program(kernel, {}, in_clusters()));
  }
  programs.push_back(program("meets_by_groups", {}, together()));
  return programs;
}

}  // namespace baton::findings
