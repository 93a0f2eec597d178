// Multiplication by a warpgroup: every type, shape, layout and source of wgmma.mma_async, and its
// sparse form. Small whole numbers make every sum exact, however a device adds.

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <random>

#include "conformance/conformance.h"
#include "conformance/matrix_format.h"

namespace baton::conformance::wgmma_test {
namespace {

enum class Sum { kSingle, kHalf, kInteger };

std::uint32_t half_bits(double value) {
  // Whole numbers up to 2048.
  return encode(kF16, static_cast<int>(value));
}

// How a tile lies in shared memory.
struct Layout {
  unsigned swizzle = 0;  // bytes: 0, 32, 64, 128
  bool rows_major = false;
};

constexpr unsigned kRightAt = 16384, kTileBytes = 49152;  // a, and b after it
constexpr unsigned kThreads = 128;

// A matrix of rows (m or n) and columns (k), of which a tile is one: where an element is, in bits.
struct Tile {
  const Format& format;
  unsigned rows, columns;
  Layout layout;

  unsigned chunks_of_row() const { return columns * format.bits / 128; }
  // Between eight rows and the next eight, and between chunks, or what is more eightfold.
  unsigned pitch() const { return layout.swizzle == 0 ? 16 : layout.swizzle; }
  unsigned stride() const {
    if (!layout.rows_major) return 8 * pitch();
    return layout.swizzle == 0 ? 128 * (columns / 8) : 8 * pitch();
  }
  unsigned leading() const {
    if (!layout.rows_major) return layout.swizzle == 0 ? rows * 16 : 16;
    return layout.swizzle == 0 ? 128 : pitch() * columns;
  }
  std::size_t bit_of(unsigned row, unsigned column) const {
    unsigned chunk_at = 0, within = 0;
    if (!layout.rows_major) {
      const unsigned chunk = column * format.bits / 128;
      within = column * format.bits % 128;
      chunk_at = row % 8 * pitch() + row / 8 * stride() + chunk * leading();
    } else {
      within = row % 8 * format.bits;
      const unsigned chunk = row / 8;
      if (layout.swizzle == 0) {
        chunk_at = column % 8 * 16 + column / 8 * leading() + chunk * stride();
      } else {
        const unsigned span = layout.swizzle / 16;
        chunk_at = column % 8 * pitch() + column / 8 * stride() + chunk % span * 16 +
                   chunk / span * leading();
      }
    }
    if (layout.swizzle != 0) chunk_at ^= (chunk_at >> 7 & (layout.swizzle / 16 - 1)) << 4;
    return std::size_t{chunk_at} * 8 + within;
  }
  std::uint64_t descriptor() const {
    const std::uint64_t mode = layout.swizzle == 0    ? 0
                               : layout.swizzle == 32 ? 3
                               : layout.swizzle == 64 ? 2
                                                      : 1;
    return std::uint64_t{leading() / 16} << 16 | std::uint64_t{stride() / 16} << 32 | mode << 62;
  }
  void put(const std::vector<int>& values, unsigned at, std::vector<std::uint32_t>* words) const {
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned column = 0; column < columns; ++column) {
        const std::size_t bit = at * 8 + bit_of(row, column);
        const auto element = std::uint64_t{encode(format, values[row * columns + column])};
        words->at(bit / 32) |= static_cast<std::uint32_t>(element << bit % 32);
      }
    }
  }
};

struct Case {
  Format a, b;
  Sum sum;
  unsigned n;
  Layout left, right;
  bool in_registers = false;
  bool sparse = false;
  bool adds = true;
  int scale_a = 1, scale_b = 1;
  bool saturates = false;
};

unsigned registers_of(const Case& c) {
  return c.n / 8 * (c.sum == Sum::kHalf ? 2 : 4);
}

std::string list_of(char prefix, unsigned count) {
  std::string text = "{";
  for (unsigned k = 0; k < count; ++k)
    text += fmt::format("{}%{}{}", k == 0 ? "" : ", ", prefix, k);
  return text + "}";
}

