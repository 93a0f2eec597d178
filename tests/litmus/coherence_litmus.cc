// Accesses of one place and of two places, without an order: races unless both are strong, and the
// scope of each has the other one's thread (PTX ISA 9.0, 8.6 "Morally strong operations").

#include "litmus.h"

namespace baton::litmus {

std::vector<Litmus> coherence_litmus() {
  using A = Answer;
  const std::string w = kWrites, r = "ld.u32 %r0, [%x];\n";
  const std::string ws = "st.relaxed.SCOPE.u32 [%x], 7;\n",
                    rs = "ld.relaxed.SCOPE.u32 %r0, [%x];\n";
  const std::string wsy = "st.relaxed.SCOPE.u32 [%y], 7;\n";
  const std::string rsy = "ld.relaxed.SCOPE.u32 %r1, [%y];\n";
  const std::string wy = "st.u32 [%y], 7;\n", ry = "ld.u32 %r1, [%y];\n";
  const std::string update = "atom.relaxed.SCOPE.add.u32 %r0, [%x], 1;\n";
  const auto by_scope = [](const char* name, std::vector<std::string> threads) {
    return Litmus{name, A::kByScope, kAnyPlace, kAnyMemory, std::move(threads)};
  };
  const auto racy = [](const char* name, std::vector<std::string> threads) {
    return Litmus{name, A::kRacy, kAnyPlace, kAnyMemory, std::move(threads)};
  };
  const auto ordered = [](const char* name, std::vector<std::string> threads) {
    return Litmus{name, A::kOrdered, kAnyPlace, kAnyMemory, std::move(threads)};
  };
  return {
      // --- One place ---
      by_scope("co_write_read", {ws, rs}),
      by_scope("co_write_write", {ws, "st.relaxed.SCOPE.u32 [%x], 8;\n"}),
      by_scope("co_reads", {ws, rs + rs}),
      by_scope("co_updates", {update, update}),
      by_scope("co_update_and_read", {update, rs}),
      by_scope("co_update_and_write", {update, ws}),
      by_scope("co_reduction_and_acquire",
               {"red.relaxed.SCOPE.add.u32 [%x], 1;\n", "ld.acquire.SCOPE.u32 %r0, [%x];\n"}),
      racy("co_weak_write_read", {w, r}),
      racy("co_weak_write_write", {w, "st.u32 [%x], 8;\n"}),
      racy("co_weak_read_strong_write", {"st.relaxed.gpu.u32 [%x], 7;\n", r}),
      racy("co_weak_write_strong_read", {w, "ld.relaxed.gpu.u32 %r0, [%x];\n"}),
      racy("co_weak_write_strong_write", {w, "st.relaxed.gpu.u32 [%x], 8;\n"}),
      racy("co_weak_write_and_update", {w, "atom.add.u32 %r0, [%x], 1;\n"}),
      racy("co_weak_read_and_update", {"red.add.u32 [%x], 1;\n", r}),
      racy("co_weak_byte_in_word", {w, "ld.u8 %r0, [%x+3];\n"}),
      racy("co_weak_vector_over_word",
           {"st.u32 [%x+8], 7;\n", "ld.v4.u32 {%r0, %r1, %r2, %r3}, [%x];\n"}),
      {"co_block_beside_system",
       A::kInBlock,
       kAnyPlace,
       kAnyMemory,
       {"st.relaxed.sys.u32 [%x], 7;\n", "ld.relaxed.cta.u32 %r0, [%x];\n"}},
      {"co_cluster_beside_gpu",
       A::kInCluster,
       kAnyPlace,
       kAnyMemory,
       {"red.relaxed.gpu.add.u32 [%x], 7;\n", "atom.relaxed.cluster.add.u32 %r0, [%x], 1;\n"}},
      ordered("co_volatile", {"st.volatile.u32 [%x], 7;\n", "ld.volatile.u32 %r0, [%x];\n"}),
      ordered("co_default_atomics", {"atom.add.u32 %r0, [%x], 1;\n", "red.max.u32 [%x], 1;\n"}),
      ordered("co_neighbours", {"st.u8 [%x], 7;\n", "st.u8 [%x+1], 7;\n"}),
      ordered("co_weak_reads", {r, r}),
      {"co_equal_writes",
       A::kRacy,
       kAnyPlace,
       kAnyMemory,
       {w, w},
       false,
       "two writes of one value leave one value"},
      racy("co_mixed_sizes", {"st.relaxed.gpu.u64 [%x], 7;\n", "ld.relaxed.gpu.u32 %r0, [%x];\n"}),
      racy("co_update_of_half",
           {"red.relaxed.gpu.add.u64 [%x], 7;\n", "red.relaxed.gpu.add.u32 [%x], 7;\n"}),
      ordered("co_vector_of_one_size",
              {"st.relaxed.gpu.v2.u32 [%x], {7, 7};\n", "ld.relaxed.gpu.u32 %r0, [%x+4];\n"}),
      // --- Two places ---
      by_scope("sb", {ws + rsy, wsy + rs}),
      by_scope("sb_with_sc_fences",
               {ws + "fence.sc.SCOPE;\n" + rsy, wsy + "fence.sc.SCOPE;\n" + rs}),
      by_scope("lb", {rs + wsy, rsy + ws}),
      by_scope("two_plus_two_writes",
               {ws + "st.relaxed.SCOPE.u32 [%y], 8;\n", wsy + "st.relaxed.SCOPE.u32 [%x], 8;\n"}),
      by_scope("iriw", {ws, wsy, rs + rsy, rsy + rs}),
      racy("sb_weak", {w + ry, wy + r}),
      racy("sb_weak_with_sc_fences", {w + "fence.sc.gpu;\n" + ry, wy + "fence.sc.gpu;\n" + r}),
      racy("lb_weak", {r + wy, ry + w}),
      racy("two_plus_two_weak_writes", {w + "st.u32 [%y], 8;\n", wy + "st.u32 [%x], 8;\n"}),
      racy("iriw_weak_reads",
           {"st.relaxed.gpu.u32 [%x], 7;\n", "st.relaxed.gpu.u32 [%y], 7;\n", r + ry, ry + r}),
  };
}

}  // namespace baton::litmus
