// Chains of two to four dependent launches, streams with and without events, graphs, and copies and
// fills by the host beside kernels. Programs of one order missing, and the same ones with it.

#include "corpus.h"

namespace baton::findings {
namespace {

using B = Bench;

// All that `first` has so far comes before all that `second` gets from now on.
void join(B& b, const Stream& first, const Stream& second) {
  Event event(b.device);
  event.record(first);
  second.wait(event);
}
void fill(const B::Floats& buffer, const Stream& on) {
  buffer.memory().fill(0, 4, B::kCount, 0, on);
}

// A program with two forms: an event orders its streams, or does not.
struct Joined {
  const char* right;
  const char* wrong;
  const char* found;
  void (*run)(B& b, bool is_joined);
};

constexpr Joined kJoined[] = {
    {"overwrites_behind_the_reader", "overwrites_beside_the_reader", "unordered_grids",
     [](B& b, bool is_joined) {
       b.launch("produce", b.y, b.x);
       join(b, b.stream, b.other);
       b.launch_on(b.other, {}, "consume", b.z, b.y);
       if (is_joined) join(b, b.other, b.stream);
       b.launch("produce", b.y, b.w);
     }},
    {"counts_then_reads", "reads_what_is_counted", "unordered_grids",
     [](B& b, bool is_joined) {
       b.launch("count_up", b.y);
       if (is_joined) join(b, b.stream, b.other);
       b.launch_on(b.other, {}, "consume", b.z, b.y);
     }},
    {"counts_then_writes", "writes_what_is_counted", "unordered_grids",
     [](B& b, bool is_joined) {
       b.launch("count_up", b.y);
       if (is_joined) join(b, b.stream, b.other);
       b.launch_on(b.other, {}, "produce", b.y, b.x);
     }},
    {"depends_across_streams", "depends_on_nothing", "unordered_grids",
     [](B& b, bool is_joined) {
       b.launch_on(b.other, {}, "produce", b.y, b.x);
       b.launch("produce", b.u, b.x);
       if (is_joined) join(b, b.other, b.stream);
       b.early("consume_weight", b.z, b.u, b.y);
     }},
    {"waits_for_its_stream", "waits_for_the_other_stream", "unordered_grids",
     [](B& b, bool is_joined) {
       b.launch("produce", b.y, b.x);
       (is_joined ? b.stream : b.other).synchronize();
       b.launch_on(b.other, {}, "consume", b.z, b.y);
     }},
    {"chain_ends_before_others_read", "chain_goes_on_under_readers", "unordered_grids",
     [](B& b, bool is_joined) {
       b.launch("produce", b.y, b.x);
       b.early("relay", b.z, b.y);
       if (is_joined) join(b, b.stream, b.other);
       b.launch_on(b.other, {}, "waits_never", b.u, b.z);
     }},
    {"uploads_behind_the_reader", "uploads_beside_the_reader", "host_race",
     [](B& b, bool is_joined) {
       copy(b.u, b.x, b.stream);
       b.launch("produce", b.y, b.u);
       if (is_joined) join(b, b.stream, b.other);
       copy(b.u, b.w, b.other);
     }},
    {"clears_before_it_counts", "clears_while_it_counts", "host_race",
     [](B& b, bool is_joined) {
       fill(b.y, b.stream);
       if (is_joined) join(b, b.stream, b.other);
       b.launch_on(b.other, {}, "count_up", b.y);
     }},
    {"reads_what_was_copied", "reads_what_is_copied", "host_race",
     [](B& b, bool is_joined) {
       b.launch("produce", b.y, b.x);
       copy(b.u, b.y, b.stream);
       if (is_joined) join(b, b.stream, b.other);
       b.launch_on(b.other, {}, "consume", b.z, b.u);
     }},
    {"copies_on_in_order", "copies_on_unordered", "host_race",
     [](B& b, bool is_joined) {
       copy(b.u, b.x, b.stream);
       if (is_joined) join(b, b.stream, b.other);
       copy(b.v, b.u, b.other);
     }},
    {"copies_twice_in_order", "copies_twice_unordered", "host_race",
     [](B& b, bool is_joined) {
       copy(b.u, b.x, b.stream);
       if (is_joined) join(b, b.stream, b.other);
       copy(b.u, b.w, b.other);
     }},
    {"clears_behind_the_copy", "clears_under_the_copy", "host_race",
     [](B& b, bool is_joined) {
       copy(b.u, b.y, b.stream);
       if (is_joined) join(b, b.stream, b.other);
       fill(b.y, b.other);
     }},
    {"clears_behind_the_chain", "clears_under_the_chain", "host_race",
     [](B& b, bool is_joined) {
       b.launch("produce", b.y, b.x);
       b.early("relay", b.z, b.y);
       b.early("consume", b.u, b.z);
       if (is_joined) join(b, b.stream, b.other);
       fill(b.z, b.other);
     }},
    {"graph_branches_in_order", "graph_branches_meet", "unordered_grids",
     [](B& b, bool is_joined) {
       b.as_graph(2, [&] {
         join(b, b.stream, b.other);
         b.launch("produce", b.y, b.x);
         if (is_joined) join(b, b.stream, b.other);
         b.launch_on(b.other, {}, "consume", b.z, b.y);
         join(b, b.other, b.stream);
       });
     }},
    {"graph_fills_in_order", "graph_fills_beside_kernel", "host_race",
     [](B& b, bool is_joined) {
       b.as_graph(2, [&] {
         join(b, b.stream, b.other);
         fill(b.y, b.stream);
         if (is_joined) join(b, b.stream, b.other);
         b.launch_on(b.other, {}, "count_up", b.y);
         join(b, b.other, b.stream);
       });
     }},
};

// Kernels behind a producer of y: `late` accesses it after the wait, `early` before.
struct Dependent {
  const char* late;
  const char* early;
  const char* found;
  void (*run)(B& b, const char* kernel);
};

constexpr void (*kReads)(B&, const char*) = [](B& b, const char* kernel) {
  b.launch("produce", b.y, b.x);
  b.early(kernel, b.z, b.y);
};
constexpr void (*kWrites)(B&, const char*) = [](B& b, const char* kernel) {
  b.launch("produce", b.y, b.x);
  b.early(kernel, b.y, b.w);
};
constexpr Dependent kDependents[] = {
    {"sums_partials", "sums_partials_first", "read_before_wait", kReads},
    {"reads_in_all_blocks", "reads_first_in_last_block", "read_before_wait", kReads},
    {"waits_in_first_turn", "waits_in_second_turn", "read_before_wait", kReads},
    {"waits_in_all_warps", "waits_in_one_and_a_half_warps", "missing_wait", kReads},
    {"updates", "updates_first", "write_before_wait", kWrites},
    {"stores_vectors", "stores_vectors_first", "write_before_wait", kWrites},
};

}  // namespace

std::vector<Program> chain_programs() {
  std::vector<Program> programs;
  for (const Joined& one : kJoined) {
    programs.push_back({one.wrong, {one.found}, [&one](B& b) { one.run(b, false); }});
  }
  for (const Dependent& one : kDependents) {
    programs.push_back({one.early, {one.found}, [&one](B& b) { one.run(b, one.early); }});
  }
  const auto add = [&](const char* name, std::set<std::string> found, void (*run)(B&)) {
    programs.push_back({name, std::move(found), run});
  };
  add("updates_input_first", {"write_after_read"}, [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("updates_first", b.x, b.w);
  });
  add("stores_vectors_over_input", {"write_after_read"}, [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("stores_vectors_first", b.x, b.w);
  });
  add("third_overwrites_input_of_second", {"write_after_read"}, [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("relay_late", b.z, b.y);
    b.early("clears_first", b.y, b.w);
  });
  add("third_overwrites_while_both_run", {"write_after_read", "write_before_wait"}, [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("relay", b.z, b.y);
    b.early("clears_first", b.y, b.w);
  });
  add("fourth_reads_first", {"read_before_wait"}, [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("relay", b.z, b.y);
    b.early("relay", b.u, b.z);
    b.early("reads_first", b.v, b.y);
  });
  add("fourth_reads_third_first", {"read_before_wait"}, [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("relay", b.z, b.y);
    b.early("relay_late", b.u, b.z);
    b.early("reads_first", b.v, b.u);
  });
  add("third_reads_first_in_graph", {"read_before_wait"}, [](B& b) {
    b.as_graph(2, [&] {
      b.launch("produce", b.y, b.x);
      b.early("relay", b.z, b.y);
      b.early("sums_partials_first", b.u, b.z);
    });
  });
  add("third_has_no_wait", {"missing_wait", "no_wait"}, [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("relay_late", b.z, b.y);
    b.early("triggers_only", b.u, b.z);
  });
  add("writes_one_without_wait", {"missing_wait", "no_wait"}, [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("writes_one", b.y);
  });
  add("counts_without_wait", {"missing_wait", "no_wait"}, [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("count_up", b.y);
  });
  add("counts_beside_counts_for_block", {"unordered_grids"}, [](B& b) {
    b.launch("count_up", b.y);
    b.launch_on(b.other, {}, "counts_for_block", b.y);
  });
  add("counts_for_block_beside_counts", {"unordered_grids"}, [](B& b) {
    b.launch("counts_for_block", b.y);
    b.launch_on(b.other, {}, "count_up", b.y);
  });
  add("counts_beside_counts_for_cluster", {"unordered_grids"}, [](B& b) {
    b.launch("count_up", b.y);
    b.launch_on(b.other, {}, "counts_for_cluster", b.y);
  });
  add("early_updates_for_block", {"write_before_wait"}, [](B& b) {
    b.launch("count_up", b.y);
    b.early("counts_for_block_first", b.y);
  });
  add("early_look_for_block", {"read_before_wait"}, [](B& b) {
    b.launch("count_up", b.y);
    b.early("looks_for_block_first", b.z, b.y);
  });
  add("fourth_behind_two_that_do_not_wait", {"transitive_wait"}, [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("waits_if", 1);
    b.early("pass");
    b.early("sums_partials", b.z, b.y);
  });
  return programs;
}

std::vector<Program> right_chain_programs() {
  std::vector<Program> programs;
  for (const Joined& one : kJoined) {
    programs.push_back({one.right, {}, [&one](B& b) { one.run(b, true); }});
  }
  for (const Dependent& one : kDependents) {
    programs.push_back({one.late, {}, [&one](B& b) { one.run(b, one.late); }});
  }
  const auto add = [&](const char* name, void (*run)(B&)) { programs.push_back({name, {}, run}); };
  add("third_reads_first_behind_late_trigger", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("relay", b.z, b.y);
    b.early("relay_late", b.u, b.z);
    b.early("reads_first", b.v, b.y);
  });
  add("fourth_reads_second_first_behind_late_trigger", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("relay", b.z, b.y);
    b.early("relay_late", b.u, b.z);
    b.early("reads_first", b.v, b.z);
  });
  add("a_fill_before_early_reads", [](B& b) {
    b.launch("produce", b.y, b.x);
    fill(b.z, b.stream);
    b.early("sums_partials_first", b.u, b.y);
  });
  add("early_updates_of_counters", [](B& b) {
    b.launch("count_up", b.y);
    b.early("updates_first", b.y, b.w);
  });
  add("counts_beside_counts", [](B& b) {
    b.launch("count_up", b.y);
    b.launch_on(b.other, {}, "count_up", b.y);
  });
  add("updates_for_block_behind_wait", [](B& b) {
    b.launch("count_up", b.y);
    b.early("counts_for_block_behind_wait", b.y);
  });
  add("third_overwrites_behind_its_wait", [](B& b) {
    b.launch("produce", b.y, b.x);
    b.early("relay", b.z, b.y);
    b.early("stores_vectors", b.y, b.w);
  });
  add("four_in_a_graph", [](B& b) {
    b.as_graph(2, [&] {
      b.launch("produce", b.y, b.x);
      b.early("relay", b.z, b.y);
      b.early("updates", b.z, b.w);
      b.early("sums_partials", b.u, b.z);
    });
  });
  return programs;
}

}  // namespace baton::findings
