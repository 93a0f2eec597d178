#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "conformance/conformance.h"

namespace baton::conformance::atomics_test {
namespace {

enum Op { kAdd, kMin, kMax, kAnd, kOr, kXor };

template <typename T>
T apply(int op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
    case kAdd:
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    case kMin:
      return std::min(a, b);
    case kMax:
      return std::max(a, b);
    case kAnd:
      return a & b;
    case kOr:
      return a | b;
    default:
      return a ^ b;
  }
}

class Atomics : public Conformance {
 protected:
  template <typename T>
  void expect_ops(const Module& module, const std::string& type) {
    constexpr unsigned kCount = 4000, kBins = 7, kBlock = 128;
    constexpr unsigned kBlocks = ceil_div(kCount, kBlock);
    std::mt19937_64 random(42);
    std::vector<T> values(kCount);
    for (T& value : values) value = static_cast<T>(random());
    const auto input = Buffer<T>::of(device(), values);
    for (int op : {kAdd, kMin, kMax, kAnd, kOr, kXor}) {
      const T start = op == kAnd ? static_cast<T>(~T{0}) : static_cast<T>(random());
      std::vector<T> want(kBins, start), want_shared(kBins * kBlocks, start);
      for (unsigned i = 0; i < kCount; ++i) {
        want[i % kBins] = apply(op, want[i % kBins], values[i]);
        T& local = want_shared[i / kBlock * kBins + i % kBins];
        local = apply(op, local, values[i]);
      }
      const auto bins = Buffer<T>::of(device(), std::vector<T>(kBins, start));
      module.kernel("global_op<" + type + ">")
          .launch({.grid = kBlocks, .block = kBlock}, bins, input, op, kBins, kCount);
      EXPECT_EQ(bins.download(), want) << type << " op " << op;
      const auto local = Buffer<T>::of(device(), std::vector<T>(kBins * kBlocks, start));
      module.kernel("shared_op<" + type + ">")
          .launch({.grid = kBlocks, .block = kBlock}, local, input, op, kBins, kCount);
      EXPECT_EQ(local.download(), want_shared) << type << " shared op " << op;
    }
  }

  template <typename T>
  void expect_float_adds(const Module& module, const std::string& type) {
    constexpr unsigned kCount = 3000, kBins = 5;
    std::vector<T> values(kCount), want(kBins);
    // Small integers: exact in any order.
    for (unsigned i = 0; i < kCount; ++i) {
      values[i] = static_cast<T>(static_cast<int>(i % 17) - 8);
      want[i % kBins] += values[i];
    }
    const auto bins = Buffer<T>::of(device(), std::vector<T>(kBins));
    module.kernel("add_float<" + type + ">")
        .launch({.grid = ceil_div(kCount, 256u), .block = 256}, bins,
                Buffer<T>::of(device(), values), kBins, kCount);
    EXPECT_EQ(bins.download(), want) << type;
  }
};

TEST_F(Atomics, IntegersInGlobalAndSharedMemory) {
  const std::vector<std::string> types = {"int", "unsigned int", "long long", "unsigned long long"};
  std::vector<std::string> entries;
  for (const std::string& type : types) {
    entries.push_back("global_op<" + type + ">");
    entries.push_back("shared_op<" + type + ">");
  }
  const Module module = load("atomics.cu", entries);
  expect_ops<int>(module, "int");
  expect_ops<unsigned>(module, "unsigned int");
  expect_ops<long long>(module, "long long");
  expect_ops<unsigned long long>(module, "unsigned long long");
}

TEST_F(Atomics, FloatsAdd) {
  const Module module = load("atomics.cu", {"add_float<float>", "add_float<double>"});
  expect_float_adds<float>(module, "float");
  expect_float_adds<double>(module, "double");
}

TEST_F(Atomics, ReturnWhatWasThere) {
  constexpr unsigned kCount = 64 * 128;
  const auto counter = Buffer<unsigned>::of(device(), std::vector<unsigned>{100});
  const Buffer<unsigned> taken(device(), kCount);
  load("atomics.cu").kernel("tickets").launch({.grid = 64, .block = 128}, counter, taken);
  auto got = taken.download();
  std::sort(got.begin(), got.end());
  for (unsigned i = 0; i < kCount; ++i) ASSERT_EQ(got[i], i + 100);
  EXPECT_EQ(counter.download()[0], kCount + 100);
}

TEST_F(Atomics, IncrementAndDecrementWrap) {
  const auto up = Buffer<unsigned>::of(device(), std::vector<unsigned>{3});
  const auto down = Buffer<unsigned>::of(device(), std::vector<unsigned>{3});
  load("atomics.cu").kernel("wrap").launch({.grid = 10, .block = 100}, up, down, 6u);
  EXPECT_EQ(up.download()[0], (3 + 1000) % 7);
  EXPECT_EQ(down.download()[0], ((3 - 1000) % 7 + 7) % 7);
}

TEST_F(Atomics, CompareAndSwapOfEveryWidth) {
  const auto word = Buffer<unsigned>::of(device(), std::vector<unsigned>{5});
  const auto wide = Buffer<unsigned long long>::of(device(), std::vector<unsigned long long>{9});
  // The neighbour of a 16-bit word must not change.
  const auto half = Buffer<std::uint16_t>::of(device(), std::vector<std::uint16_t>{65000, 77});
  load("atomics.cu").kernel("cas_add").launch({.grid = 8, .block = 96}, word, wide, half);
  EXPECT_EQ(word.download()[0], 5u + 3 * 768);
  EXPECT_EQ(wide.download()[0], 9u + (768ull << 33));
  EXPECT_EQ(half.download(), (std::vector<std::uint16_t>{(65000 + 768) % 65536, 77}));
}

TEST_F(Atomics, OfEveryScope) {
  const auto block = Buffer<int>::of(device(), std::vector<int>(20));
  const auto system = Buffer<int>::of(device(), std::vector<int>(1));
  load("atomics.cu").kernel("scopes").launch({.grid = 20, .block = 64}, block, system);
  EXPECT_EQ(block.download(), std::vector<int>(20, 64));
  EXPECT_EQ(system.download()[0], 1280);
}

TEST_F(Atomics, WithFencesPublishBetweenBlocks) {
  const auto arrived = Buffer<unsigned>::of(device(), std::vector<unsigned>(1));
  const auto partial = Buffer<int>::of(device(), std::vector<int>(300));
  const auto total = Buffer<int>::of(device(), std::vector<int>(1));
  load("atomics.cu")
      .kernel("last_block")
      .launch({.grid = 300, .block = 64}, arrived, partial, total);
  EXPECT_EQ(total.download()[0], 300 * 301 / 2);
}

}  // namespace
}  // namespace baton::conformance::atomics_test
