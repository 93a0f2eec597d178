#include <utility>

#include "conformance/conformance.h"

#define SHARED_WITH_HOST inline
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#include "conformance/kernels/divergence.h"
#pragma GCC diagnostic pop

namespace baton::conformance::divergence_test {
namespace {

class Divergence : public Conformance {
 protected:
  void expect_same(const char* kernel, int (*reference)(int)) {
    constexpr int kCount = 1024;
    const Buffer<int> out(device(), kCount);
    load("divergence.cu").kernel(kernel).launch({.grid = 4, .block = 256}, out);
    const auto got = out.download();
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(got[i], reference(i)) << kernel << " " << i;
  }
};

TEST_F(Divergence, NestedBranches) {
  expect_same("nested", nested_branches);
}
TEST_F(Divergence, UnevenLoops) {
  expect_same("loops", uneven_loops);
}
TEST_F(Divergence, SwitchCases) {
  expect_same("cases", switch_cases);
}
TEST_F(Divergence, LoopsWithTwoEntries) {
  expect_same("jumps", irreducible);
}

TEST_F(Divergence, ASpinLockWithinAWarpEnds) {
  const auto lock = Buffer<int>::of(device(), std::vector<int>(1));
  const auto counter = Buffer<int>::of(device(), std::vector<int>(1));
  load("divergence.cu").kernel("spin_lock").launch({.grid = 4, .block = 64}, lock, counter);
  EXPECT_EQ(counter.download()[0], 256);
  EXPECT_EQ(lock.download()[0], 0);
}

TEST_F(Divergence, LanesMayWaitForEachOther) {
  const Kernel relay = load("divergence.cu").kernel("relay");
  for (int direction : {1, -1}) {
    const auto turn = Buffer<int>::of(device(), std::vector<int>(1));
    const Buffer<int> out(device(), 32);
    relay.launch({.block = 32}, turn, out, direction);
    const auto got = out.download();
    for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], (direction > 0 ? i : 31 - i) * 10) << i;
  }
}

TEST_F(Divergence, ThreadsMayLeaveAnywhere) {
  constexpr int kCount = 500;
  const auto out = Buffer<int>::of(device(), std::vector<int>(512, 12345));
  load("divergence.cu").kernel("leave_early").launch({.grid = 2, .block = 256}, out, kCount);
  const auto got = out.download();
  for (int i = 0; i < 512; ++i) {
    const int last = i % 19;
    int want = last * (last + 1) / 2;
    if (i % 7 == 3 && last > 2) want = -3;
    EXPECT_EQ(got[i], i < kCount ? want : 12345) << i;
  }
}

TEST_F(Divergence, EndsAtTheNextWarpBarrier) {
  const Buffer<int> out(device(), 32);
  load("divergence.cu").kernel("reconverge").launch({.block = 32}, out);
  const auto got = out.download();
  const auto lane = [](int i) {
    int value = i;
    for (int k = 0; k < value % 5; ++k) value += k * 3;
    return value % 2 != 0 ? value * 2 : value + 100;
  };
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], lane(i) + lane(i ^ 1)) << i;
}

}  // namespace
}  // namespace baton::conformance::divergence_test
