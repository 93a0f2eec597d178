// Matrix instructions of a warp: mma, wmma, ldmatrix, stmatrix and movmatrix.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>

#include "conformance/conformance.h"

namespace baton::conformance::matrix_test {
namespace {

// How an element's bits say a number.
struct Format {
  int bits;
  int fraction;  // bits of a float's fraction; -1: an integer
  int bias;
  int low, high;  // numbers that the exact tests use
};
constexpr Format kF16{16, 10, 15, -4, 4};
constexpr Format kBF16{16, 7, 127, -4, 4};
constexpr Format kF32{32, 23, 127, -4, 4};  // also tf32, whose last 13 bits do not count
constexpr Format kF64{64, 52, 1023, -100, 100};
constexpr Format kE4M3{8, 3, 7, -4, 4};
constexpr Format kE5M2{8, 2, 15, -4, 4};
constexpr Format kS8{8, -1, 0, -128, 127};
constexpr Format kU8{8, -1, 0, 0, 255};
constexpr Format kS4{4, -1, 0, -8, 7};
constexpr Format kB1{1, -1, 0, 0, 1};
constexpr Format kS32{32, -1, 0, -1000, 1000};

// The bits of value * 2^-scale, which the format holds exactly.
std::uint64_t encode(const Format& format, int value, int scale = 0) {
  const std::uint64_t mask = format.bits == 64 ? ~0ull : (1ull << format.bits) - 1;
  if (format.fraction < 0) return static_cast<std::uint64_t>(value) & mask;
  if (value == 0) return 0;
  const auto magnitude = static_cast<std::uint64_t>(std::abs(value));
  const int exponent = std::bit_width(magnitude) - 1;
  const std::uint64_t fraction =
      (magnitude << format.fraction >> exponent) & ((1ull << format.fraction) - 1);
  const auto biased = static_cast<std::uint64_t>(exponent - scale + format.bias);
  return (value < 0 ? 1ull << (format.bits - 1) : 0) | biased << format.fraction | fraction;
}

double decode(const Format& format, std::uint64_t bits) {
  if (format.fraction < 0) return static_cast<std::int32_t>(bits);
  if (format.bits == 64) return std::bit_cast<double>(bits);
  if (format.bits == 32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  const auto fraction = static_cast<double>(bits & 0x3ff);
  const auto exponent = static_cast<int>(bits >> 10 & 0x1f);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

struct Case {
  const char* kernel;
  unsigned m, n, k;
  Format a, b;
  Format c;
  int of_c = 1;  // how often c counts
  bool rows_a = true, rows_b = true;
};

// Numbers as a program means them, row by row, and their bits in memory.
struct Matrix {
  unsigned rows, columns;
  std::vector<int> values;
  int scale = 0;

  double at(unsigned row, unsigned column) const {
    return std::ldexp(values[row * columns + column], -scale);
  }
  std::vector<std::uint8_t> bytes(const Format& format, bool by_rows) const {
    std::vector<std::uint8_t> data((values.size() * static_cast<unsigned>(format.bits) + 7) / 8);
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned column = 0; column < columns; ++column) {
        const unsigned place = by_rows ? row * columns + column : column * rows + row;
        const std::uint64_t bits = encode(format, values[row * columns + column], scale);
        for (int bit = 0; bit < format.bits; ++bit) {
          const unsigned at =
              place * static_cast<unsigned>(format.bits) + static_cast<unsigned>(bit);
          data[at / 8] |= static_cast<std::uint8_t>((bits >> bit & 1) << at % 8);
        }
      }
    }
    return data;
  }
};

class Matrices : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (IsSkipped()) return;
    if (device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  }

  Matrix random(unsigned rows, unsigned columns, int low, int high, int scale = 0) {
    Matrix matrix{rows, columns, std::vector<int>(rows * columns), scale};
    std::uniform_int_distribution<int> distribution(low, high);
    for (int& value : matrix.values) value = distribution(random_);
    return matrix;
  }

