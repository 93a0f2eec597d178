#include <fmt/core.h>
#include <gtest/gtest.h>

#include "corpus.h"

namespace baton::findings {
namespace {

// `kernel` depends on a producer of its input.
std::function<void(Bench&)> after(const char* primary, const char* kernel) {
  return [primary, kernel](Bench& b) {
    b.launch(primary, b.y, b.x);
    b.early(kernel, b.z, b.y);
  };
}
std::function<void(Bench&)> alone(const char* kernel) {
  return [kernel](Bench& b) { b.launch(kernel, b.y, b.x); };
}

// Each reads what the one before wrote, and writes what the one before that read.
void ping_pong(Bench& b, const char* kernel, int times) {
  b.launch("produce", b.y, b.x);
  for (int k = 0; k < times; ++k) {
    b.early(kernel, k % 2 == 0 ? b.z : b.y, k % 2 == 0 ? b.y : b.z);
  }
}

void order(const Stream& first, const Stream& second, const Device& device) {
  Event event(device);
  event.record(first);
  second.wait(event);
}

}  // namespace

std::vector<Program> right_programs() {
  using B = Bench;
  std::vector<Program> programs;
  const auto add = [&](const char* name, std::function<void(Bench&)> run) {
    programs.push_back({name, {}, std::move(run)});
  };
  add("allocates_and_frees", alone("allocates_and_frees"));
  add("shares_a_block", alone("shares_a_block"));
  add("leaves_absent_out", alone("leaves_absent_out"));
  add("uses_after_allocation", [](B& b) {
    CUdeviceptr mine = 0;
    b.driver.cuMemAllocAsync(&mine, B::kCount * 4, b.other.native());
    order(b.other, b.stream, b.device);
    b.launch("produce", DevicePointer<float>{mine}, b.x);
    order(b.stream, b.other, b.device);
    b.driver.cuMemFreeAsync(mine, b.other.native());
    b.driver.cuMemAllocAsync(&mine, B::kCount * 4, b.stream.native());
    b.launch("produce", DevicePointer<float>{mine}, b.x);
    // A dependent launch behind an allocation.
    CUdeviceptr next = 0;
    b.driver.cuMemAllocAsync(&next, B::kCount * 4, b.stream.native());
    b.early("consume", DevicePointer<float>{next}, DevicePointer<float>{mine});
    b.driver.cuMemFreeAsync(next, b.stream.native());
    b.driver.cuMemFreeAsync(mine, b.stream.native());
  });

  // --- Dependent launches ---
  add("waits", after("produce", "consume"));
  add("waits_for_a_late_trigger", after("produce_late", "consume"));
  add("waits_for_no_trigger", after("produce_plain", "consume"));
  add("computes_before_the_wait", after("produce", "consume_late"));
  add("vectors", after("produce4", "consume"));
  add("small_elements", after("produce_half", "consume_half"));
  add("loads_noncoherently_in_order", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.launch("loads_row_noncoherently", b.z, b.y);
  });
  add("loads_noncoherently_what_two_before_wrote", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.launch("consume", b.z, b.y);
    b.early("loads_row_noncoherently", b.u, b.y);
  });
  add("loads_weight_noncoherently", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("loads_weight_noncoherently", b.z, b.y, b.w);
  });
  add("loads_constants_of_others", [](B& b) {
    b.launch("produce", DevicePointer<float>{b.module.global("constants").first}, b.x);
    b.launch("produce", b.y, b.x);
    b.early("loads_constants", b.z, b.y);
  });
  add("weights_before_the_wait", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("consume_weight", b.z, b.y, b.w);
  });
  add("frozen_rows_before_the_wait", [](B& b) {
    b.freeze(b.w, b.x);
    b.launch("produce", b.y, b.x);
    b.early("consume_weight", b.z, b.y, b.w);
  });
  add("stages_weights_before_the_wait", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("consume_staged", b.z, b.y, b.w);
  });
  add("reads_with_the_primary_before_the_wait", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("consume_weight", b.z, b.y, b.x);
  });
  add("one_warp_waits", after("produce", "one_warp_waits"));
  add("one_thread_waits", after("produce", "one_thread_waits"));
  add("producer_warp_waits", after("produce", "producer_warp_waits"));
  add("flag_waits", after("produce", "flag_waits"));
  add("lane_waits", after("produce", "lane_waits"));
  add("shuffle_waits", after("produce", "shuffle_waits"));
  add("ring", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("ring", b.z, b.y, b.w);
  });
  add("ring_with_a_bias_of_the_primary", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("ring", b.z, b.w, b.y);
  });
  add("bulk_copies_after_the_wait", after("produce", "copies_early"));
  add("leaves_early", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("early_exit", b.z, b.y, 200);
  });
  add("a_chain_that_triggers_first", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("relay", b.z, b.y);
    b.early("relay", b.u, b.z);
    b.early("consume", b.v, b.u);
  });
  add("a_chain_that_triggers_last", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("relay_late", b.z, b.y);
    b.early("relay_late", b.u, b.z);
    b.early("consume", b.v, b.y);
  });
  add("to_and_fro", [](B& b) { ping_pong(b, "relay", 6); });
  add("to_and_fro_triggering_last", [](B& b) { ping_pong(b, "relay_late", 6); });
  add("accumulates", after("produce", "accumulate"));
  add("nothing_in_the_middle", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("pass");
    b.early("consume", b.z, b.y);
  });
  add("no_attribute", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.launch("waits_never", b.z, b.y);
  });
  add("no_primary", [](B& b) { b.early("reads_first", b.z, b.x); });
  add("a_copy_in_between", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.u.memory().copy_from(b.w.memory(), B::kCount * 4, 0, 0, b.stream);
    b.early("reads_first", b.z, b.y);
  });
  add("the_host_waited_in_between", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.stream.synchronize();
    b.early("reads_first", b.z, b.y);
  });
  add("waits_before_it_triggers", [](B& b) {
    // The middle grid's blocks trigger after their wait, so the first grid is done by then.
    b.launch("produce", b.y, b.x);
    b.early("relay_late", b.z, b.w);
    b.early("reads_first", b.u, b.y);
  });

  add("tells_blocks_of_wait", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("tells_blocks_of_wait", b.z, b.y, b.u);
  });
  const std::pair<const char*, const char*> told[] = {{"tells_next_by_release", "hears_by_acquire"},
                                                      {"tells_next_by_release", "hears_by_fence"},
                                                      {"tells_next_by_fence", "hears_by_acquire"},
                                                      {"tells_next_by_count", "hears_by_fence"}};
  for (const auto& [primary, dependent] : told) {
    programs.push_back({fmt::format("{}_{}", primary, dependent),
                        {},
                        [primary = primary, dependent = dependent](B& b) {
                          b.launch(primary, b.y, b.x, b.u);
                          b.early(dependent, b.z, b.y, b.u);
                        }});
  }

  // --- Streams, events, graphs, the host ---
  add("an_event_orders_streams", [](B& b) {
    b.launch("produce", b.y, b.x);
    order(b.stream, b.other, b.device);
    b.launch_on(b.other, {}, "consume", b.z, b.y);
  });
  add("streams_with_memory_of_their_own", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.launch_on(b.other, {}, "produce", b.z, b.w);
  });
  add("streams_that_read_the_same", [](B& b) {
    for (int k = 0; k < 3; ++k) {
      b.launch("produce", b.y, b.x);
      b.launch_on(b.other, {}, "produce", b.z, b.x);
    }
  });
  add("streams_that_count_together", [](B& b) {
    b.launch("count_up", b.y);
    b.launch_on(b.other, {}, "count_up", b.y);
  });
  add("a_blocking_stream_and_the_legacy_one", [](B& b) {
    CUstream made = nullptr;
    ASSERT_EQ(b.driver.cuStreamCreateWithPriority(&made, CU_STREAM_DEFAULT, 0), CUDA_SUCCESS);
    const Stream blocking = Stream::adopt(b.device, made);
    const Stream legacy = Stream::adopt(b.device, nullptr);
    b.launch_on(blocking, {}, "produce", b.y, b.x);
    b.launch_on(legacy, {}, "consume", b.z, b.y);
    b.launch_on(blocking, {}, "consume", b.u, b.z);
    blocking.synchronize();
    ASSERT_EQ(b.driver.cuStreamDestroy(made), CUDA_SUCCESS);
  });
  add("the_host_asks_until_it_is_done", [](B& b) {
    b.launch("produce", b.y, b.x);
    while (!b.stream.done()) {
    }
    b.launch_on(b.other, {}, "consume", b.z, b.y);
  });
  add("the_host_orders_streams", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.stream.synchronize();
    b.launch_on(b.other, {}, "consume", b.z, b.y);
  });
  add("streams_join_again", [](B& b) {
    b.launch("produce", b.y, b.x);
    order(b.stream, b.other, b.device);
    b.launch_on(b.other, {}, "consume", b.z, b.y);
    b.launch("consume", b.u, b.y);
    order(b.other, b.stream, b.device);
    b.launch("consume_weight", b.y, b.z, b.u);
  });
  add("a_programmatic_event", [](B& b) {
    const Event event(b.device, false);
    b.launch_on(b.stream, with(programmatic_event(event)), "produce", b.y, b.x);
    b.other.wait(event);
    b.launch_on(b.other, {}, "consume", b.z, b.y);
  });
  add("a_graph_with_programmatic_edges", [](B& b) {
    b.as_graph(3, [&] {
      b.launch("produce", b.y, b.x);
      b.early("relay", b.z, b.y);
      b.early("consume", b.u, b.z);
    });
  });
  add("a_graph_of_full_edges", [](B& b) {
    b.as_graph(3, [&] {
      b.launch("produce", b.y, b.x);
      b.launch("waits_never", b.z, b.y);
    });
  });
  add("copies_behind_the_kernel", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.u.memory().copy_from(b.y.memory(), B::kCount * 4, 0, 0, b.stream);
    order(b.stream, b.other, b.device);
    b.v.memory().copy_from(b.y.memory(), B::kCount * 4, 0, 0, b.other);
  });
  add("frees_behind_the_kernel", [](B& b) {
    CUdeviceptr mine = 0;
    b.driver.cuMemAlloc(&mine, B::kCount * 4);
    b.launch("produce", DevicePointer<float>{mine}, b.x);
    b.driver.cuMemFreeAsync(mine, b.stream.native());
  });

  // --- Shared memory and barriers ---
  for (const char* kernel : {"lanes_swap",
                             "lanes_sum",
                             "swaps",
                             "reuses",
                             "reduces",
                             "bytes_beside",
                             "counts",
                             "pipelines",
                             "locks",
                             "all_write_the_same",
                             "all_write_the_same_pair",
                             "reduces_by_shuffles",
                             "transposes_in_warps",
                             "last_block_sums",
                             "looks_back",
                             "reduces_by_groups",
                             "barriers_on_paths",
                             "multiplies",
                             "multiplies_in_stages",
                             "copies",
                             "copies_stages",
                             "copies_bulk",
                             "copies_bulk_stages",
                             "copies_bulk_out",
                             "plays_ping_pong",
                             "normalizes",
                             "leaves_behind_arrival",
                             "leaves_behind_mbarrier",
                             "leaves_and_others_meet",
                             "announces_all",
                             "announces_all_afterwards",
                             "copies_twice_waiting",
                             "copies_side_by_side",
                             "copies_bulk_side_by_side",
                             "copies_bulk_twice_waiting",
                             "counts_from_zero",
                             "stores_out_fenced",
                             "stores_out_fenced_by_issuer",
                             "copies_in_and_out",
                             "marks_pointers",
                             "shifts_pointers",
                             "initializes_mbarrier",
                             "tells_by_release",
                             "tells_by_fences",
                             "tells_by_count",
                             "tells_by_exchange",
                             "tells_through_another"}) {
    add(kernel, alone(kernel));
  }
  for (const char* kernel :
       {"one_warp_copies", "one_warp_loads_bulk", "one_warp_stores_bulk", "one_warp_stores_out"}) {
    add(kernel, [kernel](B& b) { b.by_warps(kernel, b.y, b.x); });
  }
  add("exits_before_barrier", [](B& b) { b.launch("exits_before_barrier", b.y, b.x, 140); });

  // --- Clusters and cooperative grids ---
  for (const char* kernel :
       {"cluster_swaps", "cluster_counts", "cluster_tells_when_done", "cluster_reuses",
        "cluster_sends", "cluster_sends_round", "cluster_arrives_releasing",
        "cluster_arrives_behind_fence", "cluster_makes_mbarrier", "cluster_stores_behind_one_warp",
        "cluster_stores_behind_barrier", "cluster_copies"}) {
    add(kernel, [kernel](B& b) { b.in_clusters(kernel, b.y, b.x); });
  }
  add("reads_what_was_written_over_discarded", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("discards_behind_wait", b.y);
    b.launch("produce_plain", b.z, b.y);
  });
  add("one_warp_swaps_in_cluster",
      [](B& b) { b.by_warps("one_warp_swaps_in_cluster", b.y, b.x, 2); });
  add("grid_syncs",
      [](B& b) { b.launch_on(b.stream, with(cooperative()), "grid_syncs", b.y, b.x); });

  // --- Kernels made of CUB and cooperative groups, as their projects publish them ---
  for (const char* kernel :
       {"cub_reduces", "cub_scans", "cub_sorts", "cub_exchanges", "cub_histogram", "groups_scan"}) {
    add(kernel, alone(kernel));
  }
  add("cub_reduces_early", after("produce", "cub_reduces_early"));
  return programs;
}

}  // namespace baton::findings
