#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "pdl/chain.h"

// Programs with planted bugs and without, of kernels that a compiler made (testdata/corpus.cu). An
// unsafe program is never proven; a right one of plain structure is.

namespace baton::overlap {
namespace {

using Kind = Verdict::Kind;

const std::shared_ptr<const ptx::Module>& corpus() {
  static const auto kModule = [] {
    std::ifstream file(BATON_SOURCE_DIR "/src/pdl/testdata/corpus.ptx");
    std::ostringstream text;
    text << file.rdbuf();
    return ptx::Module::parse(text.str(), "corpus.ptx");
  }();
  return kModule;
}

// Launches of 4 blocks of 128 threads, each but the first early: "plain x y; weights_early w y z".
// A word is a buffer of one letter, with "+N" bytes into it, a number, or "{}", a struct. w is a
// weight.
class Reader {
 public:
  explicit Reader(std::string_view text) {
    std::istringstream launches{std::string(text)};
    for (std::string launch; std::getline(launches, launch, ';');) read(launch);
  }

  // The worst over all edges, and its sentence.
  std::pair<Kind, std::string> judge() {
    Chain chain([](MemoryId id) { return id == 'w'; });
    std::pair<Kind, std::string> worst = {Kind::kProven, ""};
    for (std::size_t k = 0; k < launches_.size(); ++k) {
      if (k > 0) {
        refine(launches_[k], arguments_[k], kBlock, kGrid);
        const Verdict verdict = chain.judge(launches_[k]);
        if (verdict.kind > worst.first) worst = {verdict.kind, sentence(k, verdict)};
      }
      chain.follow(launches_[k], k > 0);
    }
    return worst;
  }

 private:
  void read(const std::string& launch) {
    std::istringstream words(launch);
    std::string name;
    words >> name;
    const ptx::Function* kernel = corpus()->function(name);
    if (kernel == nullptr) throw std::runtime_error("no kernel " + name);
    std::vector<GivenArgument>& arguments = arguments_.emplace_back();
    for (std::string word; words >> word;) arguments.push_back(argument(word));
    EXPECT_EQ(arguments.size(), kernel->params.size()) << launch;
    const Footprint& footprint =
        footprints_.emplace_back(read_footprint(corpus(), *kernel, kBlock));
    BoundLaunch& bound = launches_.emplace_back(overlap::bind(
        footprint, arguments, kBlock, kGrid,
        [](const Root& root) { return 1000 + static_cast<MemoryId>(root.variable[0]); }));
    bound.number = static_cast<std::uint32_t>(launches_.size() - 1);
  }

  static GivenArgument argument(const std::string& word) {
    GivenArgument out;
    if (word == "{}") {
      out.kind = GivenArgument::Kind::kScalar;
    } else if (std::isalpha(static_cast<unsigned char>(word[0])) != 0) {
      out.kind = GivenArgument::Kind::kMemory;
      out.memory = static_cast<MemoryId>(word[0]);
      out.offset = word.size() > 1 ? std::strtoull(word.c_str() + 1, nullptr, 10) : 0;
    } else {
      out.kind = GivenArgument::Kind::kScalar;
      out.bits = std::strtoull(word.c_str(), nullptr, 10);
    }
    return out;
  }

  std::string sentence(std::size_t k, const Verdict& verdict) const {
    return describe(
        verdict, *launches_[k].footprint,
        [](MemoryId id) { return std::string(1, static_cast<char>(id % 1000)); },
        [](const Footprint& footprint) { return footprint.kernel; });
  }

  static constexpr std::array<std::uint32_t, 3> kBlock = {128, 1, 1}, kGrid = {4, 1, 1};
  std::deque<Footprint> footprints_;
  std::vector<std::vector<GivenArgument>> arguments_;
  std::vector<BoundLaunch> launches_;
};

class Right : public testing::TestWithParam<const char*> {};
class Wrong : public testing::TestWithParam<const char*> {};
class Doubtful : public testing::TestWithParam<const char*> {};

std::string word(Kind kind) {
  return kind == Kind::kProven ? "proven" : kind == Kind::kUnsafe ? "unsafe" : "unknown";
}

TEST_P(Right, IsProven) {
  const auto [kind, sentence] = Reader(GetParam()).judge();
  EXPECT_EQ(word(kind), "proven") << sentence;
}
TEST_P(Wrong, HasAWitness) {
  const auto [kind, sentence] = Reader(GetParam()).judge();
  EXPECT_EQ(word(kind), "unsafe") << sentence;
}
TEST_P(Doubtful, IsNotProven) {
  const auto [kind, sentence] = Reader(GetParam()).judge();
  EXPECT_EQ(word(kind), "unknown") << sentence;
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Corpus, Right, testing::Values(
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
    // What nobody writes may be read early.
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
    // Nor is there anything about what nobody else touches.
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
    "plain x y; ticket_early y z"));

INSTANTIATE_TEST_SUITE_P(Corpus, Wrong, testing::Values(
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
    "plain x y; selects_early x y z 1",
    "plain x y; array_read_early x y z 1",
    "plain x y; distance_read_early x y z",
    "plain x y; copies_early y z",
    "plain x y; bulk_copies_early y z",
    "plain x y; prefetches_to_l1 y z",
    "plain x y; one_branch y z 0",
    "plain x p; reads_shape_early p z",
    "plain x f; polls_flag f x z",
    "sets_module_bias x; bias_early y z",
    "takes_ticket x y; ticket_early z q",
    // No wait at all, or none for some.
    "plain x y; never_waits y z",
    "never_waits x y; never_waits y z",
    "plain x y; other_warps_do_not_wait y z",
    "plain x y; odd_threads_wait y z",
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
    "counts_early c; counts_early c",
    "sets_up_shared x c 512; counts_early c",
    "reduces_early s; reduces_early s",
    "plain x s; reduces_early s",
    "plain s y; reduces_early s",
    "plain x y; never_waits q x",
    "plain x y; never_waits q y",
    // One memory under two names.
    "plain x y; weights_early y y z",
    "plain x y; weights_early x x x; weights_early x q z",
    "plain x y; selects_early y y z 0",
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
    "bias_early x y; sets_module_bias y; bias_early x y"));

INSTANTIATE_TEST_SUITE_P(Corpus, Doubtful, testing::Values(
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
    "plain x y; all_but_one_wait y z 77",
    // Right, and not shown to be.
    "plain x y; leader_of_some y z 1",
    "plain x y; plain q z; prefetches_to_l1 y x"));
// clang-format on

}  // namespace
}  // namespace baton::overlap
