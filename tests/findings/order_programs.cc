#include "corpus.h"

namespace baton::findings {
namespace {

// The other stream goes on when all blocks of what `launched` with the event have triggered.
void consume_after_event(Bench& b, const char* kernel, bool on_completion_of_launch) {
  const Event event(b.device, false);
  b.launch_on(
      b.stream,
      with(on_completion_of_launch ? launch_completion_event(event) : programmatic_event(event)),
      "produce", b.y, b.x);
  b.other.wait(event);
  b.launch_on(b.other, {}, kernel, b.z, b.y);
}

void free_on(Bench& b, const Stream& on, const char* kernel, bool is_written) {
  CUdeviceptr mine = 0;
  b.driver.cuMemAlloc(&mine, Bench::kCount * 4);
  b.driver.cuMemsetD32Async(mine, 0, Bench::kCount, b.stream.native());
  const DevicePointer<float> data{mine};
  if (is_written) {
    b.launch(kernel, data, b.x);
  } else {
    b.launch(kernel, b.y, data);
  }
  b.driver.cuMemFreeAsync(mine, on.native());
}

}  // namespace

std::vector<Program> order_programs() {
  using B = Bench;
  const auto tells = [](const char* primary, const char* dependent) {
    return [=](B& b) {
      b.launch(primary, b.y, b.x, b.u);
      b.early(dependent, b.z, b.y, b.u);
    };
  };
  const auto behind_wait = [](const char* kernel) {
    return [kernel](B& b) {
      b.launch("produce", b.y, b.x);
      b.early(kernel, b.z, b.y, b.u);
    };
  };
  return {
      // --- Flags between grids, and within one of which not all wait ---
      {"hears_nothing_released",
       {"read_before_wait"},
       tells("tells_next_relaxed", "hears_by_acquire")},
      {"hears_by_mbarrier_fence",
       {"read_before_wait"},
       tells("tells_next_by_mbarrier_fence", "hears_by_acquire")},
      {"tells_next_in_block",
       {"read_before_wait"},
       tells("tells_next_in_block", "hears_by_acquire")},
      {"tells_next_by_block_fence",
       {"read_before_wait"},
       tells("tells_next_by_block_fence", "hears_by_acquire")},
      {"hears_in_block", {"read_before_wait"}, tells("tells_next_by_release", "hears_in_block")},
      {"hears_by_block_fence",
       {"read_before_wait"},
       tells("tells_next_by_release", "hears_by_block_fence")},
      {"hears_relaxed", {"read_before_wait"}, tells("tells_next_by_release", "hears_relaxed")},
      {"hears_in_one_warp",
       {"read_before_wait"},
       tells("tells_next_by_release", "hears_in_one_warp")},
      {"hears_elsewhere", {"read_before_wait"}, tells("tells_next_by_release", "hears_elsewhere")},
      {"counts_behind_wait_by_block", {"missing_wait"}, behind_wait("counts_behind_wait_by_block")},
      {"counts_behind_wait_by_warp", {"missing_wait"}, behind_wait("counts_behind_wait_by_warp")},
      {"tells_blocks_of_wait_relaxed",
       {"missing_wait"},
       behind_wait("tells_blocks_of_wait_relaxed")},
      // --- Reads before the wait ---
      {"reads_first",
       {"read_before_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("reads_first", b.z, b.y);
       }},
      {"reads_first_without_trigger",
       {"read_before_wait"},
       [](B& b) {
         b.launch("produce_plain", b.y, b.x);
         b.early("reads_first", b.z, b.y);
       }},
      {"stages_first",
       {"read_before_wait"},
       [](B& b) {
         b.launch("produce_late", b.y, b.x);
         b.early("stages_first", b.z, b.y);
       }},
      {"reads_scale_first",
       {"read_before_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("reads_scale_first", b.z, b.y);
       }},
      {"reads_vector_first",
       {"read_before_wait"},
       [](B& b) {
         b.launch("produce4", b.y, b.x);
         b.early("reads_vector_first", b.z, b.y);
       }},
      {"reads_half_first",
       {"read_before_wait"},
       [](B& b) {
         b.launch("produce_half", b.y, b.x);
         b.early("reads_half_first", b.z, b.y);
       }},
      {"reads_first_over_two",
       {"read_before_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("relay", b.z, b.x);
         b.early("reads_first", b.u, b.y);
       }},
      {"reads_first_in_graph",
       {"read_before_wait"},
       [](B& b) {
         b.as_graph(2, [&] {
           b.launch("produce", b.y, b.x);
           b.early("reads_first", b.z, b.y);
         });
       }},
      {"reads_first_after_event",
       {"read_before_wait"},
       [](B& b) { consume_after_event(b, "reads_first", false); }},
      {"copies_in_bulk_first",
       {"read_before_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("copies_first", b.z, b.y);
       }},
      {"copies_by_threads_first",
       {"read_before_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("copies_thread_first", b.z, b.y);
       }},
      {"reads_in_function_first",
       {"read_before_wait", "non_coherent_read"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("reads_in_function_first", b.z, b.y);
       }},
      {"schedules_first",
       {"read_before_wait"},
       [](B& b) {
         b.launch("produce_late", b.y, b.x);
         b.early("schedules_first", b.z, b.y);
       }},
      // --- Writes before the wait ---
      {"clears_first",
       {"write_before_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("clears_first", b.y, b.w);
       }},
      {"counts_first",
       {"write_before_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("counts_first", b.y);
       }},
      {"heads_first",
       {"write_before_wait"},
       [](B& b) {
         b.launch("produce_plain", b.y, b.x);
         b.early("heads_first", b.y);
       }},
      {"discards_first",
       {"write_before_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("discards_first", b.y);
       }},
      // --- Writes over what the grid before still reads ---
      {"clears_input",
       {"write_after_read"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("clears_first", b.x, b.w);
       }},
      {"heads_input",
       {"write_after_read"},
       [](B& b) {
         b.launch("produce_plain", b.y, b.x);
         b.early("heads_first", b.x);
       }},
      {"counts_in_input",
       {"write_after_read"},
       [](B& b) {
         b.launch("waits_never", b.y, b.x);
         b.early("counts_first", b.x);
       }},
      // --- A wait that is missing on a path, or in a warp ---
      {"half_waits",
       {"missing_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("half_waits", b.z, b.y);
       }},
      {"barrier_too_early",
       {"missing_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("barrier_too_early", b.z, b.y);
       }},
      {"other_barrier",
       {"missing_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("other_barrier", b.z, b.y);
       }},
      {"one_path_waits",
       {"missing_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("one_path_waits", b.z, b.y, 100);
       }},
      {"waits_in_loop",
       {"missing_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("waits_in_loop", b.z, b.y, 1);
       }},
      {"tail_does_not_wait",
       {"missing_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("tail_does_not_wait", b.z, b.y, 192);
       }},
      {"lane_waits_alone",
       {"missing_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("lane_waits_alone", b.z, b.y);
       }},
      {"ring_reads_bias_first",
       {"missing_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("ring_reads_bias_first", b.z, b.w, b.y);
       }},
      // --- No wait at all ---
      {"waits_never",
       {"missing_wait", "no_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("waits_never", b.z, b.y);
       }},
      {"triggers_only",
       {"missing_wait", "no_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("triggers_only", b.z, b.y);
       }},
      {"compiled_out",
       {"missing_wait", "no_wait"},
       [](B& b) {
         b.launch("produce_plain", b.y, b.x);
         b.early("compiled_out", b.z, b.y);
       }},
      {"waits_never_for_others",
       {"no_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("waits_never", b.z, b.w);
       }},
      {"no_wait_in_graph",
       {"no_wait"},
       [](B& b) {
         b.as_graph(2, [&] {
           b.launch("produce", b.y, b.x);
           b.early("triggers_only", b.z, b.w);
         });
       }},
      // --- Over a grid in the middle that does not wait ---
      {"middle_has_no_wait",
       {"no_wait", "transitive_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("triggers_only", b.u, b.w);
         b.early("consume", b.z, b.y);
       }},
      {"middle_waits_on_no_path",
       {"transitive_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("waits_if", 1);
         b.early("consume", b.z, b.y);
       }},
      {"two_in_the_middle",
       {"transitive_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("waits_if", 1);
         b.early("waits_if", 1);
         b.early("consume", b.z, b.y);
       }},
      {"middle_overwritten",
       {"transitive_wait"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.early("waits_if", 1);
         b.early("consume", b.x, b.w);
       }},
      {"full_edge_of_graph",
       {"transitive_wait"},
       [](B& b) {
         b.as_graph(1, [&] {
           b.launch("produce", b.y, b.x);
           b.early("waits_if", 1);
           b.launch("waits_never", b.z, b.y);
         });
       }},
      // --- Streams that nothing orders ---
      {"two_streams",
       {"unordered_grids"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.launch_on(b.other, {}, "consume", b.z, b.y);
       }},
      {"two_streams_write",
       {"unordered_grids"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.launch_on(b.other, {}, "produce", b.y, b.w);
       }},
      {"two_streams_write_after_read",
       {"unordered_grids"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.launch_on(b.other, {}, "produce", b.x, b.w);
       }},
      {"one_element_of_a_row",
       {"unordered_grids"},
       [](B& b) {
         b.launch_on(b.other, {}, "writes_one", b.y);
         b.launch("produce", b.z, b.y);
       }},
      {"event_before_the_kernel",
       {"unordered_grids"},
       [](B& b) {
         Event event(b.device);
         event.record(b.stream);
         b.launch("produce", b.y, b.x);
         b.other.wait(event);
         b.launch_on(b.other, {}, "consume", b.z, b.y);
       }},
      {"launch_completion_is_no_order",
       {"unordered_grids"},
       [](B& b) { consume_after_event(b, "consume", true); }},
      {"event_recorded_again_too_late",
       {"unordered_grids"},
       [](B& b) {
         Event event(b.device);
         event.record(b.other);
         b.launch_on(b.other, {}, "produce", b.y, b.x);
         b.stream.wait(event);
         b.launch("consume", b.z, b.y);
         event.record(b.other);
       }},
      {"one_of_two_streams_joined",
       {"unordered_grids"},
       [](B& b) {
         b.launch_on(b.other, {}, "produce", b.y, b.x);
         const Stream third(b.device);
         b.launch_on(third, {}, "produce", b.z, b.x);
         Event event(b.device);
         event.record(b.other);
         b.stream.wait(event);
         b.launch("consume_weight", b.u, b.y, b.z);
         third.synchronize();
       }},
      // --- The host's copies, fills and frees ---
      {"copies_what_is_written",
       {"host_race"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         copy(b.u, b.y, b.other);
       }},
      {"copies_onto_what_is_read",
       {"host_race"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         copy(b.x, b.w, b.other);
       }},
      {"fills_what_is_read",
       {"host_race"},
       [](B& b) {
         b.launch("produce", b.y, b.x);
         b.x.memory().fill(0, 4, B::kCount, 0, b.other);
       }},
      {"uses_before_allocation",
       {"host_race"},
       [](B& b) {
         CUdeviceptr mine = 0;
         b.driver.cuMemAllocAsync(&mine, B::kCount * 4, b.other.native());
         b.launch("produce", DevicePointer<float>{mine}, b.x);
         b.stream.synchronize();
         b.driver.cuMemFree(mine);
       }},
      {"fills_before_allocation",
       {"host_race"},
       [](B& b) {
         CUdeviceptr mine = 0;
         b.driver.cuMemAllocAsync(&mine, B::kCount * 4, b.other.native());
         b.driver.cuMemsetD32Async(mine, 1, B::kCount, b.stream.native());
         b.stream.synchronize();
         b.driver.cuMemFree(mine);
       }},
      {"fills_unordered",
       {"host_race"},
       [](B& b) {
         b.y.memory().fill(1, 4, B::kCount, 0, b.stream);
         b.y.memory().fill(2, 4, B::kCount, 0, b.other);
       }},
      {"downloads_unordered",
       {"host_race"},
       [](B& b) {
         std::vector<float> values(B::kCount);
         b.launch("produce", b.y, b.x);
         b.y.download(values, b.other);
         b.other.synchronize();
       }},
      {"frees_what_is_written",
       {"free_race"},
       [](B& b) { free_on(b, b.other, "produce", true); },
       "use_after_free"},
      {"frees_what_is_read",
       {"free_race"},
       [](B& b) { free_on(b, b.other, "produce", false); },
       "use_after_free"},
      {"frees_before_the_event",
       {"free_race"},
       [](B& b) {
         Event event(b.device);
         event.record(b.stream);
         b.other.wait(event);
         free_on(b, b.other, "consume", false);
       },
       "use_after_free"},
  };
}

}  // namespace baton::findings
