// Asynchronous copies, in the generic and in the async proxy, and non-coherent loads.

#include "litmus.h"

namespace baton::litmus {

std::vector<Litmus> proxy_litmus() {
  using A = Answer;
  constexpr Set kOne = set_of(Place::kOne), kWarps = set_of(Place::kWarps);
  constexpr Set kSharedOnly = set_of(Memory::kShared), kGlobalOnly = set_of(Memory::kGlobal);
  const std::string w = kWrites, r = kReads, sync = "bar.sync 0;\n";
  const auto own = [](std::string text) {  // each instruction in the first lane only
    std::string made = "@%own ";
    for (std::size_t at = 0; at < text.size(); ++at) {
      made += text[at];
      if (text[at] == '\n' && at + 1 < text.size()) made += "@%own ";
    }
    return made;
  };
  const std::string copy = "cp.async.ca.shared.global [%sx], [%from], 4;\n";
  const std::string copy_y = "cp.async.ca.shared.global [%sx+32], [%from], 4;\n";
  const std::string commit = "cp.async.commit_group;\n";
  const std::string expect = "mbarrier.arrive.expect_tx.shared::cta.b64 %d0, [%sm], 16;\n";
  const std::string load =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%sx], [%from], 16, "
      "[%sm];\n";
  const std::string wait =
      "{ AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p9, [%sm], 0; @!%p9 bra AGAIN; }\n";
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group [%to], [%sx], 16;\n";
  const std::string store_done = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
  const std::string store_read = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n";
  const std::string proxy = "fence.proxy.async;\n";
  constexpr const char* kOverwrites =
      "a copy that overwrites needs a proxy fence by the model alone";
  // Of data in global memory.
  const std::string copy_x = "cp.async.ca.shared.global [%sx], [%x], 4;\n";
  const std::string discard = "discard.L2 [%x], 128;\n";
  const std::string load_x =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%sx], [%x], 16, "
      "[%sm];\n";
  const std::string store_x = "cp.async.bulk.global.shared::cta.bulk_group [%x], [%sx], 16;\n";
  const auto shared = [=](const char* name, A answer, Set places, std::vector<std::string> threads,
                          bool by_warps = false, const char* unseen = nullptr) {
    return Litmus{name, answer, places, kSharedOnly, std::move(threads), by_warps, unseen};
  };
  const auto global = [=](const char* name, A answer, Set places, std::vector<std::string> threads,
                          const char* unseen = nullptr) {
    const bool by_warps = (places & kOne) == 0;
    return Litmus{name, answer, places, kGlobalOnly, std::move(threads), by_warps, unseen};
  };
  return {
      // --- cp.async: of the generic proxy ---
      shared("copy_waited_for", A::kOrdered, kOne, {copy + "cp.async.wait_all;\n" + r}),
      shared("copy_unwaited", A::kRacy, kOne, {copy + r}),
      shared("copy_group_waited_for", A::kOrdered, kOne,
             {copy + commit + copy_y + commit + "cp.async.wait_group 1;\n" + r}),
      shared("copy_group_too_late", A::kRacy, kOne,
             {copy_y + commit + copy + commit + "cp.async.wait_group 1;\n" + r}),
      shared("copy_behind_write", A::kOrdered, kOne,
             {"st.u32 [%x], 1;\n" + copy + "cp.async.wait_all;\n" + r}),
      shared("copy_overwritten", A::kRacy, kOne, {copy + w}),
      shared("copy_for_other_warp", A::kOrdered, kWarps,
             {own(copy + "cp.async.wait_all;\n") + sync, sync + own(r)}, true),
      shared("copy_for_other_warp_unwaited", A::kRacy, kWarps, {own(copy) + sync, sync + own(r)},
             true),
      shared("copy_arrives", A::kOrdered, kWarps,
             {copy + "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%sm];\n", wait + r}),
      shared("copy_arrives_without_it", A::kRacy, kWarps,
             {copy + "mbarrier.arrive.shared::cta.b64 %d0, [%sm];\n", wait + r}),
      // --- Bulk copies into shared memory ---
      shared("bulk_load", A::kOrdered, kOne, {expect + load + wait + r}),
      shared("bulk_load_unwaited", A::kRacy, kOne, {expect + load + r}),
      shared("bulk_load_for_other_warp", A::kOrdered, kWarps, {expect + load, wait + r}),
      shared("bulk_load_for_other_warp_unwaited", A::kRacy, kWarps,
             {expect + load + wait, "nanosleep.u32 100;\n" + r}),
      shared("bulk_load_expects_nothing", A::kRacy, kOne,
             {"mbarrier.arrive.shared::cta.b64 %d0, [%sm];\n" + load + wait + r}),
      shared("bulk_load_behind_read", A::kOrdered, kOne,
             {"ld.u32 %r0, [%x];\n" + proxy + expect + load + wait + r}),
      shared("bulk_load_behind_write", A::kOrdered, kOne,
             {"st.u32 [%x], 1;\n" + proxy + expect + load + wait + r}),
      shared("bulk_load_behind_write_unfenced", A::kRacy, kOne,
             {"st.u32 [%x], 1;\n" + expect + load + wait + r}, false, kOverwrites),
      shared("bulk_load_behind_read_unfenced", A::kRacy, kOne,
             {"ld.u32 %r0, [%x];\n" + expect + load + wait + r}, false, kOverwrites),
      shared("bulk_load_behind_write_of_other_warp_unfenced", A::kRacy, kWarps,
             {own("st.u32 [%x], 1;\n") + sync, sync + own(expect + load) + wait}, true,
             kOverwrites),
      shared("bulk_load_behind_write_of_other_warp", A::kOrdered, kWarps,
             {own("st.u32 [%x], 1;\n" + proxy) + sync, sync + own(expect + load) + wait}, true),
      shared("bulk_load_under_write", A::kRacy, kOne, {expect + load + "st.u32 [%x], 1;\n" + wait}),
      shared("bulk_loads_overlap", A::kRacy, kOne,
             {"mbarrier.arrive.expect_tx.shared::cta.b64 %d0, [%sm], 32;\n" + load + load + wait}),
      // --- Bulk copies out of shared memory ---
      shared("bulk_store", A::kOrdered, kOne, {w + proxy + store + store_done}),
      shared("bulk_store_unfenced", A::kRacy, kOne, {w + store + store_done}),
      shared("bulk_store_fenced_too_early", A::kRacy, kOne, {proxy + w + store + store_done}),
      shared("bulk_store_by_other_warp", A::kOrdered, kWarps,
             {own(w + proxy) + sync, sync + own(store + store_done)}, true),
      shared("bulk_store_by_other_warp_fenced_there", A::kOrdered, kWarps,
             {own(w) + sync, sync + own(proxy + store + store_done)}, true),
      shared("bulk_store_by_other_warp_unfenced", A::kRacy, kWarps,
             {own(w) + sync, sync + own(store + store_done)}, true),
      shared("bulk_store_by_other_warp_fenced_before", A::kRacy, kWarps,
             {own(w) + sync, own(proxy) + sync + own(store + store_done)}, true),
      shared("bulk_store_overwritten", A::kRacy, kOne,
             {w + proxy + store + "st.u32 [%x], 1;\n" + store_done}),
      shared("bulk_store_overwritten_behind_its_read", A::kOrdered, kOne,
             {w + proxy + store + store_read + "st.u32 [%x], 1;\n"}),
      // --- Global memory ---
      global("copy_source_overwritten", A::kRacy, kOne, {copy_x + w}),
      global("copy_source_overwritten_behind_wait", A::kOrdered, kOne,
             {copy_x + "cp.async.wait_all;\n" + w + r}),
      global("copy_source_overwritten_by_other_warp", A::kRacy, kWarps,
             {own(copy_x) + sync, sync + own(w)}),
      global("copy_source_overwritten_by_other_warp_behind_wait", A::kOrdered, kWarps,
             {own(copy_x + "cp.async.wait_all;\n") + sync, sync + own(w)}),
      global(
          "copy_source_overwritten_behind_copies", A::kOrdered, kWarps,
          {own(copy_x + "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%sm];\n"), wait + own(w)}),
      global("copy_source_overwritten_behind_arrival", A::kRacy, kWarps,
             {own(copy_x + "mbarrier.arrive.shared::cta.b64 %d0, [%sm];\n"), wait + own(w)}),
      global("discard_then_written", A::kOrdered, kOne, {discard + w + r}),
      global("discard_behind_read", A::kOrdered, kWarps,
             {own("ld.u32 %r0, [%x];\n") + sync, sync + own(discard + w + r)}),
      global("discard_beside_read", A::kRacy, kApart, {own("ld.u32 %r0, [%x];\n"), own(discard)}),
      global("discard_beside_write", A::kRacy, kApart, {own(w), own(discard)}),
      global("bulk_load_of_written", A::kOrdered, kOne, {w + proxy + expect + load_x + wait}),
      global("bulk_load_of_written_unfenced", A::kRacy, kOne, {w + expect + load_x + wait}),
      global("bulk_load_of_other_warps", A::kOrdered, kWarps,
             {own(w + proxy) + sync, sync + own(expect + load_x) + wait}),
      global("bulk_load_of_other_warps_unfenced", A::kRacy, kWarps,
             {own(w) + sync, sync + own(expect + load_x) + wait}),
      global("bulk_load_of_other_blocks", A::kOrdered, set_of(Place::kBlocks, Place::kClusters),
             {own(w + proxy + "st.release.gpu.u32 [%f], 1;\n"),
              polls("ld.acquire.gpu.u32", "%f", 1) + proxy + own(expect + load_x) + wait}),
      global("bulk_load_of_other_blocks_fenced_there", A::kOrdered,
             set_of(Place::kBlocks, Place::kClusters),
             {own(w + proxy + "st.release.gpu.u32 [%f], 1;\n"),
              polls("ld.acquire.gpu.u32", "%f", 1) + own(expect + load_x) + wait}),
      global("bulk_load_of_other_blocks_fenced_here", A::kOrdered,
             set_of(Place::kBlocks, Place::kClusters),
             {own(w + "st.release.gpu.u32 [%f], 1;\n"),
              polls("ld.acquire.gpu.u32", "%f", 1) + proxy + own(expect + load_x) + wait}),
      global("bulk_load_of_other_blocks_unfenced", A::kRacy,
             set_of(Place::kBlocks, Place::kClusters),
             {own(w + "st.release.gpu.u32 [%f], 1;\n"),
              polls("ld.acquire.gpu.u32", "%f", 1) + own(expect + load_x) + wait}),
      global("bulk_load_of_other_blocks_fenced_too_early", A::kRacy,
             set_of(Place::kBlocks, Place::kClusters),
             {own(proxy + w + "st.release.gpu.u32 [%f], 1;\n"),
              proxy + polls("ld.acquire.gpu.u32", "%f", 1) + own(expect + load_x) + wait}),
      global("bulk_load_of_other_blocks_unordered", A::kRacy,
             set_of(Place::kBlocks, Place::kClusters), {own(w), own(expect + load_x) + wait}),
      global("bulk_store_behind_write", A::kOrdered, kOne,
             {own(w + "st.shared.v4.u32 [%sx], {7, 7, 7, 7};\n" + proxy + store_x + store_done)}),
      global("bulk_store_behind_write_unfenced", A::kRacy, kOne,
             {own("st.shared.v4.u32 [%sx], {7, 7, 7, 7};\n" + proxy + w + store_x + store_done)},
             kOverwrites),
      global("bulk_store_behind_read_unfenced", A::kRacy, kOne,
             {own("st.shared.v4.u32 [%sx], {7, 7, 7, 7};\n" + proxy + r + store_x + store_done)},
             kOverwrites),
      global("bulk_store_behind_reads_fenced_for_one", A::kRacy, kWarps,
             {own("st.shared.v4.u32 [%sx], {7, 7, 7, 7};\n" + r + proxy) + sync +
                  own(store_x + store_done),
              own("ld.u32 %r0, [%x];\n") + sync},
             kOverwrites),
      global("bulk_store_then_read", A::kOrdered, kOne,
             {own("st.shared.v4.u32 [%sx], {7, 7, 7, 7};\n" + proxy + store_x + store_done + r)}),
      global("bulk_store_read_too_early", A::kRacy, kOne,
             {own("st.shared.v4.u32 [%sx], {7, 7, 7, 7};\n" + proxy + store_x + store_read + r)}),
      global("noncoherent_load_of_written", A::kRacy, kWarps,
             {own(w) + sync, sync + "@%own cvta.to.global.u64 %d1, %x;\n" +
                                 "@%own ld.global.nc.u32 %v, [%d1];\n"}),
      global("noncoherent_load_of_own_write", A::kRacy, kOne,
             {w + "cvta.to.global.u64 %d1, %x;\nld.global.nc.u32 %v, [%d1];\n"}),
      global("bulk_load_then_overwritten_too_early", A::kRacy, kOne, {expect + load_x + w + wait}),
      global("bulk_load_then_overwritten", A::kOrdered, kOne, {expect + load_x + wait + w}),
      global("bulk_load_then_overwritten_by_other_warp", A::kOrdered, kWarps,
             {own(expect + load_x), wait + own(w)}),
      global("bulk_store_then_read_by_other_warp", A::kOrdered, kWarps,
             {own("st.shared.v4.u32 [%sx], {7, 7, 7, 7};\n" + proxy + store_x + store_done) + sync,
              sync + own(r)}),
      global("bulk_store_read_too_early_by_other_warp", A::kRacy, kWarps,
             {own("st.shared.v4.u32 [%sx], {7, 7, 7, 7};\n" + proxy + store_x + store_read) + sync,
              sync + own(r)}),
      global("noncoherent_load", A::kOrdered, kWarps,
             {sync, sync + "@%own cvta.to.global.u64 %d1, %from;\n" +
                        "@%own ld.global.nc.u8 %v, [%d1];\n"}),
  };
}

}  // namespace baton::litmus
