#include "conformance/conformance.h"

namespace baton::conformance::limits_test {
namespace {

class Limits : public Conformance {
 protected:
  int count(const Kernel& kernel, const Dim3& grid, const Dim3& block) {
    const auto out = Buffer<int>::of(device(), std::vector<int>(1));
    kernel.launch({.grid = grid, .block = block}, out);
    return out.download()[0];
  }
  void expect_limit(const Kernel& kernel, const Dim3& grid, const Dim3& block,
                    std::initializer_list<std::string_view> parts) {
    expect_error(ErrorCode::kLimit, parts, [&] { count(kernel, grid, block); });
    expect_error(ErrorCode::kLimit, parts,
                 [&] { kernel.check(LaunchConfig{.grid = grid, .block = block}); });
  }
};

TEST_F(Limits, OfTheBlock) {
  const Kernel mark = load("limits.cu").kernel("mark");
  EXPECT_EQ(count(mark, 1, 1024), 1);
  EXPECT_EQ(count(mark, 1, Dim3(1, 1024)), 1);
  EXPECT_EQ(count(mark, 1, Dim3(4, 4, 64)), 1);
  expect_limit(mark, 1, 1025, {"mark", "1025", "1024"});
  expect_limit(mark, 1, Dim3(32, 33), {"1056 threads", "1024"});
  expect_limit(mark, 1, Dim3(1, 1, 65), {"65 threads along z", "64"});
  expect_limit(mark, 1, Dim3(65536, 65536, 64), {"65536 threads along x", "1024"});
}

TEST_F(Limits, OfTheGrid) {
  const Kernel mark = load("limits.cu").kernel("mark");
  EXPECT_EQ(count(mark, Dim3(1, 65535), 1), 65535);
  EXPECT_EQ(count(mark, Dim3(1, 1, 65535), 1), 65535);
  EXPECT_EQ(count(mark, Dim3(70000), 1), 70000);
  expect_limit(mark, Dim3(1, 65536), 1, {"65536 blocks along y", "65535"});
  expect_limit(mark, Dim3(1, 1, 65536), 1, {"65536 blocks along z", "65535"});
  expect_limit(mark, Dim3(1u << 31), 1, {"2147483648 blocks along x", "2147483647"});
}

TEST_F(Limits, ZeroExtentsAreErrors) {
  const Kernel mark = load("limits.cu").kernel("mark");
  expect_limit(mark, 0, 1, {"grid (0, 1, 1)", "along x"});
  expect_limit(mark, Dim3(1, 0), 1, {"along y"});
  expect_limit(mark, 1, Dim3(1, 1, 0), {"block (1, 1, 0)", "along z"});
}

TEST_F(Limits, ExtentsBeyondThirtyTwoBitsAreErrors) {
  expect_error(ErrorCode::kLimit, {"-1"}, [] { Dim3(-1); });
  expect_error(ErrorCode::kLimit, {"4294967296"}, [] { Dim3(1, 1ll << 32); });
  expect_error(ErrorCode::kLimit, {"18446744073709551615"}, [] { Dim3(1, 1, ~0ull); });
}

TEST_F(Limits, OfTheKernel) {
  const Module module = load("limits.cu");
  const Kernel small = module.kernel("small_block");
  EXPECT_EQ(small.max_threads(), 128u);
  EXPECT_EQ(count(small, 2, 128), 256);
  expect_limit(small, 1, 129, {"small_block", "129 threads", "128"});
  expect_limit(small, 1, Dim3(16, 16), {"256 threads", "128"});
}

TEST_F(Limits, OfTheKernelByTemplate) {
  const Module module = load("limits.cu", {"bounded<32>", "bounded<512>"});
  EXPECT_EQ(count(module.kernel("bounded<32>"), 1, 32), 32);
  EXPECT_EQ(count(module.kernel("bounded<512>"), 1, 512), 512);
  expect_limit(module.kernel("bounded<32>"), 1, 33, {"33 threads", "32"});
}

TEST_F(Limits, ARefusedLaunchHarmsNothing) {
  const Kernel mark = load("limits.cu").kernel("mark");
  const auto out = Buffer<int>::of(device(), std::vector<int>(1));
  for (int i = 0; i < 10; ++i) {
    EXPECT_THROW(mark.launch({.block = 2048}, out), Error);
    mark.launch({.block = 1024}, out);
  }
  EXPECT_EQ(out.download()[0], 10);
}

}  // namespace
}  // namespace baton::conformance::limits_test
