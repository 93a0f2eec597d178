#include <algorithm>
#include <cstring>

#include "conformance/conformance.h"

namespace baton::conformance::grid_test {
namespace {

class Grids : public Conformance {
 protected:
  void expect_indices(const Kernel& kernel, const Dim3& grid, const Dim3& block) {
    const Buffer<unsigned> out(device(), 6 * grid.count() * block.count());
    kernel.launch({.grid = grid, .block = block}, out);
    const auto got = out.download();
    std::size_t at = 0;
    for (unsigned bz = 0; bz < grid.z; ++bz)
      for (unsigned by = 0; by < grid.y; ++by)
        for (unsigned bx = 0; bx < grid.x; ++bx)
          for (unsigned tz = 0; tz < block.z; ++tz)
            for (unsigned ty = 0; ty < block.y; ++ty)
              for (unsigned tx = 0; tx < block.x; ++tx, at += 6) {
                const unsigned want[] = {bx, by, bz, tx, ty, tz};
                ASSERT_TRUE(std::equal(want, want + 6, got.begin() + at)) << at / 6;
              }
  }

  template <typename T>
  void expect_reversed(const Module& module, const std::string& type) {
    constexpr unsigned kCount = 1000;
    std::vector<T> in(kCount);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(in.data());
    for (std::size_t i = 0; i < kCount * sizeof(T); ++i) bytes[i] = i * 13 % 251;
    const Buffer<T> out(device(), kCount);
    module.kernel("reverse<" + type + ">")
        .launch({.grid = 4, .block = 256}, out, Buffer<T>::of(device(), in), kCount);
    const auto got = out.download();
    for (unsigned i = 0; i < kCount; ++i) {
      EXPECT_EQ(std::memcmp(&got[i], &in[kCount - 1 - i], sizeof(T)), 0) << type << i;
    }
  }
};

struct alignas(8) Two {
  int a, b;
};
struct alignas(16) Four {
  float a, b, c, d;
};

TEST_F(Grids, EveryThreadKnowsItsIndex) {
  const Kernel indices = load("grid.cu").kernel("indices");
  expect_indices(indices, 1, 1);
  expect_indices(indices, 5, 33);
  expect_indices(indices, Dim3(3, 5), Dim3(7, 9));
  expect_indices(indices, Dim3(2, 3, 4), Dim3(4, 3, 5));
  expect_indices(indices, Dim3(1, 1, 7), Dim3(1, 1, 64));
  expect_indices(indices, Dim3(1, 9), Dim3(1, 1024));
  expect_indices(indices, 3, 1023);
}

TEST_F(Grids, OfAMillionBlocksRunWhole) {
  const auto sum = Buffer<unsigned long long>::of(device(), std::vector<unsigned long long>(1));
  constexpr unsigned long long kBlocks = 1 << 20;
  load("grid.cu").kernel("count_blocks").launch({.grid = kBlocks}, sum);
  EXPECT_EQ(sum.download()[0], kBlocks * (kBlocks + 1) / 2);
}

TEST_F(Grids, SaxpyOfManySizes) {
  const Kernel saxpy = load("grid.cu").kernel("saxpy");
  for (unsigned n : {1u, 31u, 32u, 33u, 255u, 1000u, 100003u}) {
    std::vector<float> x(n), y(n);
    for (unsigned i = 0; i < n; ++i) x[i] = static_cast<float>(i % 1000), y[i] = 1.0f + i % 7;
    const auto out = Buffer<float>::of(device(), y);
    saxpy.launch({.grid = ceil_div(n, 256u), .block = 256}, out, Buffer<float>::of(device(), x),
                 2.0f, n);
    const auto got = out.download();
    for (unsigned i = 0; i < n; ++i) ASSERT_EQ(got[i], 2.0f * x[i] + y[i]) << n << " " << i;
  }
}

TEST_F(Grids, MayStrideOverVectors) {
  constexpr unsigned kCount = 5000;
  std::vector<Four> x(kCount);
  for (unsigned i = 0; i < kCount; ++i) {
    const auto f = static_cast<float>(i);
    x[i] = {f, f + 1, f + 2, f + 3};
  }
  const Buffer<float> out(device(), kCount);
  load("grid.cu").kernel("strided").launch({.grid = 3, .block = 96}, out,
                                           Buffer<Four>::of(device(), x), kCount);
  const auto got = out.download();
  for (unsigned i = 0; i < kCount; ++i) EXPECT_EQ(got[i], 10.0f * i + 20) << i;
}

TEST_F(Grids, AccessEveryWidth) {
  const Module module =
      load("grid.cu", {"reverse<unsigned char>", "reverse<unsigned short>", "reverse<unsigned int>",
                       "reverse<double>", "reverse<int2>", "reverse<float4>"});
  expect_reversed<std::uint8_t>(module, "unsigned char");
  expect_reversed<std::uint16_t>(module, "unsigned short");
  expect_reversed<std::uint32_t>(module, "unsigned int");
  expect_reversed<double>(module, "double");
  expect_reversed<Two>(module, "int2");
  expect_reversed<Four>(module, "float4");
}

}  // namespace
}  // namespace baton::conformance::grid_test
