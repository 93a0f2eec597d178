// Whole kernels from nvcc, against results computed here.

#include "sim/engine/run/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <random>

#include "sim/engine/run/test_device.h"

namespace baton::sim::engine_test {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(std::string(BATON_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<float> random_floats(std::size_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

class Kernels : public ::testing::TestWithParam<unsigned> {
 protected:
  TestDevice device{GetParam()};
  std::shared_ptr<LoadedModule> module = device.load(read_text("bench/kernels/sim_bench.ptx"));
};

TEST_P(Kernels, Saxpy) {
  const int n = 100'003;
  const auto x = random_floats(n);
  const auto y = random_floats(n + 1);
  const std::uint64_t dx = device.upload(x);
  const std::uint64_t dy = device.upload(std::vector<float>(y.begin() + 1, y.end()));
  const auto grid = device.run(module, "saxpy", {(n + 255) / 256}, {256}, dy, dx, 1.5f, n);
  ASSERT_EQ(grid->state(), Grid::State::kFinished);
  const auto result = device.download<float>(dy, n);
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(result[i], std::fma(1.5f, x[i], y[i + 1])) << i;
  }
  EXPECT_EQ(grid->counters().blocks, std::uint64_t{(n + 255) / 256});
  EXPECT_EQ(grid->counters().bytes_written, std::uint64_t{n} * 4);
  EXPECT_EQ(grid->counters().bytes_read, std::uint64_t{n} * 8);
  EXPECT_TRUE(device.engine.findings().empty());
}

TEST_P(Kernels, TiledGemm) {
  const int n = 128;
  const auto a = random_floats(n * n);
  const auto b = random_floats(n * n);
  const std::uint64_t da = device.upload(a);
  const std::uint64_t db = device.upload(b);
  const std::uint64_t dc = device.memory.allocate(n * n * 4);
  const auto grid = device.run(module, "gemm", {2, 2}, {16, 16}, dc, da, db, n);
  ASSERT_EQ(grid->state(), Grid::State::kFinished);
  const auto c = device.download<float>(dc, n * n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum = std::fma(a[i * n + k], b[k * n + j], sum);
      ASSERT_EQ(c[i * n + j], sum) << i << ", " << j;
    }
  }
  EXPECT_TRUE(device.engine.findings().empty());
}

TEST_P(Kernels, ShuffleReduction) {
  const int n = 70'001;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i % 7);
  const std::uint64_t dx = device.upload(x);
  const std::uint64_t sums = device.memory.allocate(16 * 4);
  const auto grid = device.run(module, "reduce", {16}, {256}, sums, dx, n);
  ASSERT_EQ(grid->state(), Grid::State::kFinished);
  double sum = 0;
  for (float s : device.download<float>(sums, 16)) sum += s;
  double expected = 0;
  for (float v : x) expected += v;
  EXPECT_EQ(sum, expected);
}

TEST_P(Kernels, DivergentLoop) {
  const int n = 256;
  const std::uint64_t dy = device.memory.allocate(n * 4);
  const auto grid = device.run(module, "divergent", {1}, {n}, dy, 10);
  ASSERT_EQ(grid->state(), Grid::State::kFinished);
  const auto y = device.download<float>(dy, n);
  for (int i = 0; i < n; ++i) {
    float v = static_cast<float>(i);
    for (int k = 0; k < 10; ++k) {
      v = ((i ^ k) & 1) != 0 ? std::fma(v, 1.0001f, 1.0f) : std::fma(v, 0.9999f, -1.0f);
    }
    ASSERT_EQ(y[i], v) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, Kernels, ::testing::Values(1u, 2u));

}  // namespace
}  // namespace baton::sim::engine_test
