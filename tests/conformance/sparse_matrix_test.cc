// mma.sp: sparse matrices in the registers of a warp, of every type and shape, with every selector.

#include <fmt/core.h>

#include <array>
#include <random>

#include "conformance/conformance.h"
#include "conformance/matrix_format.h"

namespace baton::conformance::sparse_matrix_test {
namespace {

constexpr unsigned kLanes = 32, kRows = 16, kColumns = 8;

struct SparseCase {
  Format format;
  unsigned k;
  const char* sum;  // f32, s32
};

std::string registers(char prefix, unsigned count) {
  std::string text = "{";
  for (unsigned r = 0; r < count; ++r) {
    text += fmt::format("{}%{}{}", r == 0 ? "" : ", ", prefix, r);
  }
  return text + "}";
}

// Which lane of the four of a row, and which bit of its word, has a group's indices.
std::pair<unsigned, unsigned> place_of_indices(const SparseCase& c, unsigned selector, unsigned row,
                                               unsigned group) {
  const unsigned lower = row / 8;
  const unsigned units = c.format.bits == 32 ? 2 * c.k : c.format.bits == 4 ? c.k / 2 : c.k;
  if (c.format.bits >= 16) {
    return {units == 32 ? 2 * selector + group / 4 : selector, 16 * lower + group % 4 * 4};
  }
  return {units == 64 ? lower + 2 * (group / 8) : 2 * selector + lower, group % 8 * 4};
}

class SparseMatrices : public Conformance {
 protected:
  std::mt19937 random{11};

