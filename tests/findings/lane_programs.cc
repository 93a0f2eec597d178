// Programs about lanes of one warp that exchange through shared memory (lane_kernels.cuh).

#include "corpus.h"

namespace baton::findings {
namespace {

void add(std::vector<Program>* programs, const std::set<std::string>& found,
         std::initializer_list<const char*> kernels) {
  for (const char* kernel : kernels) {
    programs->push_back({kernel, found, [kernel](Bench& b) { b.launch(kernel, b.y, b.x); }});
  }
}

}  // namespace

std::vector<Program> lane_programs() {
  std::vector<Program> programs;
  add(&programs, {"shared_race"},
      {"lanes_fence", "lanes_copy_elsewhere", "lanes_arrive", "lanes_read_other_half",
       "lanes_sum_by_fences"});
  add(&programs, {"async_race"},
      {"copies_over_what_lanes_read", "copies_over_what_lanes_read_behind_fence",
       "copies_over_what_lanes_stored", "copies_and_reads_of_neighbour",
       "copies_in_turns_too_early", "lanes_store_bulk_unmet"});
  return programs;
}

std::vector<Program> right_lane_programs() {
  std::vector<Program> programs;
  add(&programs, {},
      {"lanes_fence_and_meet", "lanes_meet_and_fence", "lanes_copy_elsewhere_and_meet",
       "lanes_meet_in_quarters", "lanes_arrive_and_wait", "lanes_meet_by_halves",
       "lanes_store_one_value", "copies_over_what_lanes_read_once_met",
       "copies_over_what_lanes_stored_once_met", "copies_and_reads_of_neighbour_once_met",
       "copies_in_turns", "copies_in_turns_each_lane", "lanes_store_bulk"});
  return programs;
}

}  // namespace baton::findings
