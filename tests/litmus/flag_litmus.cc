// Release and acquire patterns (PTX ISA 9.0, 8.7), and what looks like them.

#include <fmt/format.h>

#include "litmus.h"

namespace baton::litmus {

std::string polls(std::string_view load, std::string_view address, int value) {
  return fmt::format("{{ AGAIN: {} %r9, [{}]; setp.ne.u32 %p9, %r9, {}; @%p9 bra AGAIN; }}\n", load,
                     address, value);
}

std::vector<Litmus> flag_litmus() {
  using A = Answer;
  const std::string w = kWrites, r = kReads;
  const std::string release = "st.release.SCOPE.u32 [%f], 1;\n";
  const std::string relaxed = "st.relaxed.SCOPE.u32 [%f], 1;\n";
  const std::string fence = "fence.acq_rel.SCOPE;\n", sc = "fence.sc.SCOPE;\n";
  const std::string acquired = polls("ld.acquire.SCOPE.u32", "%f", 1);
  const std::string seen = polls("ld.relaxed.SCOPE.u32", "%f", 1);
  const auto by_scope = [](const char* name, std::vector<std::string> threads) {
    return Litmus{name, A::kByScope, kAnyPlace, kAnyMemory, std::move(threads)};
  };
  const auto racy = [](const char* name, std::vector<std::string> threads) {
    return Litmus{name, A::kRacy, kAnyPlace, kAnyMemory, std::move(threads)};
  };
  const auto at_gpu = [](std::string text) {
    for (std::size_t at; (at = text.find("SCOPE")) != std::string::npos;) {
      text.replace(at, 5, "gpu");
    }
    return text;
  };
  return {
      // --- Message passing ---
      by_scope("mp_release_acquire", {w + release, acquired + r}),
      by_scope("mp_fences", {w + fence + relaxed, seen + fence + r}),
      by_scope("mp_sc_fences", {w + sc + relaxed, seen + sc + r}),
      by_scope("mp_release_to_fence", {w + release, seen + fence + r}),
      by_scope("mp_fence_to_acquire", {w + fence + relaxed, acquired + r}),
      by_scope("mp_volatile_with_fences", {w + fence + "st.volatile.u32 [%f], 1;\n",
                                           polls("ld.volatile.u32", "%f", 1) + fence + r}),
      by_scope("mp_membar", {w + "membar.MEMBAR;\nst.volatile.u32 [%f], 1;\n",
                             polls("ld.volatile.u32", "%f", 1) + "membar.MEMBAR;\n" + r}),
      by_scope("mp_releasing_reduction",
               {w + "red.release.SCOPE.add.u32 [%f], 1;\n", acquired + r}),
      by_scope("mp_fence_and_reduction",
               {w + fence + "red.relaxed.SCOPE.add.u32 [%f], 1;\n", acquired + r}),
      by_scope("mp_exchange_to_swap", {w + "atom.release.SCOPE.exch.b32 %r0, [%f], 1;\n",
                                       "{ AGAIN: atom.acquire.SCOPE.cas.b32 %r9, [%f], 1, 2;\n"
                                       "setp.ne.u32 %p9, %r9, 1; @%p9 bra AGAIN; }\n" +
                                           r}),
      by_scope("mp_vectors", {"st.v4.u32 [%x], {7, 7, 7, 7};\n" + release,
                              acquired + "ld.v4.u32 {%r0, %r1, %r2, %v}, [%x];\n"}),
      by_scope("mp_bytes", {"st.u8 [%x+1], 7;\n" + release, acquired + "ld.u8 %v, [%x+1];\n"}),
      by_scope("mp_atomic_data", {"red.relaxed.cta.add.u32 [%x], 7;\n" + release, acquired + r}),
      by_scope("wr_release_acquire", {"ld.u32 %r0, [%x];\n" + release, acquired + w}),
      by_scope("ww_release_acquire", {"st.u32 [%x], 1;\n" + release, acquired + w}),
      by_scope("ping_pong", {w + release + polls("ld.acquire.SCOPE.u32", "%g", 1) + w,
                             acquired + r + "st.u32 [%x], 8;\nst.release.SCOPE.u32 [%g], 1;\n"}),
      // --- Three threads and more ---
      by_scope("wrc", {w + release, acquired + r + "st.release.SCOPE.u32 [%g], 1;\n",
                       polls("ld.acquire.SCOPE.u32", "%g", 1) + r}),
      by_scope("isa2", {w + release, acquired + "st.release.SCOPE.u32 [%g], 1;\n",
                        polls("ld.acquire.SCOPE.u32", "%g", 1) + r}),
      by_scope("isa2_with_fences",
               {w + fence + relaxed, seen + fence + "st.relaxed.SCOPE.u32 [%g], 1;\n",
                polls("ld.relaxed.SCOPE.u32", "%g", 1) + fence + r}),
      by_scope("release_goes_on_in_update",
               {w + release, seen + "atom.relaxed.SCOPE.add.u32 %r0, [%f], 1;\n",
                polls("ld.acquire.SCOPE.u32", "%f", 2) + r}),
      by_scope("iriw_with_data",
               {w + release, "st.u32 [%y], 7;\nst.release.SCOPE.u32 [%g], 1;\n",
                acquired + polls("ld.acquire.SCOPE.u32", "%g", 1) + r + "ld.u32 %v, [%y];\n",
                polls("ld.acquire.SCOPE.u32", "%g", 1) + acquired + "ld.u32 %r0, [%y];\n" + r}),
      by_scope("two_releases_one_reader",
               {"st.u32 [%x], 7;\nred.release.SCOPE.add.u32 [%f], 1;\n",
                "st.u32 [%y], 7;\nred.release.SCOPE.add.u32 [%f], 1;\n",
                polls("ld.acquire.SCOPE.u32", "%f", 2) + "ld.u32 %r0, [%x];\nld.u32 %v, [%y];\n"}),
      // --- No pattern ---
      racy("mp_relaxed", {w + at_gpu(relaxed), at_gpu(seen) + r}),
      racy("mp_without_release", {w + at_gpu(relaxed), at_gpu(acquired) + r}),
      racy("mp_without_acquire", {w + at_gpu(release), at_gpu(seen) + r}),
      racy("mp_volatile",
           {w + "st.volatile.u32 [%f], 1;\n", polls("ld.volatile.u32", "%f", 1) + r}),
      racy("mp_weak_flag", {w + "st.u32 [%f], 1;\n", "ld.u32 %r0, [%f];\n" + r}),
      racy("mp_weak_flag_with_fences", {w + "fence.acq_rel.gpu;\nst.u32 [%f], 1;\n",
                                        "ld.u32 %r0, [%f];\nfence.acq_rel.gpu;\n" + r}),
      racy("mp_fence_behind_flag", {w + at_gpu(relaxed) + at_gpu(fence), at_gpu(acquired) + r}),
      racy("mp_fence_before_poll", {w + at_gpu(release), at_gpu(fence) + at_gpu(seen) + r}),
      racy("mp_writes_behind_release", {at_gpu(release) + w, at_gpu(acquired) + r}),
      racy("mp_reads_before_acquire", {w + at_gpu(release), r + at_gpu(acquired)}),
      racy("mp_other_flag", {w + at_gpu(release) + "st.relaxed.gpu.u32 [%g], 1;\n",
                             polls("ld.acquire.gpu.u32", "%g", 1) + r}),
      racy("mp_relaxed_reduction",
           {w + "red.relaxed.gpu.add.u32 [%f], 1;\n", at_gpu(acquired) + r}),
      {"mp_relaxed_swap",
       A::kRacy,
       kAnyPlace,
       kAnyMemory,
       {w + at_gpu(release),
        "{ AGAIN: atom.relaxed.gpu.cas.b32 %r9, [%f], 1, 2;\n"
        "setp.ne.u32 %p9, %r9, 1; @%p9 bra AGAIN; }\n" +
            r},
       false,
       "an atomic update counts as an acquire"},
      racy("release_is_overwritten",
           {w + at_gpu(release), at_gpu(seen) + "st.relaxed.gpu.u32 [%f], 2;\n",
            polls("ld.relaxed.gpu.u32", "%f", 2) + "ld.acquire.gpu.u32 %r0, [%f];\n" + r}),
      racy("wrc_without_release",
           {w + at_gpu(release), at_gpu(acquired) + "st.relaxed.gpu.u32 [%g], 1;\n",
            polls("ld.acquire.gpu.u32", "%g", 1) + r}),
      racy("wrc_without_acquire",
           {w + at_gpu(release), at_gpu(seen) + "st.release.gpu.u32 [%g], 1;\n",
            polls("ld.acquire.gpu.u32", "%g", 1) + r}),
      // --- One side's scope is too narrow ---
      {"mp_release_in_block",
       A::kInBlock,
       kAnyPlace,
       kAnyMemory,
       {w + "st.release.cta.u32 [%f], 1;\n", at_gpu(acquired) + r}},
      {"mp_acquire_in_block",
       A::kInBlock,
       kAnyPlace,
       kAnyMemory,
       {w + at_gpu(release), polls("ld.acquire.cta.u32", "%f", 1) + r}},
      {"mp_fence_in_block",
       A::kInBlock,
       kAnyPlace,
       kAnyMemory,
       {w + "fence.acq_rel.cta;\n" + at_gpu(relaxed), at_gpu(acquired) + r}},
      {"mp_release_in_cluster",
       A::kInCluster,
       kAnyPlace,
       kAnyMemory,
       {w + "st.release.cluster.u32 [%f], 1;\n", at_gpu(acquired) + r}},
      {"mp_fence_in_cluster",
       A::kInCluster,
       kAnyPlace,
       kAnyMemory,
       {w + at_gpu(release), at_gpu(seen) + "fence.acq_rel.cluster;\n" + r}},
  };
}

}  // namespace baton::litmus