  void check(const SparseCase& c, unsigned selector) {
    const Format& format = c.format;
    const unsigned per = 32 / format.bits;
    const unsigned held = c.k / 2;
    const unsigned of_a = kRows * held / per / kLanes, of_b = kColumns * c.k / per / kLanes;
    std::uniform_int_distribution<int> pick(format.low, format.high);
    std::vector<int> a(kRows * held), b(c.k * kColumns), all(kRows * c.k);
    for (int& value : a) value = pick(random);
    for (int& value : b) value = pick(random);
    // Registers of a, of b, of c and of the metadata, lane by lane.
    const unsigned count = of_a + of_b + 4 + 1;
    std::vector<std::uint32_t> words(count * kLanes);
    const bool is_tf32 = format.bits == 32;
    const unsigned elements = format.bits == 4 ? 2 : 1;  // of a unit
    for (unsigned row = 0; row < kRows; ++row) {
      const unsigned groups = is_tf32 ? c.k / 2 : c.k / elements / 4;
      for (unsigned group = 0; group < groups; ++group) {
        static constexpr std::array<std::uint32_t, 6> kPairs = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
        const std::uint32_t bits =
            is_tf32 ? (random() % 2 != 0 ? 0xe : 0x4) : kPairs[random() % kPairs.size()];
        if (is_tf32) {
          all[row * c.k + group * 2 + (bits == 0xe ? 1 : 0)] = a[row * held + group];
        }
        for (unsigned one = 0; one < 2 && !is_tf32; ++one) {
          for (unsigned e = 0; e < elements; ++e) {
            all[row * c.k + (group * 4 + (bits >> 2 * one & 3)) * elements + e] =
                a[row * held + (group * 2 + one) * elements + e];
          }
        }
        const auto [lane, shift] = place_of_indices(c, selector, row, group);
        words[(count - 1) * kLanes + row % 8 * 4 + lane] |= bits << shift;
      }
    }
    const auto put = [&](unsigned r, unsigned lane, unsigned e, int value) {
      words[r * kLanes + lane] |= encode(format, value) << e * format.bits;
    };
    std::vector<std::uint32_t> want(4 * kLanes);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (unsigned e = 0; e < per; ++e) {
        for (unsigned r = 0; r < of_a; ++r) {
          const unsigned row = lane / 4 + r % 2 * 8;
          put(r, lane, e, a[row * held + (lane % 4 + r / 2 * 4) * per + e]);
        }
        for (unsigned r = 0; r < of_b; ++r) {
          put(of_a + r, lane, e, b[((lane % 4 + r * 4) * per + e) * kColumns + lane / 4]);
        }
      }
      for (unsigned r = 0; r < 4; ++r) {
        const unsigned row = lane / 4 + r / 2 * 8, column = lane % 4 * 2 + r % 2;
        const int before = static_cast<int>(row) - static_cast<int>(column);
        int sum = before;
        for (unsigned k = 0; k < c.k; ++k) sum += all[row * c.k + k] * b[k * kColumns + column];
        const auto bits_of = [&](int value) {
          return c.sum[0] == 's' ? static_cast<std::uint32_t>(value)
                                 : std::bit_cast<std::uint32_t>(static_cast<float>(value));
        };
        words[(of_a + of_b + r) * kLanes + lane] = bits_of(before);
        want[r * kLanes + lane] = bits_of(sum);
      }
    }
    std::string text =
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry multiply(.param .u64 out, "
        ".param .u64 in) {\n.reg .b32 %a<4>, %b<4>, %c<4>, %e0, %t;\n.reg .b64 %out, %in, %x;\n"
        "ld.param.u64 %out, [out]; ld.param.u64 %in, [in];\nmov.u32 %t, %tid.x;\n"
        "mul.wide.u32 %x, %t, 4; add.u64 %out, %out, %x; add.u64 %in, %in, %x;\n";
    unsigned at = 0;
    const auto load = [&](char prefix, unsigned of) {
      for (unsigned r = 0; r < of; ++r, ++at) {
        text += fmt::format("ld.global.b32 %{}{}, [%in+{}];\n", prefix, r, at * kLanes * 4);
      }
    };
    load('a', of_a);
    load('b', of_b);
    load('c', 4);
    load('e', 1);
    text += fmt::format(
        "mma.sp::ordered_metadata.sync.aligned.m16n8k{}.row.col.{}.{}.{}.{} {}, {}, {}, {}, %e0, "
        "{};\n",
        c.k, c.sum, format.name, format.name, c.sum, registers('c', 4), registers('a', of_a),
        registers('b', of_b), registers('c', 4), selector);
    for (unsigned r = 0; r < 4; ++r) {
      text += fmt::format("st.global.b32 [%out+{}], %c{};\n", r * kLanes * 4, r);
    }
    const Module module =
        Module::load(device(), Image::from_bytes(text + "ret;\n}\n", "sparse.ptx"));
    const Buffer<std::uint32_t> out(device(), want.size());
    module.kernel("multiply")
        .launch({.grid = 1, .block = kLanes}, out, Buffer<std::uint32_t>::of(device(), words));
    EXPECT_EQ(out.download(), want) << format.name << ", k " << c.k << ", selector " << selector;
  }
};

TEST_F(SparseMatrices, EveryTypeShapeAndSelector) {
  for (const SparseCase& c : {SparseCase{kF16, 16, "f32"},
                              {kF16, 32, "f32"},
                              {kBF16, 16, "f32"},
                              {kBF16, 32, "f32"},
                              {kTF32, 8, "f32"},
                              {kTF32, 16, "f32"},
                              {kE4M3, 64, "f32"},
                              {kE5M2, 64, "f32"},
                              {kS8, 32, "s32"},
                              {kU8, 32, "s32"},
                              {kS8, 64, "s32"},
                              {kU8, 64, "s32"},
                              {kS4, 64, "s32"},
                              {kU4, 64, "s32"},
                              {kS4, 128, "s32"},
                              {kU4, 128, "s32"}}) {
    const unsigned units = c.format.bits == 32 ? 2 * c.k : c.format.bits == 4 ? c.k / 2 : c.k;
    for (unsigned selector = 0; selector < std::max(64 / units, 1u); ++selector) {
      check(c, selector);
    }
  }
}

}  // namespace
}  // namespace baton::conformance::sparse_matrix_test
