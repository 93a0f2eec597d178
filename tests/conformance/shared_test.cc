#include <numeric>

#include "conformance/conformance.h"

namespace baton::conformance::shared_test {
namespace {

constexpr std::uint32_t kDefault = 48 * 1024;  // bytes a block may have without opt-in

class SharedMemory : public Conformance {
 protected:
  static std::uint64_t dynamic_sum(std::uint32_t bytes, std::uint32_t block) {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < bytes; ++i) sum += static_cast<std::uint8_t>(i * 3 + block);
    return sum;
  }

  void expect_dynamic(const Kernel& kernel, std::uint32_t bytes) {
    const auto out = Buffer<unsigned long long>::of(device(), std::vector<unsigned long long>(2));
    kernel.launch({.grid = 2, .block = 256, .shared = bytes}, out, bytes);
    const auto got = out.download();
    EXPECT_EQ(got[0], dynamic_sum(bytes, 0)) << bytes;
    EXPECT_EQ(got[1], dynamic_sum(bytes, 1)) << bytes;
  }

  void expect_both(const Kernel& kernel, std::uint32_t bytes) {
    const auto out = Buffer<unsigned long long>::of(device(), std::vector<unsigned long long>(1));
    kernel.launch({.block = 256, .shared = bytes}, out, bytes);
    EXPECT_EQ(out.download()[0], 511u * 512 / 2 + std::uint64_t{255} * bytes) << bytes;
  }
};

TEST_F(SharedMemory, DynamicSizesAroundTheOptIn) {
  const Kernel kernel = load("shared.cu").kernel("sum_dynamic");
  for (std::uint32_t bytes : {0u, 1u, 1024u, kDefault - 1, kDefault, kDefault + 1, 100000u}) {
    expect_dynamic(kernel, bytes);
  }
}

TEST_F(SharedMemory, DynamicSizesUpToTheLimit) {
  const Kernel kernel = load("shared.cu").kernel("sum_dynamic");
  const std::uint32_t limit = device().limits().shared_per_block_optin;
  EXPECT_EQ(kernel.max_dynamic_shared(), limit);
  expect_dynamic(kernel, limit - 1);
  expect_dynamic(kernel, limit);
  expect_error(ErrorCode::kLimit, {std::to_string(limit + 1), std::to_string(limit)},
               [&] { expect_dynamic(kernel, limit + 1); });
  expect_error(ErrorCode::kLimit, {}, [&] { expect_dynamic(kernel, ~0u); });
  expect_dynamic(kernel, limit);  // a refused launch leaves the kernel as it was
}

TEST_F(SharedMemory, SizesGrowAndShrinkBetweenLaunches) {
  const Kernel kernel = load("shared.cu").kernel("sum_dynamic");
  for (std::uint32_t bytes : {1024u, 65536u, 131072u, 1024u, 65536u, 0u, 200000u, 50000u}) {
    expect_dynamic(kernel, bytes);
  }
}

TEST_F(SharedMemory, StaticAndDynamicCountTogether) {
  const Kernel kernel = load("shared.cu").kernel("sum_both");
  const std::uint32_t limit = device().limits().shared_per_block_optin;
  EXPECT_EQ(kernel.max_dynamic_shared(), limit - 2048);
  // 47 KiB dynamic with 2 KiB static is beyond 48 KiB though neither is.
  for (std::uint32_t bytes : {kDefault - 2048, kDefault - 2047, 47u * 1024, kDefault}) {
    expect_both(kernel, bytes);
  }
  expect_both(kernel, limit - 2048);
  expect_error(ErrorCode::kLimit, {"2048 of static", std::to_string(limit)},
               [&] { expect_both(kernel, limit - 2047); });
}

TEST_F(SharedMemory, PrepareRaisesTheOptInAhead) {
  const Kernel kernel = load("shared.cu").kernel("sum_both");
  kernel.prepare({.shared = kernel.max_dynamic_shared()});
  expect_both(kernel, kernel.max_dynamic_shared());
  expect_error(ErrorCode::kLimit, {"shared memory"},
               [&] { kernel.prepare({.shared = kernel.max_dynamic_shared() + 1}); });
}

TEST_F(SharedMemory, StaticTilesTranspose) {
  constexpr int kSize = 96;
  std::vector<float> in(kSize * kSize);
  std::iota(in.begin(), in.end(), 0.0f);
  const auto source = Buffer<float>::of(device(), in);
  const Buffer<float> target(device(), in.size());
  load("shared.cu")
      .kernel("transpose")
      .launch({.grid = Dim3(kSize / 32, kSize / 32), .block = Dim3(32, 8)}, target, source, kSize);
  const auto got = target.download();
  for (int y = 0; y < kSize; ++y) {
    for (int x = 0; x < kSize; ++x) ASSERT_EQ(got[x * kSize + y], in[y * kSize + x]);
  }
}

TEST_F(SharedMemory, HoldsArraysOfSeveralWidths) {
  constexpr unsigned kCount = 200;
  const Buffer<double> out(device(), kCount);
  load("shared.cu").kernel("carve").launch({.block = kCount, .shared = kCount * 14}, out, kCount);
  const auto got = out.download();
  for (unsigned i = 0; i < kCount; ++i) {
    const double j = kCount - 1 - i;
    EXPECT_EQ(got[i], j * 0.5 + j * 2 - j) << i;
  }
}

TEST_F(SharedMemory, IsReachedByGenericPointers) {
  const Kernel kernel = load("shared.cu").kernel("generic");
  const Buffer<int> out(device(), 64);
  const auto global = Buffer<int>::of(device(), std::vector<int>(64, 7));
  kernel.launch({.block = 64}, out, global, 0);
  const auto got = out.download();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(got[i], i % 2 == 1 ? 1000 + 63 - i + 5 : 12) << i;
}

}  // namespace
}  // namespace baton::conformance::shared_test