  std::vector<double> multiply(const Case& one, const Matrix& a, const Matrix& b, const Matrix& c) {
    const auto upload = [&](const Matrix& matrix, const Format& format, bool by_rows) {
      return Buffer<std::uint8_t>::of(device(), matrix.bytes(format, by_rows));
    };
    const unsigned bytes = static_cast<unsigned>(one.c.bits) / 8;
    const Buffer<std::uint8_t> d(device(), bytes * one.m * one.n);
    load("matrices.cu")
        .kernel(one.kernel)
        .launch({.block = 32}, d, upload(a, one.a, one.rows_a), upload(b, one.b, one.rows_b),
                upload(c, one.c, true));
    const std::vector<std::uint8_t> got = d.download();
    std::vector<double> values(one.m * one.n);
    for (unsigned at = 0; at < values.size(); ++at) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &got[at * bytes], bytes);
      values[at] = decode(one.c, bits);
    }
    return values;
  }

  // Numbers whose sums are exact in every format.
  void expect_exact(const Case& one) {
    SCOPED_TRACE(one.kernel);
    const Matrix a = random(one.m, one.k, one.a.low, one.a.high);
    const Matrix b = random(one.k, one.n, one.b.low, one.b.high);
    const Matrix c = random(one.m, one.n, one.c.low, one.c.high);
    const auto got = multiply(one, a, b, c);
    for (unsigned row = 0; row < one.m; ++row) {
      for (unsigned column = 0; column < one.n; ++column) {
        double want = one.of_c * c.at(row, column);
        for (unsigned k = 0; k < one.k; ++k) want += a.at(row, k) * b.at(k, column);
        ASSERT_EQ(got[row * one.n + column], want) << row << ", " << column;
      }
    }
  }

  // All bits of the fractions count: the sum is within what the order and the cutting of partial
  // sums may make of it.
  void expect_near(const Case& one, int fraction) {
    SCOPED_TRACE(one.kernel);
    const int most = (2 << fraction) - 1;
    const Matrix a = random(one.m, one.k, -most, most, fraction);
    const Matrix b = random(one.k, one.n, -most, most, fraction);
    const Matrix c = random(one.m, one.n, -most, most, fraction);
    const auto got = multiply(one, a, b, c);
    for (unsigned row = 0; row < one.m; ++row) {
      for (unsigned column = 0; column < one.n; ++column) {
        double want = c.at(row, column), size = std::fabs(want);
        for (unsigned k = 0; k < one.k; ++k) {
          want += a.at(row, k) * b.at(k, column);
          size += std::fabs(a.at(row, k) * b.at(k, column));
        }
        ASSERT_NEAR(got[row * one.n + column], want, (one.k + 1) * 0x1p-22 * size)
            << row << ", " << column;
      }
    }
  }

 private:
  std::mt19937 random_{7};
};

TEST_F(Matrices, ProductsOfFloats) {
  for (const Case& one : {Case{"mma_f16_k16", 16, 8, 16, kF16, kF16, kF32},
                          Case{"mma_f16_k8", 16, 8, 8, kF16, kF16, kF32},
                          Case{"mma_f16_f16", 16, 8, 16, kF16, kF16, kF16},
                          Case{"mma_bf16_k16", 16, 8, 16, kBF16, kBF16, kF32},
                          Case{"mma_bf16_k8", 16, 8, 8, kBF16, kBF16, kF32},
                          Case{"mma_tf32_k8", 16, 8, 8, kF32, kF32, kF32},
                          Case{"mma_tf32_k4", 16, 8, 4, kF32, kF32, kF32},
                          Case{"mma_f64_m8", 8, 8, 4, kF64, kF64, kF64},
                          Case{"mma_e4m3_k32", 16, 8, 32, kE4M3, kE4M3, kF32},
                          Case{"mma_e5m2_k32", 16, 8, 32, kE5M2, kE5M2, kF32}}) {
    expect_exact(one);
  }
}

TEST_F(Matrices, ProductsOfIntegers) {
  for (const Case& one : {Case{"mma_s8_k32", 16, 8, 32, kS8, kS8, kS32},
                          Case{"mma_u8_k16", 16, 8, 16, kU8, kS8, kS32},
                          Case{"mma_s4_k64", 16, 8, 64, kS4, kS4, kS32},
                          Case{"mma_b1_k256", 16, 8, 256, kB1, kB1, kS32}}) {
    expect_exact(one);
  }
}

TEST_F(Matrices, IntegersSaturateOrWrap) {
  for (const bool saturates : {false, true}) {
    const Case one = saturates ? Case{"mma_u8_k16", 16, 8, 16, kU8, kS8, kS32}
                               : Case{"mma_s8_k32", 16, 8, 32, kS8, kS8, kS32};
    const Matrix a = random(one.m, one.k, 100, 100);
    const Matrix b = random(one.k, one.n, 100, 100);
    const Matrix c = random(one.m, one.n, INT32_MAX - 10, INT32_MAX);
    const auto got = multiply(one, a, b, c);
    for (unsigned at = 0; at < got.size(); ++at) {
      const auto sum = static_cast<std::uint32_t>(c.values[at]) + one.k * 10000;
      EXPECT_EQ(got[at], saturates ? INT32_MAX : static_cast<std::int32_t>(sum)) << at;
    }
  }
}