std::string kernel_text(const Case& c, unsigned k, unsigned selector) {
  const unsigned registers = registers_of(c);
  const bool is_half = c.a.bits == 16;
  const bool is_integer = c.sum == Sum::kInteger;
  std::string text = fmt::format(
      ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry multiply(.param .u64 image, "
      ".param .u64 sums, .param .u64 words, .param .u64 descriptor_a, .param "
      ".u64 descriptor_b, .param .u32 adds)\n.maxntid 128\n{{\n"
      "  .shared .align 1024 .b8 tiles[{}];\n"
      "  .reg .pred %p, %q;\n  .reg .b32 %thread, %at, %to, %t<4>, %d<{}>, %w<8>;\n"
      "  .reg .b64 %image, %sums, %words, %x<8>;\n",
      kTileBytes, registers);
  text +=
      "  mov.u32 %thread, %tid.x;\n"
      "  ld.param.u64 %image, [image];\n"
      "  ld.param.u64 %sums, [sums]; ld.param.u64 %words, [words];\n"
      "  mul.lo.u32 %at, %thread, 16;\n  mov.u32 %to, tiles;\nCOPY:\n"
      "  cvt.u64.u32 %x0, %at; add.u64 %x1, %image, %x0;\n"
      "  add.u32 %w0, %to, %at;\n"
      "  ld.global.v4.b32 {%t0, %t1, %t2, %t3}, [%x1];\n"
      "  st.shared.v4.b32 [%w0], {%t0, %t1, %t2, %t3};\n";
  text += fmt::format("  add.u32 %at, %at, {}; setp.lt.u32 %q, %at, {};\n  @%q bra COPY;\n",
                      16 * kThreads, kTileBytes);
  text += "  fence.proxy.async;\n  bar.sync 0;\n  mul.wide.u32 %x0, %thread, 4;\n";
  text += "  add.u64 %words, %words, %x0;\n  add.u64 %sums, %sums, %x0;\n";
  for (unsigned r = 0; r < registers; ++r) {
    text += fmt::format("  ld.global.b32 %d{}, [%sums+{}];\n", r, r * kThreads * 4);
  }
  for (unsigned r = 0; r < 5; ++r) {
    text += fmt::format("  ld.global.b32 %w{}, [%words+{}];\n", r, r * kThreads * 4);
  }
  text += fmt::format(
      "  shr.u32 %at, %to, 4;\n  cvt.u64.u32 %x0, %at;\n"
      "  ld.param.u64 %x1, [descriptor_a]; or.b64 %x1, %x1, %x0;\n"
      "  ld.param.u64 %x2, [descriptor_b]; add.u64 %x0, %x0, {}; or.b64 %x2, %x2, %x0;\n"
      "  ld.param.u32 %at, [adds]; setp.ne.u32 %p, %at, 0;\n"
      "  wgmma.fence.sync.aligned;\n",
      kRightAt / 16);
  text += fmt::format("  wgmma.mma_async{}.sync.aligned.m64n{}k{}{}.{}.{}.{}{} {}, {}, %x2",
                      c.sparse ? ".sp" : "", c.n, k, c.saturates ? ".satfinite" : "",
                      c.sum == Sum::kSingle ? "f32"
                      : c.sum == Sum::kHalf ? "f16"
                                            : "s32",
                      c.a.name, c.b.name, c.a.bits == 1 ? ".and.popc" : "", list_of('d', registers),
                      c.in_registers ? list_of('w', 4) : "%x1");
  if (c.sparse) text += fmt::format(", %w4, {}", selector);
  text += ", %p";
  if (!is_integer) text += fmt::format(", {}, {}", c.scale_a, c.scale_b);
  if (is_half && !c.in_registers) text += fmt::format(", {}", c.left.rows_major ? 1 : 0);
  if (is_half) text += fmt::format(", {}", c.right.rows_major ? 1 : 0);
  text += ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  for (unsigned r = 0; r < registers; ++r) {
    text += fmt::format("  st.global.b32 [%sums+{}], %d{};\n", r * kThreads * 4, r);
  }
  return text + "  ret;\n}\n";
}

class Wgmma : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (!IsSkipped() && device().architecture() != 90) {
      GTEST_SKIP() << "wgmma needs compute capability 9.0";
    }
  }

  std::mt19937 random{7};
  int pick(const Format& format) {
    return std::uniform_int_distribution<int>(format.low, format.high)(random);
  }

  // Which element of c and d a thread has in a register.
  static std::pair<unsigned, unsigned> place(unsigned thread, unsigned r) {
    const unsigned lane = thread % 32;
    return {thread / 32 * 16 + lane / 4 + (r % 4 >= 2 ? 8 : 0), r / 4 * 8 + lane % 4 * 2 + r % 2};
  }

  void check(const Case& c) {
    const unsigned k = (c.sparse ? 2 : 1) * 256 / c.a.bits;
    const unsigned held = c.sparse ? k / 2 : k;
    std::vector<int> a(64 * held), b(c.n * k), sums(64 * c.n);
    for (int& value : a) value = pick(c.a);
    for (int& value : b) value = pick(c.b);
    for (int& value : sums) value = std::uniform_int_distribution<int>(-100, 100)(random);
    if (c.saturates) {
      for (int& value : sums) value = 2'147'400'000;
    }
    const Tile left{c.a, 64, held, c.left}, right{c.b, c.n, k, c.right};

    // Metadata: of four units two, in their order; one of a pair of tf32.
    const bool is_tf32 = c.a.bits == 32;
    std::vector<int> all(64 * k);
    std::vector<std::uint32_t> words(5 * kThreads);
    const unsigned selector = c.sparse && c.a.bits >= 16 ? 1 : 0;
    if (!c.sparse) all = a;
    for (unsigned row = 0; row < 64 && c.sparse; ++row) {
      const unsigned groups = is_tf32 ? k / 2 : k / 4;
      for (unsigned group = 0; group < groups; ++group) {
        static constexpr std::array<std::uint32_t, 6> kPairs = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
        std::uint32_t bits = kPairs[random() % kPairs.size()];
        if (is_tf32) bits = random() % 2 != 0 ? 0xe : 0x4;
        if (is_tf32) {
          all[row * k + group * 2 + (bits == 0xe ? 1 : 0)] = a[row * held + group];
        } else {
          for (unsigned one = 0; one < 2; ++one) {
            all[row * k + group * 4 + (bits >> 2 * one & 3)] = a[row * held + group * 2 + one];
          }
        }
        const unsigned lanes = row / 16 * 32 + row % 8 * 4;
        const unsigned lower = row % 16 / 8;
        const unsigned thread =
            c.a.bits >= 16 ? lanes + 2 * selector + group / 4 : lanes + lower + 2 * (group / 8);
        const unsigned shift = c.a.bits >= 16 ? 16 * lower + group % 4 * 4 : group % 8 * 4;
        words[4 * kThreads + thread] |= bits << shift;
      }
    }
    // a in registers: eight rows of 16 bytes, eight below, then to the right.
    const unsigned per = 32 / c.a.bits;
    for (unsigned r = 0; r < 4; ++r) {
      for (unsigned thread = 0; thread < kThreads; ++thread) {
        const unsigned row = thread / 32 * 16 + thread % 32 / 4 + r % 2 * 8;
        const unsigned first = (thread % 4 + r / 2 * 4) * per;
        for (unsigned e = 0; e < per; ++e) {
          words[r * kThreads + thread] |= encode(c.a, a[row * held + first + e]) << e * c.a.bits;
        }
      }
    }
    const unsigned registers = registers_of(c);
    const unsigned per_sum = c.sum == Sum::kHalf ? 2 : 1;
    std::vector<std::uint32_t> before(registers * kThreads);
    const auto bits_of = [&](double value) {
      if (c.sum == Sum::kHalf) return half_bits(value);
      if (c.sum == Sum::kSingle) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
    };
    std::vector<std::uint32_t> want(before.size());
    for (unsigned r = 0; r < registers * per_sum; ++r) {
      for (unsigned thread = 0; thread < kThreads; ++thread) {
        const auto [row, column] = place(thread, r);
        const int from = sums[row * c.n + column];
        double sum = 0;
        for (unsigned e = 0; e < k; ++e) sum += double{1} * all[row * k + e] * b[column * k + e];
        sum = sum * c.scale_a * c.scale_b + (c.adds ? from : 0);
        if (c.saturates) sum = std::min(sum, 2147483647.0);
        const std::size_t at = r / per_sum * kThreads + thread;
        before[at] |= bits_of(from) << 16 * (r % per_sum);
        want[at] |= bits_of(sum) << 16 * (r % per_sum);
      }
    }
    const Module module =
        Module::load(device(), Image::from_bytes(kernel_text(c, k, selector), "wgmma.ptx"));
    std::vector<std::uint32_t> image(kTileBytes / 4);
    left.put(a, 0, &image);
    right.put(b, kRightAt, &image);
    const auto out = Buffer<std::uint32_t>::of(device(), before);
    module.kernel("multiply")
        .launch({.grid = 1, .block = kThreads}, Buffer<std::uint32_t>::of(device(), image), out,
                Buffer<std::uint32_t>::of(device(), words), left.descriptor(), right.descriptor(),
                c.adds ? 1u : 0u);
    const auto got = out.download();
    std::size_t wrong = 0;
    for (std::size_t k2 = 0; k2 < got.size(); ++k2) wrong += got[k2] != want[k2] ? 1 : 0;
    EXPECT_EQ(wrong, 0u) << c.a.name << " x " << c.b.name << ", n " << c.n << ", swizzles "
                         << c.left.swizzle << " and " << c.right.swizzle << ", rows major "
                         << c.left.rows_major << c.right.rows_major << ", registers "
                         << c.in_registers << ", sparse " << c.sparse;
  }
};

