// Programs about sources of copies, discarded memory, waits that may come back early, and roles of
// warps, lanes and blocks (discard_kernels.cuh, role_kernels.cuh), which run with Races::kGlobal.

#include "corpus.h"

namespace baton::findings {
namespace {

struct Shape {
  unsigned blocks = 4, threads = 64, cluster = 1;
};
constexpr Shape kUsual{}, kWide{2, 128, 1}, kClusters{4, 64, 2};

void add(std::vector<Program>* programs, const Shape& shape, const std::set<std::string>& found,
         std::initializer_list<const char*> kernels) {
  for (const char* kernel : kernels) {
    Program made{kernel, found, [kernel, shape](Bench& b) {
                   LaunchConfig config{
                       .grid = shape.blocks, .block = shape.threads, .stream = b.stream};
                   if (shape.cluster > 1) config.attributes.set(cluster(shape.cluster));
                   b.module.kernel(kernel).launch(config, b.y, b.x, b.u, b.v);
                 }};
    made.races = Races::kGlobal;
    programs->push_back(std::move(made));
  }
}

}  // namespace

std::vector<Program> copy_programs() {
  std::vector<Program> programs;
  add(&programs, kUsual, {"global_race"},
      {"discards_scratch_of_readers",
       "discards_untold",
       "discards_what_is_written",
       "discards_what_is_counted",
       "overwrites_source",
       "overwrites_source_behind_barrier",
       "overwrites_second_group",
       "overwrites_behind_arrival",
       "overwrites_end_of_source",
       "tells_of_copy_under_way",
       "matches_in_place_of_barrier",
       "syncs_quarters_and_reads_beyond",
       "parts_and_reads",
       "polls_by_one_lane_alone",
       "adds_vectors_beside_store",
       "stores_strongly_and_reads_weakly",
       "mixes_volatile_and_narrow",
       "updates_word_of_pair",
       "stores_into_vector",
       "tells_by_membar_of_block",
       "tells_by_proxy_fence",
       "tells_by_proxy_fence_of_global",
       "tells_by_alias_fence",
       "tells_by_mbarrier_fence",
       "tells_by_clock",
       "tells_by_nothing_but_registers",
       "fences_in_other_warp",
       "passes_on_narrowly"});
  add(&programs, kUsual, {"uninitialized"}, {"discards_and_reads"});
  add(&programs, kUsual, {"shared_race"},
      {"tries_once", "tests_once", "reads_if_over_or_not", "elects_writer_without_barrier",
       "reduces_in_place_of_barrier", "loads_rows_of_other_lanes", "scatters_and_reads"});
  add(&programs, kUsual, {"async_race"},
      {"loads_and_tries", "waits_in_one_lane", "stores_by_two_lanes_and_waits_in_one"});
  add(&programs, kWide, {"shared_race"},
      {"arrives_and_reads", "reduces_in_barrier_of_three", "frees_stage_before_it_reads"});
  add(&programs, kClusters, {"global_race"}, {"overwrites_what_is_sent_to_other"});
  add(&programs, kClusters, {"shared_race"},
      {"counts_in_cluster_for_block", "publishes_in_cluster_by_mbarrier_fence",
       "locks_in_cluster_for_block", "counts_in_own_block_alone"});
  return programs;
}

std::vector<Program> right_copy_programs() {
  std::vector<Program> programs;
  add(&programs, kUsual, {},
      {"discards_scratch",
       "discards_when_told",
       "discards_and_writes",
       "discards_twice",
       "discards_beside_writer",
       "overwrites_read_source",
       "overwrites_source_behind_wait",
       "overwrites_first_group",
       "overwrites_behind_arrival_of_copies",
       "overwrites_what_is_not_read",
       "overwrites_what_is_filled_with_zeros",
       "tells_of_copy_that_is_over",
       "tries_until_over",
       "tests_until_over",
       "reads_if_over",
       "tests_once_behind_barrier",
       "tests_once_what_it_awaited",
       "tests_its_own_arrival",
       "peeks_and_waits",
       "polls_two_mbarriers",
       "loads_and_waits",
       "elects_writer",
       "reduces_and_syncs",
       "matches_and_syncs",
       "syncs_quarters",
       "sums_by_volatile_steps",
       "loads_rows",
       "parts_and_meets",
       "polls_by_one_lane",
       "adds_vectors_and_words",
       "stores_and_reads_strongly",
       "mixes_volatile_and_relaxed",
       "exchanges_pair",
       "stores_behind_vector",
       "tells_by_sc_fence",
       "tells_by_membar",
       "fences_and_tells",
       "passes_on",
       "waits_in_both_lanes",
       "stores_by_two_lanes",
       "copies_up_to_bounds",
       "copies_up_to_bounds_in_two_stages",
       "scatters"});
  add(&programs, kWide, {},
      {"meets_and_reads", "tells_other_pair", "reduces_in_barrier", "runs_two_stages"});
  add(&programs, kClusters, {},
      {"overwrites_what_was_sent_to_both", "counts_in_cluster", "publishes_in_cluster",
       "locks_in_cluster", "meets_in_cluster_for_block", "sends_words_over_own",
       "counts_in_own_block_for_cluster"});
  return programs;
}

}  // namespace baton::findings
