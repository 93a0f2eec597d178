// Patterns of real kernels: each right, and with one order missing (pattern_kernels.cuh,
// stage_pattern_kernels.cuh, grid_pattern_kernels.cuh, grid_protocol_kernels.cuh).

#include "corpus.h"

namespace baton::findings {
namespace {

enum class Runs { kInBlocks, kInClusters, kAsGrid, kAsGridOfClusters };
struct Pattern {
  const char* right;
  const char* wrong;
  const char* found;
  Runs runs = Runs::kInBlocks;
};

constexpr const char* kShared = "shared_race";
constexpr const char* kAsync = "async_race";
constexpr const char* kGlobal = "global_race";
constexpr Pattern kPatterns[] = {
    {"scans_in_steps", "scans_in_steps_at_once", kShared},
    {"scans_by_tree", "scans_by_tree_clearing_early", kShared},
    {"sorts_bitonic", "sorts_bitonic_without_last_barrier", kShared},
    {"compacts", "compacts_unordered", kShared},
    {"counts_digits", "counts_digits_clearing_early", kShared},
    {"merges_histograms", "merges_histograms_early", kShared},
    {"sums_by_first_warp", "sums_by_first_warp_early", kShared},
    {"softens", "softens_in_one_word", kShared},
    {"transposes", "transposes_unordered", kShared},
    {"blurs", "blurs_unordered", kShared},
    {"multiplies_tiles", "multiplies_tiles_over_readers", kShared},
    {"eliminates", "eliminates_under_readers", kShared},
    {"reuses_memory", "reuses_memory_too_early", kShared},
    {"turns_buffers", "turns_too_few_buffers", kShared},
    {"hands_out_tiles", "hands_out_tiles_too_early", kShared},
    {"repeats_until_done", "repeats_and_clears_early", kShared},
    {"pushes_and_pops", "pops_what_is_pushed", kShared},
    {"turns_in_warp", "turns_in_warp_over_readers", kShared},
    {"passes_halves", "passes_halves_apart", kShared},
    {"fills_ring", "fills_ring_released_early", kShared},
    {"copies_three_stages", "copies_three_stages_short", kAsync},
    {"stores_two_stages", "stores_two_stages_short", kAsync},
    {"fills_the_rest", "fills_more_than_the_rest", kAsync},
    {"cluster_sums", "cluster_sums_early", kShared, Runs::kInClusters},
    {"cluster_exchanges_halos", "cluster_exchanges_halos_in_place", kShared, Runs::kInClusters},
    {"loads_by_role", "loads_by_role_unasked", kShared},
    {"rescales", "rescales_beside_readers", kShared},
    {"takes_from_list", "takes_from_list_unmade", kShared},
    {"passes_through_warps", "passes_through_warps_relaxed", kShared},
    {"locks_list", "unlocks_list_without_fence", kShared},
    {"loads_table", "loads_table_for_one_warp", kShared},
    {"transforms", "transforms_over_readers", kShared},
    {"packs_bytes", "packs_bytes_and_reads_words", kShared},
    {"moves_window", "moves_window_too_far", kShared},
    {"works_in_groups", "works_in_groups_alone", kShared},
    {"scales_in_buffer", "scales_in_buffer_unfenced", kAsync},
    {"waits_for_phases", "waits_for_one_phase_twice", kAsync},
    {"copies_for_others", "copies_for_others_unwaited", kAsync},
    {"cluster_counts_for_other", "cluster_counts_and_reads_early", kShared, Runs::kInClusters},
    {"cluster_broadcasts", "cluster_broadcasts_unordered", kShared, Runs::kInClusters},
    {"splits_k", "splits_k_without_fence", kGlobal, Runs::kAsGrid},
    {"fixes_up", "fixes_up_in_one_thread", kGlobal, Runs::kAsGrid},
    {"adds_in_turn", "adds_in_turn_passing_early", kGlobal, Runs::kAsGrid},
    {"iterates", "iterates_in_place", kGlobal, Runs::kAsGrid},
    {"grows_frontier", "reads_frontier_growing", kGlobal, Runs::kAsGrid},
    {"clears_counter", "clears_counter_first", kGlobal, Runs::kAsGrid},
    {"inserts", "finds_key_before_value", kGlobal, Runs::kAsGrid},
    {"spreads_labels", "spreads_labels_reading_plainly", kGlobal, Runs::kAsGrid},
    {"passes_by_ring", "passes_by_ring_released_early", kGlobal, Runs::kAsGrid},
    {"publishes_twice", "publishes_twice_relaxed", kGlobal, Runs::kAsGrid},
    {"turns_matrix", "turns_matrix_in_blocks", kGlobal, Runs::kAsGrid},
    {"passes_along", "passes_along_with_a_gap", kGlobal, Runs::kAsGrid},
    {"reduces_by_tree", "reduces_by_tree_relaxed", kGlobal, Runs::kAsGrid},
    {"locks_for_reading", "writes_under_readers", kGlobal, Runs::kAsGrid},
    {"normalizes_rows", "normalizes_rows_early", kGlobal, Runs::kAsGrid},
    {"writes_columns", "writes_columns_that_overlap", kGlobal, Runs::kAsGrid},
    {"hands_over", "hands_over_half", kGlobal, Runs::kAsGrid},
    {"locks_bins", "locks_its_own_bins", kGlobal, Runs::kAsGrid},
    {"shares_scratch", "shares_scratch_over_readers", kGlobal, Runs::kAsGrid},
    {"makes_once", "makes_once_without_release", kGlobal, Runs::kAsGrid},
    {"reserves", "reserves_by_looking", kGlobal, Runs::kAsGrid},
    {"looks_back_in_one_word", "looks_back_in_two_words", kGlobal, Runs::kAsGrid},
    {"waits_for_first_phase", "waits_for_phase_before_first", kAsync},
    {"expects_all_arrivals", "expects_too_few_arrivals", kShared},
    {"drops_out", "drops_out_before_it_writes", kShared},
    {"loads_matrix", "loads_matrix_of_other_warp", kShared},
    {"stores_matrix", "stores_matrix_for_other_warp", kShared},
    {"syncs_whole_warp", "syncs_half_of_warp", kShared},
    {"exchanges_in_tiles", "exchanges_between_tiles", kShared},
    {"votes_in_block", "votes_in_warps", kShared},
    {"warps_make_once", "warps_make_once_relaxed", kShared},
    {"waits_and_meets", "meets_and_waits", kAsync},
    {"adds_in_bulk", "adds_in_bulk_and_overwrites", kAsync},
    {"cluster_sends_words", "cluster_reads_words_under_way", kAsync, Runs::kInClusters},
    {"cluster_counts_at_distance", "cluster_reads_count_under_way", kAsync, Runs::kInClusters},
    {"cluster_loads_for_both", "cluster_loads_over_other", kAsync, Runs::kInClusters},
    {"cluster_sends_in_bulk", "cluster_overwrites_what_is_sent", kAsync, Runs::kInClusters},
    {"cluster_writes_and_arrives", "cluster_arrives_and_writes", kShared, Runs::kInClusters},
    {"cluster_tells_other_block", "cluster_tells_with_block_fence", kShared, Runs::kInClusters},
    {"queues_for_lock", "hands_lock_over_relaxed", kGlobal, Runs::kAsGrid},
    {"locks_for_device", "locks_for_block_only", kGlobal, Runs::kAsGrid},
    {"disseminates", "disseminates_one_round_short", kGlobal, Runs::kAsGrid},
    {"writes_and_arrives", "arrives_and_writes", kGlobal, Runs::kAsGrid},
    {"checks_twice", "checks_plainly_first", kGlobal, Runs::kAsGrid},
    {"publishes_pointer", "follows_pointer_unordered", kGlobal, Runs::kAsGrid},
    {"reads_versions", "reads_versions_plainly", kGlobal, Runs::kAsGrid},
    {"tells_by_warps", "tells_for_two_warps", kGlobal, Runs::kAsGrid},
    {"polls_by_acquire", "polls_past_cache", kGlobal, Runs::kAsGrid},
    {"sleeps_until_told", "sleeps_long_enough", kGlobal, Runs::kAsGrid},
    {"compares_rounds", "takes_flag_of_last_round", kGlobal, Runs::kAsGrid},
    {"reads_both_borders", "asks_one_neighbour", kGlobal, Runs::kAsGrid},
    {"reads_coherently", "reads_noncoherently", kGlobal, Runs::kAsGrid},
    {"clears_then_adds", "clears_while_others_add", kGlobal, Runs::kAsGrid},
    {"updates_pairs", "updates_half_of_pairs", kGlobal, Runs::kAsGrid},
    {"reads_back", "reads_back_behind_the_read", kGlobal, Runs::kAsGrid},
    {"publishes_tile", "publishes_tile_behind_the_read", kGlobal, Runs::kAsGrid},
    {"loads_tile", "loads_tile_unfenced", kGlobal, Runs::kAsGrid},
    {"adds_tiles", "stores_tile_among_adders", kGlobal, Runs::kAsGrid},
    {"meets_in_cluster", "meets_in_cluster_relaxed", kGlobal, Runs::kAsGridOfClusters},
};

void as_grid(Bench& b, const char* kernel, bool in_clusters) {
  LaunchConfig config{.grid = 4, .block = 64, .stream = b.stream};
  if (in_clusters) config.attributes.set(cluster(2));
  b.module.kernel(kernel).launch(config, b.y, b.x, b.u, b.v);
}

Program program(const char* kernel, Runs runs, std::set<std::string> found) {
  Program made{kernel, std::move(found), [kernel, runs](Bench& b) {
                 switch (runs) {
                   case Runs::kInBlocks:
                     return b.launch(kernel, b.y, b.x);
                   case Runs::kInClusters:
                     return b.in_clusters(kernel, b.y, b.x);
                   case Runs::kAsGrid:
                   case Runs::kAsGridOfClusters:
                     return as_grid(b, kernel, runs == Runs::kAsGridOfClusters);
                 }
               }};
  if (runs == Runs::kAsGrid || runs == Runs::kAsGridOfClusters) made.races = Races::kGlobal;
  return made;
}

}  // namespace

std::vector<Program> pattern_programs() {
  std::vector<Program> programs;
  for (const Pattern& one : kPatterns) {
    programs.push_back(program(one.wrong, one.runs, {one.found}));
  }
  return programs;
}

std::vector<Program> right_pattern_programs() {
  std::vector<Program> programs;
  for (const Pattern& one : kPatterns) programs.push_back(program(one.right, one.runs, {}));
  return programs;
}

}  // namespace baton::findings