constexpr Layout kPlain{128, false};

TEST_F(Wgmma, EveryTypeFromMemoryAndFromRegisters) {
  struct Types {
    Format a, b;
    Sum sum;
  };
  for (const Types& t : {Types{kF16, kF16, Sum::kSingle},
                         {kF16, kF16, Sum::kHalf},
                         {kBF16, kBF16, Sum::kSingle},
                         {kTF32, kTF32, Sum::kSingle},
                         {kE4M3, kE4M3, Sum::kSingle},
                         {kE4M3, kE5M2, Sum::kHalf},
                         {kE5M2, kE4M3, Sum::kSingle},
                         {kE5M2, kE5M2, Sum::kHalf},
                         {kS8, kS8, Sum::kInteger},
                         {kS8, kU8, Sum::kInteger},
                         {kU8, kS8, Sum::kInteger},
                         {kU8, kU8, Sum::kInteger},
                         {kB1, kB1, Sum::kInteger}}) {
    for (const bool in_registers : {false, true}) {
      check({t.a, t.b, t.sum, 32, kPlain, kPlain, in_registers});
    }
  }
}

TEST_F(Wgmma, EveryNumberOfColumns) {
  for (unsigned n = 8; n <= 256; n += 8)
    check({kBF16, kBF16, Sum::kSingle, n, kPlain, {64, false}});
  for (const unsigned n : {8u, 16u, 24u, 48u, 240u, 256u}) {
    check({kS8, kS8, Sum::kInteger, n, kPlain, {32, false}});
  }
}