TEST_F(Matrices, SumsOfManyBitsKeepTheirBounds) {
  expect_near({"mma_f16_k16", 16, 8, 16, kF16, kF16, kF32}, 10);
  expect_near({"mma_bf16_k16", 16, 8, 16, kBF16, kBF16, kF32}, 7);
  expect_near({"mma_tf32_k8", 16, 8, 8, kF32, kF32, kF32}, 10);
  expect_near({"mma_e4m3_k32", 16, 8, 32, kE4M3, kE4M3, kF32}, 3);
  expect_near({"mma_e5m2_k32", 16, 8, 32, kE5M2, kE5M2, kF32}, 2);
}

TEST_F(Matrices, FragmentsOfWmma) {
  for (const Case& one : {Case{"wmma_f16", 16, 16, 16, kF16, kF16, kF32, 2},
                          Case{"wmma_f16_columns", 16, 16, 16, kF16, kF16, kF32, 2, false, false},
                          Case{"wmma_f16_f16", 16, 16, 16, kF16, kF16, kF16, 2, true, false},
                          Case{"wmma_f16_tall", 32, 8, 16, kF16, kF16, kF32, 2, false, true},
                          Case{"wmma_f16_wide", 8, 32, 16, kF16, kF16, kF32, 2, true, false},
                          Case{"wmma_bf16", 16, 16, 16, kBF16, kBF16, kF32, 2},
                          Case{"wmma_bf16_tall", 32, 8, 16, kBF16, kBF16, kF32, 2, true, false},
                          Case{"wmma_tf32", 16, 16, 8, kF32, kF32, kF32, 2, true, false},
                          Case{"wmma_f64", 8, 8, 4, kF64, kF64, kF64, 2},
                          Case{"wmma_s8", 16, 16, 16, kS8, kS8, kS32, 2, true, false},
                          Case{"wmma_u8_wide", 8, 32, 16, kU8, kU8, kS32, 2}}) {
    expect_exact(one);
  }
}

// The element (row, column) of matrix `k`, of four.
constexpr unsigned element(unsigned k, unsigned row, unsigned column) {
  return 1 + k * 1000 + row * 100 + column;
}
constexpr unsigned both(unsigned low, unsigned high) {
  return low | high << 16;
}

TEST_F(Matrices, RowsOfSharedMemoryToRegisters) {
  std::vector<std::uint16_t> in(256);
  for (unsigned i = 0; i < in.size(); ++i) {
    in[i] = static_cast<std::uint16_t>(element(i / 64, i / 8 % 8, i % 8));
  }
  const Buffer<unsigned> out(device(), 15 * 32);
  load("matrices.cu")
      .kernel("load_matrices")
      .launch({.block = 32}, out, Buffer<std::uint16_t>::of(device(), in));
  const auto got = out.download();
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group = lane / 4, pair = lane % 4 * 2;
    const auto plain = [&](unsigned k) {
      return both(element(k, group, pair), element(k, group, pair + 1));
    };
    const auto transposed = [&](unsigned k) {
      return both(element(k, pair, group), element(k, pair + 1, group));
    };
    for (unsigned k = 0; k < 4; ++k) {
      EXPECT_EQ(got[k * 32 + lane], plain(k)) << lane;
      EXPECT_EQ(got[(4 + k) * 32 + lane], transposed(k)) << lane;
      EXPECT_EQ(got[(11 + k) * 32 + lane], transposed(k)) << lane;
    }
    EXPECT_EQ(got[8 * 32 + lane], plain(0)) << lane;
    EXPECT_EQ(got[9 * 32 + lane], plain(1)) << lane;
    EXPECT_EQ(got[10 * 32 + lane], transposed(0)) << lane;
  }
}

TEST_F(Matrices, RegistersToRowsOfSharedMemory) {
  std::vector<unsigned> in(4 * 32);
  for (unsigned k = 0; k < 4; ++k) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      in[k * 32 + lane] =
          both(element(k, lane / 4, lane % 4 * 2), element(k, lane / 4, lane % 4 * 2 + 1));
    }
  }
  const Buffer<std::uint16_t> out(device(), 512);
  load("matrices.cu")
      .kernel("store_matrices")
      .launch({.block = 32}, out, Buffer<unsigned>::of(device(), in));
  const auto got = out.download();
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned k = i / 64, row = i / 8 % 8, column = i % 8;
    EXPECT_EQ(got[i], element(k, row, column)) << i;
    EXPECT_EQ(got[256 + i], element(k, column, row)) << i;
  }
}

}  // namespace
}  // namespace baton::conformance::matrix_test
