#include <algorithm>
#include <numeric>

#include "conformance/conformance.h"

namespace baton::conformance::asynchronous_test {
namespace {

constexpr unsigned kTile = 128;

class Asynchronous : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (IsSkipped()) return;
    if (device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  }

  // The source is large: it is compiled once for all tests.
  Kernel kernel(std::string_view name) const { return load("asynchronous.cu").kernel(name); }

  static std::vector<int> numbers(unsigned count) {
    std::vector<int> values(count);
    for (unsigned i = 0; i < count; ++i) values[i] = static_cast<int>(i * i % 1009);
    return values;
  }
};

TEST_F(Asynchronous, PipelineOfAThread) {
  constexpr unsigned kTiles = 7;
  const auto in = numbers(kTiles * kTile);
  const Buffer<int> out(device(), kTile);
  kernel("thread_pipeline").launch({.block = kTile}, out, Buffer<int>::of(device(), in), kTiles);
  const auto got = out.download();
  for (unsigned t = 0; t < kTile; ++t) {
    unsigned sum = 0;
    for (unsigned tile = 0; tile < kTiles; ++tile) {
      sum = sum * 3 + static_cast<unsigned>(in[tile * kTile + t]);
    }
    EXPECT_EQ(got[t], static_cast<int>(sum)) << t;
  }
}

TEST_F(Asynchronous, PipelineOfABlock) {
  constexpr unsigned kTiles = 6, kConsumers = kTile - 32;
  const auto in = numbers(kTiles * kTile);
  const Buffer<int> out(device(), kTile);
  kernel("block_pipeline").launch({.block = kTile}, out, Buffer<int>::of(device(), in), kTiles);
  const auto got = out.download();
  for (unsigned t = 32; t < kTile; ++t) {
    unsigned sum = 0;
    for (unsigned tile = 0; tile < kTiles; ++tile) {
      for (unsigned i = t - 32; i < kTile; i += kConsumers) {
        sum = sum * 3 + static_cast<unsigned>(in[tile * kTile + i]);
      }
    }
    EXPECT_EQ(got[t], static_cast<int>(sum)) << t;
  }
}

TEST_F(Asynchronous, BarrierOfABlock) {
  const Buffer<int> out(device(), kTile);
  kernel("split_barrier").launch({.block = kTile}, out);
  const auto got = out.download();
  for (unsigned t = 0; t < kTile; ++t) {
    int sum = 0;
    for (int round = 0; round < (t == 7 ? 2 : 5); ++round) {
      const auto next = static_cast<int>((t + 1) % kTile);
      // The thread that dropped out wrote its word of that round before, and none later.
      sum += 1 + (next == 7 ? std::min(round, 2) : round) * 1000 + next;
    }
    EXPECT_EQ(got[t], sum) << t;
  }
}

TEST_F(Asynchronous, CopiesOfABlock) {
  const auto in = numbers(2 * kTile);
  const Buffer<int> out(device(), kTile);
  kernel("block_copies").launch({.block = kTile}, out, Buffer<int>::of(device(), in));
  const auto got = out.download();
  for (unsigned t = 0; t < kTile; ++t) {
    EXPECT_EQ(got[t], 2 * in[kTile - 1 - t] + in[2 * kTile - 1 - t]) << t;
  }
}

TEST_F(Asynchronous, CopiesInBulk) {
  const auto in = numbers(kTile);
  const Buffer<int> out(device(), kTile);
  kernel("bulk_copies").launch({.block = kTile}, out, Buffer<int>::of(device(), in));
  const auto got = out.download();
  for (unsigned t = 0; t < kTile; ++t) EXPECT_EQ(got[t], in[t] + static_cast<int>(t)) << t;
}

constexpr unsigned kRanks = 4, kPart = 32, kClusters = 3;

TEST_F(Asynchronous, OneCopyToManyBlocksOfACluster) {
  constexpr unsigned kThreads = kRanks * kPart;
  const auto in = numbers(kClusters * kThreads);
  const Buffer<int> out(device(), kRanks * in.size());
  kernel("multicast")
      .launch({.grid = kClusters * kRanks, .block = kThreads}, out, Buffer<int>::of(device(), in));
  const auto got = out.download();
  for (unsigned i = 0; i < got.size(); ++i) {
    const unsigned cluster = i / kThreads / kRanks, rank = i / kThreads % kRanks;
    const unsigned thread = i % kThreads;
    const bool left_out = rank == (thread / kPart + 1) % kRanks;
    EXPECT_EQ(got[i], left_out ? -1 : in[cluster * kThreads + thread])
        << "block " << i / kThreads << " thread " << thread;
  }
}

TEST_F(Asynchronous, StoresAndReductionsBetweenBlocks) {
  const auto in = numbers(kClusters * kRanks * kPart);
  const Buffer<int> out(device(), 2 * in.size());
  kernel("send").launch({.grid = kClusters * kRanks, .block = kPart}, out,
                        Buffer<int>::of(device(), in));
  const auto got = out.download();
  for (unsigned i = 0; i < in.size(); ++i) {
    const unsigned block = i / kPart, rank = block % kRanks, first = block - rank;
    const unsigned thread = i % kPart;
    EXPECT_EQ(got[2 * i], in[(first + (rank + kRanks - 1) % kRanks) * kPart + thread]) << i;
    int sum = 0;
    for (unsigned other = 0; other < kRanks && rank == 0; ++other) {
      sum += in[(first + other) * kPart + thread] + static_cast<int>(other);
    }
    EXPECT_EQ(got[2 * i + 1], sum) << i;
  }
}

TEST_F(Asynchronous, TilesOfSeveralWarps) {
  const auto in = numbers(kTile);
  const Buffer<int> out(device(), kTile);
  kernel("large_tiles").launch({.block = kTile}, out, Buffer<int>::of(device(), in));
  const auto got = out.download();
  for (unsigned t = 0; t < kTile; ++t) {
    const auto first = in.begin() + t / 64 * 64;
    EXPECT_EQ(got[t], std::accumulate(first, first + 64, 0)) << t;
  }
}

TEST_F(Asynchronous, GroupsByALabel) {
  const auto in = numbers(kTile);
  const Buffer<int> out(device(), kTile);
  kernel("labeled_groups").launch({.block = kTile}, out, Buffer<int>::of(device(), in));
  const auto got = out.download();
  for (unsigned t = 0; t < kTile; ++t) {
    int greatest = 0;
    for (unsigned other = t / 32 * 32; other < t / 32 * 32 + 32; ++other) {
      if (in[other] % 3 == in[t] % 3) greatest = std::max(greatest, in[other]);
    }
    EXPECT_EQ(got[t], greatest) << t;
  }
}

}  // namespace
}  // namespace baton::conformance::asynchronous_test
