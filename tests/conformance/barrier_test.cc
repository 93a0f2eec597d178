#include <numeric>

#include "conformance/conformance.h"

namespace baton::conformance::barrier_test {
namespace {

using Barriers = Conformance;

TEST_F(Barriers, OrderATreeReduction) {
  const Kernel kernel = load("barriers.cu").kernel("tree_sum");
  for (unsigned block : {1u, 2u, 32u, 64u, 256u, 1024u}) {
    std::vector<int> in(block * 6), want(6);
    for (unsigned i = 0; i < in.size(); ++i) {
      in[i] = static_cast<int>(i * 37 % 101) - 50;
      want[i / block] += in[i];
    }
    const Buffer<int> out(device(), 6);
    kernel.launch({.grid = 6, .block = block}, out, Buffer<int>::of(device(), in));
    EXPECT_EQ(out.download(), want) << block;
  }
}

TEST_F(Barriers, CountAndVote) {
  const Kernel kernel = load("barriers.cu").kernel("voting_barriers");
  for (int set : {0, 1, 50, 127, 128}) {
    std::vector<int> flags(128);
    for (int i = 0; i < set; ++i) flags[i * 77 % 128] = 3;
    const Buffer<int> out(device(), 3 * 128);
    kernel.launch({.block = 128}, out, Buffer<int>::of(device(), flags));
    const auto got = out.download();
    for (int i = 0; i < 128; ++i) {
      EXPECT_EQ(got[3 * i], set);
      EXPECT_EQ(got[3 * i + 1], set == 128 ? 1 : 0);
      EXPECT_EQ(got[3 * i + 2], set > 0 ? 1 : 0);
    }
  }
}

TEST_F(Barriers, DoNotWaitForExitedWarps) {
  const auto out = Buffer<int>::of(device(), std::vector<int>(128));
  load("barriers.cu").kernel("early_exit").launch({.block = 128}, out);
  const auto got = out.download();
  for (int i = 0; i < 128; ++i) EXPECT_EQ(got[i], i < 96 ? 42 : 0) << i;
}

TEST_F(Barriers, WithNamesPairProducersAndConsumers) {
  const Buffer<int> out(device(), 64);
  load("barriers.cu").kernel("producer_consumer").launch({.block = 128}, out);
  const auto got = out.download();
  for (int t = 0; t < 64; ++t) EXPECT_EQ(got[t], 100 * 120 + 16 * (63 - t)) << t;
}

TEST_F(Barriers, WithNamesServeGroupsOfWarps) {
  const Buffer<int> out(device(), 128);
  load("barriers.cu").kernel("groups").launch({.block = 128}, out);
  const auto got = out.download();
  for (int i = 0; i < 128; ++i) {
    const int rounds = i < 64 ? 5 : 11;
    EXPECT_EQ(got[i], (i % 64 + rounds) % 64 + rounds) << i;
  }
}

TEST_F(Barriers, MayStandInUniformBranches) {
  const Buffer<int> out(device(), 2);
  load("barriers.cu").kernel("uniform_branch").launch({.grid = 2, .block = 96}, out, 5);
  int want[2] = {0, 0};
  for (int block = 0; block < 2; ++block) {
    for (int round = 0; round < 5; ++round) {
      want[block] = (round + block) % 2 == 0 ? want[block] + 96 : want[block] * 2;
    }
  }
  EXPECT_EQ(out.download(), (std::vector<int>{want[0], want[1]}));
}

TEST_F(Barriers, OrderManySweeps) {
  constexpr int kSweeps = 50;
  std::vector<float> data(512);
  for (int i = 0; i < 512; ++i) data[i] = static_cast<float>(i * 31 % 97);
  std::vector<float> want = data;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    std::vector<float> next(512);
    for (int i = 0; i < 512; ++i) {
      const float left = i % 256 != 0 ? want[i - 1] : 0.0f;
      const float right = i % 256 != 255 ? want[i + 1] : 0.0f;
      next[i] = 0.25f * left + 0.5f * want[i] + 0.25f * right;
    }
    want = next;
  }
  const auto buffer = Buffer<float>::of(device(), data);
  load("barriers.cu").kernel("smooth").launch({.grid = 2, .block = 256}, buffer, kSweeps);
  const auto got = buffer.download();
  // Products by powers of two are exact, so contraction to fma rounds alike but for the sums.
  for (int i = 0; i < 512; ++i) EXPECT_NEAR(got[i], want[i], 1e-4f * 97) << i;
}

}  // namespace
}  // namespace baton::conformance::barrier_test
