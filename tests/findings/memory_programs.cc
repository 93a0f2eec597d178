#include "corpus.h"

namespace baton::findings {

std::vector<Program> memory_programs() {
  using B = Bench;
  const auto run = [](const char* kernel) {
    return [kernel](B& b) { b.launch(kernel, b.y, b.x); };
  };
  const auto use_freed = [](const char* kernel, bool is_written) {
    return [kernel, is_written](B& b) {
      CUdeviceptr mine = 0;
      b.driver.cuMemAlloc(&mine, B::kCount * 4);
      b.driver.cuMemFree(mine);
      const DevicePointer<float> data{mine};
      if (is_written) {
        b.launch(kernel, data, b.x);
      } else {
        b.launch(kernel, b.y, data);
      }
    };
  };
  const auto after_producer = [](const char* kernel) {
    return [kernel](B& b) {
      b.launch("produce", b.y, b.x);
      b.early(kernel, b.z, b.y);
    };
  };
  return {
      // --- Non-coherent loads ---
      {"loads_row_noncoherently", {"non_coherent_read"}, after_producer("loads_row_noncoherently")},
      {"loads_after_plain_load", {"non_coherent_read"}, after_producer("loads_after_plain_load")},
      {"loads_scale_noncoherently",
       {"non_coherent_read"},
       after_producer("loads_scale_noncoherently")},
      {"loads_noncoherently_in_graph",
       {"non_coherent_read"},
       [](B& b) {
         b.as_graph(2, [&] {
           b.launch("produce", b.y, b.x);
           b.early("loads_row_noncoherently", b.z, b.y);
         });
       }},
      {"loads_noncoherently_behind_flag",
       {"non_coherent_read"},
       [](B& b) {
         b.launch("tells_next_by_release", b.y, b.x, b.u);
         b.early("loads_noncoherently_behind_flag", b.z, b.y, b.u);
       }},
      {"loads_constants_of_the_launch_before",
       {"non_coherent_read"},
       [](B& b) {
         b.launch("produce", DevicePointer<float>{b.module.global("constants").first}, b.x);
         b.early("loads_constants", b.z, b.y);
       }},
      {"loads_own_noncoherently", {"non_coherent_read"}, run("loads_own_noncoherently")},
      // --- Where an access goes ---
      {"past_the_end", {"out_of_bounds"}, run("past_the_end")},
      {"before_the_start", {"out_of_bounds"}, run("before_the_start")},
      {"far_away", {"out_of_bounds"}, run("far_away")},
      {"past_shared", {"out_of_bounds"}, run("past_shared")},
      {"unaligned", {"misaligned"}, run("unaligned")},
      {"unaligned_vector", {"misaligned"}, run("unaligned_vector")},
      {"unaligned_store", {"misaligned"}, [](B& b) { b.launch("unaligned_store", b.y); }},
      {"reads_unwritten",
       {"uninitialized"},
       [](B& b) { b.launch("reads_unwritten", b.y, b.unwritten); }},
      {"reads_half_written",
       {"uninitialized"},
       [](B& b) { b.launch("reads_half_written", b.y, b.unwritten); }},
      {"reads_unwritten_shared",
       {"uninitialized"},
       [](B& b) { b.launch("reads_unwritten_shared", b.y); }},
      {"reads_what_was_discarded",
       {"uninitialized"},
       [](B& b) {
         b.launch("discards", b.y);
         b.launch("produce", b.z, b.y);
       }},
      {"reads_freed", {"use_after_free"}, use_freed("produce", false)},
      {"writes_freed", {"use_after_free"}, use_freed("produce", true)},
      {"waits_then_reads_freed", {"use_after_free"}, use_freed("consume", false)},
      {"takes_from_exited_lanes", {"uninitialized"}, run("takes_from_half")},
      {"takes_from_unnamed_lanes", {"uninitialized"}, run("takes_from_halves")},
      {"frees_twice", {"bad_free"}, run("frees_twice")},
      {"host_frees_twice",
       {"bad_free"},
       [](B& b) {
         CUdeviceptr mine = 0;
         b.driver.cuMemAlloc(&mine, B::kCount * 4);
         b.driver.cuMemFree(mine);
         b.driver.cuMemFree(mine);
       }},
      {"host_frees_inside",
       {"bad_free"},
       [](B& b) {
         CUdeviceptr mine = 0;
         b.driver.cuMemAlloc(&mine, B::kCount * 4);
         b.driver.cuMemFree(mine + 4);
         b.driver.cuMemFree(mine);
       }},
      {"frees_memory_of_the_host",
       {"bad_free"},
       [](B& b) { b.launch("frees_memory_of_the_host", b.y); }},
      {"reads_past_its_block", {"out_of_bounds"}, run("reads_past_its_block")},
      {"reads_its_block_once_freed", {"use_after_free"}, run("reads_its_block_once_freed")},
  };
}

}  // namespace baton::findings
