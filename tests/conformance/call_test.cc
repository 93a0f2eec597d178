#include <algorithm>
#include <array>

#include "conformance/conformance.h"

namespace baton::conformance::call_test {
namespace {

class Calls : public Conformance {
 protected:
  template <typename T, typename... Args>
  std::vector<T> run(const char* kernel, unsigned count, const Args&... args) {
    const Buffer<T> out(device(), count);
    load("calls.cu").kernel(kernel).launch({.block = count}, out, args...);
    return out.download();
  }
};

TEST_F(Calls, PassAndReturnStructs) {
  const auto got = run<double>("direct", 64);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(got[i], (i * 0.5 + i + 3) * 1000 + (i + 7 - (i + 3))) << i;
  }
}

TEST_F(Calls, Recur) {
  const auto got = run<unsigned>("recursive", 64);
  const unsigned fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
  for (int i = 0; i < 64; ++i) EXPECT_EQ(got[i], fibonacci[i % 13]) << i;
}

TEST_F(Calls, RecurThroughEachOther) {
  const auto got = run<int>("mutual", 40);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(got[i], i % 2 == 0 ? 1 : 0) << i;
}

TEST_F(Calls, GoThroughPointers) {
  std::vector<int> which(96);
  for (int i = 0; i < 96; ++i) which[i] = i * i % 3;
  const auto got = run<int>("indirect", 96, Buffer<int>::of(device(), which));
  for (int i = 0; i < 96; ++i) {
    const int want[] = {2 * i, i * i, -i};
    EXPECT_EQ(got[i], want[which[i]]) << i;
  }
}

TEST_F(Calls, GoThroughVirtualTables) {
  const auto got = run<int>("virtual_calls", 64);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(got[i], i % 2 == 0 ? i * i : 3 * i) << i;
}

TEST_F(Calls, LocalArraysAreEachThreadsOwn) {
  const auto got = run<int>("local_array", 128, 5);
  for (int t = 0; t < 128; ++t) {
    std::array<int, 37> values;
    for (int k = 0; k < 37; ++k) values[k] = t * 100 + k;
    int sum = 0;
    for (int k = 0; k < 37; ++k) {
      const int j = (k * 5 + t) % 37;
      sum += values[j] * (k + 1);
      values[j] = k;
    }
    EXPECT_EQ(got[t], sum) << t;
  }
}

TEST_F(Calls, LocalMemorySorts) {
  const auto got = run<unsigned long long>("local_sort", 64, 99u);
  for (unsigned t = 0; t < 64; ++t) {
    std::array<unsigned long long, 128> keys;
    unsigned state = 99u + t;
    for (auto& key : keys) {
      state = state * 1664525u + 1013904223u;
      key = (static_cast<unsigned long long>(state) << 20) ^ state;
    }
    std::sort(keys.begin(), keys.end());
    unsigned long long hash = 0;
    for (auto key : keys) hash = hash * 31 + key;
    EXPECT_EQ(got[t], hash) << t;
  }
}

int nest(int depth, const std::array<int, 8>& caller) {
  std::array<int, 8> mine;
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += mine[k] = caller[k] + depth * k;
  return depth == 0 ? sum : nest(depth - 1, mine) + mine[depth % 8];
}

TEST_F(Calls, EveryFrameHasItsOwnArrays) {
  const auto got = run<int>("frames", 64);
  for (int t = 0; t < 64; ++t) EXPECT_EQ(got[t], nest(t % 6, {1, 2, 3, 4, 5, 6, 7, t})) << t;
}

}  // namespace
}  // namespace baton::conformance::call_test
