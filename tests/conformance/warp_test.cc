#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "conformance/conformance.h"

namespace baton::conformance::warp_test {
namespace {

constexpr unsigned kFull = 0xffffffffu;

class Warps : public Conformance {
 protected:
  LaunchConfig one_warp() const { return {.grid = 1, .block = 32}; }

  template <typename T>
  void expect_shuffles(const Module& module, const std::string& type) {
    std::vector<T> in(32);
    for (int i = 0; i < 32; ++i) in[i] = static_cast<T>(i * 1000003 + 17);
    const auto input = Buffer<T>::of(device(), in);
    for (int width : {2, 4, 8, 16, 32}) {
      for (int amount : {0, 1, 3, 7, 15, 16, 31}) {
        const Buffer<T> out(device(), 128);
        module.kernel("shuffles<" + type + ">").launch(one_warp(), out, input, amount, width);
        const auto got = out.download();
        for (int lane = 0; lane < 32; ++lane) {
          const int base = lane / width * width, last = base + width - 1;
          const int up = lane - amount, down = lane + amount, other = lane ^ amount;
          EXPECT_EQ(got[lane], in[base + amount % width]) << type << width << " " << amount;
          EXPECT_EQ(got[32 + lane], in[up < base ? lane : up]) << type << width << " " << amount;
          EXPECT_EQ(got[64 + lane], in[down > last ? lane : down])
              << type << width << " " << amount;
          // Lanes of lower segments may be read, of higher ones not.
          EXPECT_EQ(got[96 + lane], in[other > last ? lane : other])
              << type << width << " " << amount;
        }
      }
    }
  }
};

TEST_F(Warps, Shuffle) {
  const Module module = load("warps.cu", {"shuffles<int>", "shuffles<float>", "shuffles<double>",
                                          "shuffles<unsigned long long>"});
  expect_shuffles<int>(module, "int");
  expect_shuffles<float>(module, "float");
  expect_shuffles<double>(module, "double");
  expect_shuffles<unsigned long long>(module, "unsigned long long");
}

TEST_F(Warps, Vote) {
  const Kernel votes = load("warps.cu").kernel("votes");
  for (unsigned bits : {0u, 1u, 0x80000000u, 0x12345678u, kFull}) {
    std::vector<int> flags(32);
    for (int i = 0; i < 32; ++i) flags[i] = (bits >> i & 1) != 0 ? i + 5 : 0;
    const Buffer<unsigned> out(device(), 128);
    votes.launch(one_warp(), out, Buffer<int>::of(device(), flags));
    const auto got = out.download();
    for (int lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(got[lane], bits);
      EXPECT_EQ(got[32 + lane], bits != 0 ? 1u : 0u);
      EXPECT_EQ(got[64 + lane], bits == kFull ? 1u : 0u);
      EXPECT_EQ(got[96 + lane], kFull);
    }
  }
}

TEST_F(Warps, VoteAmongTheLanesOfAMask) {
  std::vector<int> flags(32);
  unsigned thirds = 0, others = 0;
  for (int i = 0; i < 32; ++i) {
    flags[i] = i % 2;
    if (i % 2 == 1) (i % 3 == 0 ? thirds : others) |= 1u << i;
  }
  const Buffer<unsigned> out(device(), 32);
  load("warps.cu")
      .kernel("partial_votes")
      .launch(one_warp(), out, Buffer<int>::of(device(), flags));
  const auto got = out.download();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], i % 3 == 0 ? thirds : others) << i;
}

template <typename T>
void expect_matches(const Device& device, const Kernel& kernel, const std::vector<T>& in) {
  const Buffer<unsigned> any(device, 32), all(device, 32);
  const Buffer<int> agreed(device, 32);
  kernel.launch({.block = 32}, any, all, agreed, Buffer<T>::of(device, in));
  const bool same = std::all_of(in.begin(), in.end(), [&](T value) { return value == in[0]; });
  const auto got_any = any.download(), got_all = all.download();
  const auto got_agreed = agreed.download();
  for (int lane = 0; lane < 32; ++lane) {
    unsigned want = 0;
    for (int i = 0; i < 32; ++i) want |= in[i] == in[lane] ? 1u << i : 0;
    EXPECT_EQ(got_any[lane], want) << lane;
    EXPECT_EQ(got_all[lane], same ? kFull : 0) << lane;
    EXPECT_EQ(got_agreed[lane], same ? 1 : 0) << lane;
  }
}

