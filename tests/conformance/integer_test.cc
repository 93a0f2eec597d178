#include <bit>
#include <limits>
#include <random>

#include "conformance/conformance.h"
#include "conformance/kernels/integer_ops.h"

namespace baton::conformance::integer_test {
namespace {

template <typename T>
T reference(int op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  using W = std::conditional_t<sizeof(U) < 4, unsigned, U>;
  constexpr int kBits = sizeof(T) * 8;
  switch (op) {
#define X(name, expression) \
  case kInteger_##name:     \
    return static_cast<T>(expression);
    INTEGER_OPS(X)
#undef X
  }
  return 0;
}

const char* op_name(int op) {
  static constexpr const char* kNames[] = {
#define X(name, expression) #name,
      INTEGER_OPS(X)
#undef X
  };
  return kNames[op];
}

template <typename T>
std::vector<T> edge_values() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {0, 1, 2, 3, 7, 10, 31, 32, 33, 63, 64, 100, 127};
  for (int k = 0; k < 3; ++k) {
    values.push_back(static_cast<T>(L::min() + k));
    values.push_back(static_cast<T>(L::max() - k));
    values.push_back(static_cast<T>(L::max() / 2 + k));
    values.push_back(static_cast<T>(-1 - k));
  }
  std::mt19937_64 random(7);
  for (int k = 0; k < 20; ++k) values.push_back(static_cast<T>(random()));
  for (int k = 0; k < 8; ++k) values.push_back(static_cast<T>(random() & 0xff));
  return values;
}

template <typename T>
struct Pairs {
  std::vector<T> a, b;
  Pairs() {
    const auto values = edge_values<T>();
    for (T x : values) {
      for (T y : values) a.push_back(x), b.push_back(y);
    }
  }
};

class Integers : public Conformance {
 protected:
  template <typename T>
  void expect_ops(const Module& module, const std::string& type) {
    const Kernel kernel = module.kernel("integer_op<" + type + ">");
    const Pairs<T> pairs;
    const auto n = static_cast<unsigned>(pairs.a.size());
    const auto a = Buffer<T>::of(device(), pairs.a), b = Buffer<T>::of(device(), pairs.b);
    for (int op = 0; op < kIntegerOps; ++op) {
      const Buffer<T> out(device(), n);
      kernel.launch({.grid = ceil_div(n, 256u), .block = 256}, out, a, b, n, op);
      const auto got = out.download();
      for (unsigned i = 0; i < n; ++i) {
        ASSERT_EQ(+got[i], +reference(op, pairs.a[i], pairs.b[i]))
            << type << " " << op_name(op) << " of " << +pairs.a[i] << " and " << +pairs.b[i];
      }
    }
  }
};

TEST_F(Integers, OperationsOfEveryWidthMatchTheHost) {
  const std::vector<std::string> types = {
      "signed char", "unsigned char", "short",     "unsigned short",
      "int",         "unsigned int",  "long long", "unsigned long long"};
  std::vector<std::string> entries;
  for (const std::string& type : types) entries.push_back("integer_op<" + type + ">");
  const Module module = load("integer.cu", entries);
  expect_ops<signed char>(module, "signed char");
  expect_ops<unsigned char>(module, "unsigned char");
  expect_ops<short>(module, "short");
  expect_ops<unsigned short>(module, "unsigned short");
  expect_ops<int>(module, "int");
  expect_ops<unsigned>(module, "unsigned int");
  expect_ops<long long>(module, "long long");
  expect_ops<unsigned long long>(module, "unsigned long long");
}

template <typename T>
T reverse_bits(T value) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i)
    result |= (value >> i & 1) << (sizeof(T) * 8 - 1 - i);
  return result;
}

template <int Bits, typename Function>
std::uint32_t by_lanes(std::uint32_t a, std::uint32_t b, Function function) {
  constexpr std::uint32_t kMask = (std::uint64_t{1} << Bits) - 1;
  std::uint32_t result = 0;
  for (int shift = 0; shift < 32; shift += Bits) {
    result |= (function(a >> shift & kMask, b >> shift & kMask) & kMask) << shift;
  }
  return result;
}