TEST_F(Wgmma, EveryLayout) {
  for (const unsigned one : {0u, 32u, 64u, 128u}) {
    for (const unsigned other : {0u, 32u, 64u, 128u}) {
      for (const bool a_rows : {false, true}) {
        for (const bool b_rows : {false, true}) {
          check({kF16, kF16, Sum::kSingle, 64, {one, a_rows}, {other, b_rows}});
        }
      }
      check({kE4M3, kE4M3, Sum::kSingle, 64, {one, false}, {other, false}});
      check({kTF32, kTF32, Sum::kSingle, 64, {one, false}, {other, false}});
    }
    check({kBF16, kBF16, Sum::kSingle, 128, {}, {one, true}, true});
  }
}

TEST_F(Wgmma, ScalesAndSaturation) {
  for (const int a : {1, -1}) {
    for (const int b : {1, -1}) {
      Case c{kF16, kF16, Sum::kSingle, 16, kPlain, kPlain};
      c.scale_a = a;
      c.scale_b = b;
      check(c);
      c.adds = false;
      check(c);
    }
  }
  Case c{kU8, kU8, Sum::kInteger, 16, kPlain, kPlain};
  c.saturates = true;
  check(c);
}

TEST_F(Wgmma, SparseMatrices) {
  for (const bool in_registers : {false, true}) {
    for (const Format& format : {kF16, kBF16, kTF32, kE4M3, kE5M2, kS8, kU8}) {
      const Sum sum = format.fraction < 0 ? Sum::kInteger : Sum::kSingle;
      check({format, format, sum, 32, kPlain, kPlain, in_registers, true});
      check({format, format, sum, 32, {32, false}, {64, false}, in_registers, true});
      check({format, format, sum, 32, {}, {}, in_registers, true});
    }
  }
}

}  // namespace
}  // namespace baton::conformance::wgmma_test