TEST_F(Warps, Match) {
  const Module module = load("warps.cu", {"matches<unsigned int>", "matches<unsigned long long>"});
  std::vector<unsigned> values(32);
  for (int i = 0; i < 32; ++i) values[i] = i % 5;
  expect_matches(device(), module.kernel("matches<unsigned int>"), values);
  expect_matches(device(), module.kernel("matches<unsigned int>"), std::vector<unsigned>(32, 9));
  std::vector<unsigned long long> wide(32, 1);
  wide[31] += 1ull << 40;
  expect_matches(device(), module.kernel("matches<unsigned long long>"), wide);
}

TEST_F(Warps, Reduce) {
  std::vector<unsigned> in(32);
  for (unsigned i = 0; i < 32; ++i) in[i] = 0x9E3779B9u * (i + 3);
  const Buffer<unsigned> out(device(), 256);
  load("warps.cu").kernel("reductions").launch(one_warp(), out, Buffer<unsigned>::of(device(), in));
  const auto got = out.download();
  const auto as_int = [](unsigned a, unsigned b) {
    return static_cast<int>(a) < static_cast<int>(b);
  };
  const unsigned want[] = {
      std::accumulate(in.begin(), in.end(), 0u),
      *std::min_element(in.begin(), in.end()),
      *std::max_element(in.begin(), in.end()),
      std::accumulate(in.begin(), in.end(), kFull, std::bit_and<>()),
      std::accumulate(in.begin(), in.end(), 0u, std::bit_or<>()),
      std::accumulate(in.begin(), in.end(), 0u, std::bit_xor<>()),
      *std::min_element(in.begin(), in.end(), as_int),
      *std::max_element(in.begin(), in.end(), as_int),
  };
  for (int i = 0; i < 256; ++i) EXPECT_EQ(got[i], want[i / 32]) << i;
}

TEST_F(Warps, SumABlock) {
  constexpr unsigned kCount = 1000;
  std::vector<float> in(kCount);
  std::iota(in.begin(), in.end(), 1.0f);
  const Buffer<float> out(device(), 4);
  load("warps.cu")
      .kernel("block_sum")
      .launch({.grid = 4, .block = 256}, out, Buffer<float>::of(device(), in), kCount);
  const auto got = out.download();
  EXPECT_EQ(std::accumulate(got.begin(), got.end(), 0.0f), kCount * (kCount + 1) / 2.0f);
}

TEST_F(Warps, Scan) {
  std::vector<int> in(256), want(256);
  for (int i = 0; i < 256; ++i) {
    in[i] = i * 7 % 13 - 5;
    want[i] = in[i] + (i % 32 != 0 ? want[i - 1] : 0);
  }
  const Buffer<int> out(device(), 256);
  load("warps.cu")
      .kernel("warp_scan")
      .launch({.grid = 2, .block = 128}, out, Buffer<int>::of(device(), in));
  EXPECT_EQ(out.download(), want);
}

TEST_F(Warps, KnowTheirLanes) {
  const Buffer<unsigned> out(device(), 6 * 64);
  load("warps.cu").kernel("identity").launch({.block = 64}, out);
  const auto got = out.download();
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned lane = i % 32, eq = 1u << lane, lt = eq - 1;
    const std::vector<unsigned> mine(got.begin() + 6 * i, got.begin() + 6 * i + 6);
    EXPECT_EQ(mine, (std::vector<unsigned>{lane, eq, lt, lt | eq, ~(lt | eq), ~lt})) << i;
  }
}

TEST_F(Warps, ExchangeThroughSharedMemory) {
  const Buffer<int> out(device(), 32);
  load("warps.cu").kernel("exchange").launch(one_warp(), out);
  const auto got = out.download();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], (i + 10) % 32 + 10) << i;
}

}  // namespace
}  // namespace baton::conformance::warp_test