std::vector<std::uint64_t> intrinsics(std::uint64_t a, std::uint64_t b) {
  __extension__ using U128 = unsigned __int128;
  __extension__ using S128 = __int128;
  const auto lo = static_cast<std::uint32_t>(a), hi = static_cast<std::uint32_t>(a >> 32);
  const auto other = static_cast<std::uint32_t>(b);
  const auto slo = static_cast<std::int32_t>(lo), sother = static_cast<std::int32_t>(other);
  const auto u32 = [](auto value) { return std::uint64_t{static_cast<std::uint32_t>(value)}; };
  std::uint32_t permuted = 0;
  for (int i = 0; i < 4; ++i) {
    permuted |= static_cast<std::uint32_t>(a >> (8 * (other >> (4 * i) & 7)) & 0xff) << (8 * i);
  }
  const unsigned shift = other % 32, clamped = std::min(other & 63, 32u);
  std::int64_t dot = 100;
  std::uint32_t unsigned_dot = 100;
  for (int i = 0; i < 4; ++i) {
    dot += static_cast<std::int8_t>(lo >> (8 * i)) * static_cast<std::int8_t>(other >> (8 * i));
    unsigned_dot += (lo >> (8 * i) & 0xff) * (other >> (8 * i) & 0xff);
  }
  return {
      u32(std::popcount(lo)),
      u32(std::popcount(a)),
      u32(std::countl_zero(lo)),
      u32(std::countl_zero(a)),
      u32(lo == 0 ? 0 : std::countr_zero(lo) + 1),
      u32(a == 0 ? 0 : std::countr_zero(a) + 1),
      reverse_bits(lo),
      reverse_bits(a),
      std::uint64_t{lo} * other >> 32,
      u32(std::int64_t{slo} * sother >> 32),
      static_cast<std::uint64_t>(U128{a} * b >> 64),
      static_cast<std::uint64_t>(
          S128{static_cast<std::int64_t>(a)} * S128{static_cast<std::int64_t>(b)} >> 64),
      permuted,
      u32((std::uint64_t{hi} << 32 | lo) << shift >> 32),
      u32((std::uint64_t{hi} << 32 | lo) >> shift),
      u32(clamped == 32 ? lo : (std::uint64_t{hi} << 32 | lo) << clamped >> 32),
      u32((std::uint64_t{hi} << 32 | lo) >> clamped),
      u32((lo & 0xffffff) * (other & 0xffffff)),
      u32((lo > other ? lo - other : other - lo) + hi),
      u32(static_cast<std::uint32_t>(std::abs(std::int64_t{slo} - sother)) + hi),
      u32(dot),
      unsigned_dot,
      (std::uint64_t{lo} + other) >> 1,
      u32((std::int64_t{slo} + sother + 1) >> 1),
      by_lanes<8>(lo, other, [](auto x, auto y) { return x + y; }),
      by_lanes<16>(lo, other,
                   [](auto x, auto y) {
                     return static_cast<std::int16_t>(x) > static_cast<std::int16_t>(y) ? x : y;
                   }),
      by_lanes<8>(lo, other, [](auto x, auto y) { return x > y ? x - y : y - x; }),
  };
}

TEST_F(Integers, IntrinsicsMatchTheHost) {
  const Pairs<std::uint64_t> pairs;
  const auto n = static_cast<unsigned>(pairs.a.size());
  const Buffer<std::uint64_t> out(device(), 32 * n);
  load("integer.cu")
      .kernel("intrinsics")
      .launch({.grid = ceil_div(n, 128u), .block = 128}, out,
              Buffer<std::uint64_t>::of(device(), pairs.a),
              Buffer<std::uint64_t>::of(device(), pairs.b), n);
  const auto got = out.download();
  for (unsigned i = 0; i < n; ++i) {
    const auto want = intrinsics(pairs.a[i], pairs.b[i]);
    for (std::size_t k = 0; k < want.size(); ++k) {
      ASSERT_EQ(got[32 * i + k], want[k])
          << "intrinsic " << k << " of " << pairs.a[i] << " and " << pairs.b[i];
    }
  }
}

TEST_F(Integers, OfHundredTwentyEightBits) {
  __extension__ using U128 = unsigned __int128;
  const Pairs<std::uint64_t> pairs;
  const auto n = static_cast<unsigned>(pairs.a.size());
  const Buffer<std::uint64_t> out(device(), 14 * n);
  load("int128.cu")
      .kernel("int128")
      .launch({.grid = ceil_div(n, 128u), .block = 128}, out,
              Buffer<std::uint64_t>::of(device(), pairs.a),
              Buffer<std::uint64_t>::of(device(), pairs.b), n);
  const auto got = out.download();
  for (unsigned i = 0; i < n; ++i) {
    const std::uint64_t x = pairs.a[i], y = pairs.b[i];
    const U128 a = U128{x} << 64 | y, b = U128{y | 1} << (x % 64) | x;
    const U128 want[] = {a + b, a - b, a * b, a / b, a % b, a << (x % 128), a >> (y % 128)};
    for (int k = 0; k < 7; ++k) {
      ASSERT_EQ(got[14 * i + 2 * k], static_cast<std::uint64_t>(want[k]))
          << k << " " << x << " " << y;
      ASSERT_EQ(got[14 * i + 2 * k + 1], static_cast<std::uint64_t>(want[k] >> 64))
          << k << " " << x << " " << y;
    }
  }
}

}  // namespace
}  // namespace baton::conformance::integer_test
