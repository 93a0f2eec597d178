#pragma once

#include <sstream>
#include <string>
#include <vector>

// Programs with planted bugs and without, of the kernels of corpus.cu. An unsafe one is never
// proven; a right one of plain structure is.
//
// Launches of 4 blocks of 128 threads, each but the first early: "plain x y; weights_early w y z".
// A word is a buffer of one letter, with "+N" bytes into it, a number, or "{}", a struct. w is a
// weight.

namespace baton::overlap {

// clang-format off
inline constexpr const char* kRight[] = {
    // Kernels that wait first, in every order of buffers.
    "plain x y; plain y z",
    "plain x y; plain y x",
    "plain x y; plain y y",
    "plain x y; plain x y",
    "plain x y; plain y z; plain z x; plain x y",
    "plain x y; index_first y z 500",
    "index_first x y 0; index_first y z 0; plain z x",
    "plain x y; strides y z 512",
    "strides x y 512; strides y x 512",
    "plain x y; walks y z 512",
    "plain x y; wide_strides y z 128 1",
    "plain x y; vectors y z",
    "vectors x y; vectors y x; vectors x y",
    "plain x y; planes y z 128",
    "plain x y; waits_twice y z",
    "plain x y; waits_in_both y z 0",
    "plain x y; waits_in_both y z 1",
    "plain x y; calls y z",
    "plain x y; waits_if y z 1",
    "plain x y; takes_struct y z {}",
    "plain x y; selects x y z 1",
    "plain x y; picks_from_array x y z 0",
    "plain x y; plain y+512 z",
    // What no launch writes may be read early.
    "plain x y; weights_early w y z",
    "plain x y; weights_early 0 y z",  // no buffer
    "weights_early w x y; weights_early w y x; weights_early w x y",
    "plain x y; weights_early q y z",
    "plain x y; weights_non_coherent w y z",
    "plain x y; matvec w y z 256",
    "rms_norm w x y 512; matvec w y z 512; plain z x; matvec w x y 512",
    "plain x y; rms_norm w y z 512",
    "plain x y; filters y z",
    "filters x y; filters y z",
    "plain x y; copies_early w z",
    "plain x y; bulk_copies_early w z",
    "plain x y; reads_early w z",
    "plain x y; one_role_reads_early y w z",
    // Nor is there anything about what no other launch touches.
    "plain x y; writes_early y z",
    "plain x y; counts_early c",
    "plain x y; reduces_early s",
    "plain x y; stores_vector_early z",
    "plain x y; prefetches y z",
    "plain x y; waits_then_ends; plain y z",
    // Other threads wait.
    "plain x y; leader_waits y z",
    "leader_waits x y; leader_waits y x; leader_waits x y",
    "plain x y; warp_waits y z",
    "plain x y; last_warp_waits y z",
    "plain x y; specialised w y z",
    "specialised w x y; specialised w y z; specialised w z x",
    "plain x y; role_from_reused_register y z",
    "plain x y; sets_up_shared y c 512",
    "sets_up_shared x c 512; sets_up_shared y c 512",
    "plain x y; copies_to_shared y z",
    "copies_to_shared x y; copies_to_shared y x",
    // Some blocks or threads end before the wait.
    "plain x y; returns_early y z 1",
    "plain x y; returns_early y z 400; plain z x",
    "plain x y; blocks_return y z 2",
    // The launch's own numbers make all wait.
    "plain x y; guard_is_of_threads y z 512",
    "plain x y; rows_wait y z 8 64",
    "plain x y; rows_wait y z 9 60",
    "plain x y; long_index_waits y z 512",
    "plain x y; all_but_one_wait y z 512",
    "plain x y; sign_decides y z 4294967295",
    "plain x y; sign_decides y z 4294967296",
    "plain x y; selects_early x y z 1",
    // Triggers.
    "triggers_after_loads x y; triggers_after_loads y x; triggers_after_loads x y",
    "triggers_first x y; triggers_first y x; triggers_first x y; triggers_first y z",
    "triggers_last x y; triggers_last y x",
    "triggers_first x y; weights_early w y z; triggers_first z x",
    "triggers_after_loads x y; matvec w y z 64; triggers_after_loads z x",
    // Variables of the module.
    "sets_module_bias x; adds_module_bias y z",
    "adds_module_bias x y; sets_module_bias y",
    "takes_ticket x y; takes_ticket y z",
    "plain x y; bias_early y z",
    "plain x y; ticket_early y z"
};

inline constexpr const char* kWrong[] = {
    // Read before the wait.
    "plain x y; reads_early y z",
    "matvec w x y 64; reads_early y z",
    "specialised w x y; reads_early y z",
    "triggers_after_loads x y; reads_early y z",
    "plain x y; plain y z; reads_early z x",
    "plain x y; weights_early y x z",
    "plain x y; weights_non_coherent y y z",
    "plain x w; weights_early w x z",
    "plain x y; matvec y x z 64",
    "plain x y; rms_norm y x z 64",
    "plain x y; pipelined y z 8",
    "plain x y; function_reads_early y z",
    "plain x y; distance_read_early x y z",
    "plain x y; copies_early y z",
    "plain x y; bulk_copies_early y z",
    "plain x y; one_branch y z 0",
    "plain x p; reads_shape_early p z",
    "plain x f; polls_flag f x z",
    "sets_module_bias x; bias_early y z",
    // No wait at all, or none for some.
    "plain x y; never_waits y z",
    "never_waits x y; never_waits y z",
    "plain x y; other_warps_do_not_wait y z",
    "plain x y; odd_threads_wait y z",
    "plain x y; role_behind_a_guard y z",
    "plain x y; barrier_comes_first y z",
    "plain x y; waits_if y z 0",
    "plain x y; loop_may_not_run y z 0",
    "plain x y; one_role_reads_early x y z",
    "plain x y; partial_barrier y z",
    "plain x y; guard_is_of_threads y z 0",
    "plain x y; guard_is_of_threads y z 511",
    "plain x y; rows_wait y z 7 64",
    "plain x y; long_index_waits y z 500",
    "plain x y; all_but_one_wait y z 0",
    "plain x y; all_but_one_wait y z 511",
    "plain x y; specialised y x z",
    // Written before the wait: what an earlier one reads, or writes.
    "plain x y; writes_early q x",
    "plain x y; writes_early q y",
    "matvec w x y 64; writes_early q x",
    "plain x y; stores_vector_early x",
    "plain x y; stores_vector_early y",
    "plain x s; reduces_early s",
    "plain s y; reduces_early s",
    "plain x y; never_waits q x",
    "plain x y; never_waits q y",
    // One memory under two names.
    "plain x y; weights_early y y z",
    "plain x y; weights_early x x x; weights_early x q z",
    "plain x y; selects_early y y z 0",
    "plain x y; selects_early x y z 0",
    "plain x y; role_behind_a_loop y z",
    "plain x y; all_but_one_wait y z 77",
    "plain x y; sign_decides y z 5",
    "plain x y; sign_decides y z 8589934591",
    "plain x x; reads_early x z",
    // A middle kernel that lets earlier ones run on.
    "plain x y; empty; plain y z",
    "plain x y; triggers_never_waits; plain y z",
    "plain x y; empty; plain q x",
    "plain x y; empty; plain q y",
    "plain x y; plain q z; empty; plain z x",
    "plain x y; empty; plain q z; plain y x",
    "plain x y; triggers_first q z; reads_early y x",
    "plain x y; triggers_first q z; triggers_first z q; weights_early y q z",
    "plain x y; triggers_first q z; writes_early q y",
    "plain x y; triggers_first q z; writes_early q x",
    "plain x y; waits_in_both q z 1; reads_early y x",
    // After a round.
    "reads_early y x; plain x y; reads_early y x",
    "weights_early y x z; plain z y; weights_early y x z",
    "writes_early x y; writes_early y x",
    "bias_early x y; sets_module_bias y; bias_early x y"
};

inline constexpr const char* kDoubtful[] = {
    // Wrong, and not shown to be.
    "plain x y; non_coherent y z",
    "plain x y; plain q z; reads_early y x",
    "plain x y; reads_early y+512 z",
    "plain x y+512; reads_early y z",
    "plain x y+512; writes_early q y",
    "plain x y; reads_shape_early p z",
    "plain x y; returns_early y z 0; plain y x",
    "plain x y; blocks_return y z 0; plain y x",
    "plain x y; leader_of_some y z 0",
    "plain x f; polls_flag g f z",
    "plain x y; array_read_early x y z 1",
    "plain x y; prefetches_to_l1 y z",
    // Atomically, on both sides: nothing is lost, and who comes first may matter or not.
    "counts_early c; counts_early c",
    "sets_up_shared x c 512; counts_early c",
    "reduces_early s; reduces_early s",
    "takes_ticket x y; ticket_early z q",
    // Right, and not shown to be.
    "plain x y; leader_of_some y z 1",
    "plain x y; first_turn_waits y z",
    "plain x y; plain q z; prefetches_to_l1 y x"
};
// clang-format on

struct CorpusLaunch {
  std::string kernel;
  std::vector<std::string> words;
};

inline std::vector<CorpusLaunch> corpus_launches(const std::string& line) {
  std::vector<CorpusLaunch> launches;
  std::istringstream parts(line);
  for (std::string part; std::getline(parts, part, ';');) {
    std::istringstream words(part);
    CorpusLaunch& launch = launches.emplace_back();
    words >> launch.kernel;
    for (std::string word; words >> word;) launch.words.push_back(word);
  }
  return launches;
}

}  // namespace baton::overlap
