#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "sim/engine/isa/matrix.h"
#include "sim/engine/isa/matrix_layout.h"
#include "sim/engine/run/warp.h"

#define BATON_SIM_VARIANT matrix
#include "sim/engine/isa/half.inc"

namespace baton::sim {
namespace {

// e4m3 and e5m2 (PTX ISA 9.0, "Alternate Floating-Point Data Formats").
float small_float(std::uint32_t bits, int fraction_bits, int bias, bool has_infinity) {
  const std::uint32_t fraction = bits & ((1u << fraction_bits) - 1);
  const std::uint32_t exponent = (bits & 0x7f) >> fraction_bits;
  const std::uint32_t most = 0x7fu >> fraction_bits;
  float value = 0;
  if (exponent == most && has_infinity) {
    value = fraction == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  } else if ((bits & 0x7f) == 0x7f) {
    value = std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), 1 - bias - fraction_bits);
  } else {
    value = std::ldexp(static_cast<float>(fraction | 1u << fraction_bits),
                       static_cast<int>(exponent) - bias - fraction_bits);
  }
  return (bits & 0x80) != 0 ? -value : value;
}

// An element's bits as a number. Integers are exact in double precision.
template <MatrixType T>
double number(std::uint64_t bits) {
  const auto word = static_cast<std::uint32_t>(bits);
  if constexpr (T == MatrixType::kF16) {
    return matrix::widen(matrix::f16{static_cast<std::uint16_t>(bits)});
  } else if constexpr (T == MatrixType::kBF16) {
    return matrix::widen(matrix::bf16{static_cast<std::uint16_t>(bits)});
  } else if constexpr (T == MatrixType::kTF32) {
    return std::bit_cast<float>(word & ~0x1fffu);  // the low bits do not count
  } else if constexpr (T == MatrixType::kF32) {
    return std::bit_cast<float>(word);
  } else if constexpr (T == MatrixType::kF64) {
    return std::bit_cast<double>(bits);
  } else if constexpr (T == MatrixType::kE4M3) {
    return small_float(word, 3, 7, false);
  } else if constexpr (T == MatrixType::kE5M2) {
    return small_float(word, 2, 15, true);
  } else if constexpr (T == MatrixType::kS8) {
    return static_cast<std::int8_t>(word);
  } else if constexpr (T == MatrixType::kS4) {
    return static_cast<std::int32_t>(word << 28) >> 28;
  } else if constexpr (T == MatrixType::kS32) {
    return static_cast<std::int32_t>(word);
  } else {
    return word;  // u8, u4, b1
  }
}

struct Gathering {
  Exec* x;
  const MmaForm& form;
  MatrixPart part;
  bool fragments;
  const std::uint32_t* registers;
};

template <MatrixType T>
void gather_of(const Gathering& g, std::vector<double>* matrix) {
  const std::uint32_t mask = shape_of(g.form, g.part).count() - 1;
  const unsigned per = elements_per(T);
  const unsigned count = registers_of(g.form, g.part, g.fragments, T);
  for (unsigned r = 0; r < count; ++r) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, g.x->frame + g.registers[r] + lane * register_bytes(T), register_bytes(T));
      const ElementRun run = g.fragments ? run_of_fragment(per, lane, r)
                                         : run_of_operand(g.form, g.part, per, lane, r);
      for (unsigned e = 0; e < per; ++e) {
        (*matrix)[(run.first + e * run.step) & mask] = number<T>(element_bits(bits, T, e));
      }
    }
  }
}

// A matrix out of the lanes' registers, row by row.
std::vector<double> gather(const Gathering& g, MatrixType type) {
  using Gather = void (*)(const Gathering&, std::vector<double>*);
  static constexpr std::pair<MatrixType, Gather> kGathers[] = {
      {MatrixType::kF16, gather_of<MatrixType::kF16>},
      {MatrixType::kBF16, gather_of<MatrixType::kBF16>},
      {MatrixType::kTF32, gather_of<MatrixType::kTF32>},
      {MatrixType::kF32, gather_of<MatrixType::kF32>},
      {MatrixType::kF64, gather_of<MatrixType::kF64>},
      {MatrixType::kE4M3, gather_of<MatrixType::kE4M3>},
      {MatrixType::kE5M2, gather_of<MatrixType::kE5M2>},
      {MatrixType::kS8, gather_of<MatrixType::kS8>},
      {MatrixType::kU8, gather_of<MatrixType::kU8>},
      {MatrixType::kS4, gather_of<MatrixType::kS4>},
      {MatrixType::kU4, gather_of<MatrixType::kU4>},
      {MatrixType::kB1, gather_of<MatrixType::kB1>},
      {MatrixType::kS32, gather_of<MatrixType::kS32>}};
  std::vector<double> matrix(shape_of(g.form, g.part).count());
  for (const auto& [known, gather_it] : kGathers) {
    if (known == type) gather_it(g, &matrix);
  }
  return matrix;
}

// Adds the products to `sums`, in the order of k. All matrices have a multiple of eight columns;
// eight sums stay in the host's registers.
template <class F>
void add_products(const MmaForm& form, const std::vector<double>& a, const std::vector<double>& b,
                  std::vector<double>* sums, F&& f) {
  constexpr std::size_t kBlock = 8;
  for (std::size_t row = 0; row < form.m; ++row) {
    const double* left = a.data() + row * form.k;
    for (std::size_t column = 0; column < form.n; column += kBlock) {
      double* to = sums->data() + row * form.n + column;
      double sum[kBlock];
      std::copy_n(to, kBlock, sum);
      const double* right = b.data() + column;
      for (std::size_t k = 0; k < form.k; ++k, right += form.n) {
        for (std::size_t c = 0; c < kBlock; ++c) sum[c] = f(left[k], right[c], sum[c]);
      }
      std::copy_n(sum, kBlock, to);
    }
  }
}

void multiply(std::uint8_t mode, const MmaForm& form, const std::vector<double>& a,
              const std::vector<double>& b, std::vector<double>* sums) {
  if (form.a == MatrixType::kF64) {
    return add_products(form, a, b, sums,
                        [](double p, double q, double sum) { return std::fma(p, q, sum); });
  }
  // Bits are 0 and 1: .and is their product, .xor how far they are apart.
  if (form.a == MatrixType::kB1 && (mode & kMmaAnd) == 0) {
    return add_products(form, a, b, sums,
                        [](double p, double q, double sum) { return sum + std::abs(p - q); });
  }
  add_products(form, a, b, sums, [](double p, double q, double sum) { return sum + p * q; });
}

std::uint64_t result_bits(std::uint8_t mode, MatrixType type, double sum) {
  switch (type) {
    case MatrixType::kF16:
      return matrix::narrow_odd<matrix::f16>(sum).bits;
    case MatrixType::kF64:
      return std::bit_cast<std::uint64_t>(sum);
    case MatrixType::kS32:
      break;
    default: {
      const auto single = static_cast<float>(sum);
      return std::isnan(single) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(single);
    }
  }
  // Sums of at most 256 products of bytes and a word are exact in double precision.
  if ((mode & kMmaSaturates) != 0) {
    sum = std::clamp(sum, double{std::numeric_limits<std::int32_t>::min()},
                     double{std::numeric_limits<std::int32_t>::max()});
  }
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(sum));
}

void scatter(Exec* x, const MmaForm& form, std::uint8_t mode, const std::uint32_t* registers,
             const std::vector<double>& sums) {
  const bool fragments = (mode & kMmaFragments) != 0;
  const unsigned per = elements_per(form.d);
  const auto mask = static_cast<std::uint32_t>(sums.size()) - 1;
  const unsigned count = registers_of(form, MatrixPart::kC, fragments, form.d);
  for (unsigned r = 0; r < count; ++r) {
    for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      const ElementRun run = fragments ? run_of_fragment(per, lane, r)
                                       : run_of_operand(form, MatrixPart::kC, per, lane, r);
      std::uint64_t bits = 0;
      for (unsigned e = 0; e < per; ++e) {
        bits |= result_bits(mode, form.d, sums[(run.first + e * run.step) & mask])
                << (e * (32 / per));
      }
      std::memcpy(x->frame + registers[r] + lane * register_bytes(form.d), &bits,
                  register_bytes(form.d));
    }
  }
}

}  // namespace

unsigned bits_of(MatrixType type) {
  switch (type) {
    case MatrixType::kF16:
    case MatrixType::kBF16:
      return 16;
    case MatrixType::kF64:
      return 64;
    case MatrixType::kE4M3:
    case MatrixType::kE5M2:
    case MatrixType::kS8:
    case MatrixType::kU8:
      return 8;
    case MatrixType::kS4:
    case MatrixType::kU4:
      return 4;
    case MatrixType::kB1:
      return 1;
    default:
      return 32;
  }
}

unsigned registers_of(const MmaForm& form, MatrixPart part, bool fragments, MatrixType type) {
  const unsigned width = type == MatrixType::kF64 ? 64 : 32;
  const unsigned held = shape_of(form, part).count() * bits_of(type) / (width * kLanes);
  // The elements of a and b in half precision are held twice (PTX ISA, "wmma" fragments).
  const bool twice = fragments && part != MatrixPart::kC && type == MatrixType::kF16;
  return twice ? 8 : std::max(held, 1u);
}

const Insn* op_mma(Exec* x, const Insn* i) {
  const Insn* next = nullptr;
  if (!whole_warp(x, i, &next)) return next;
  const auto form = std::bit_cast<MmaForm>(i->imm);
  const bool fragments = (i->mode & kMmaFragments) != 0;
  const std::uint32_t* const d = i->u.list;
  const std::uint32_t* const a = d + registers_of(form, MatrixPart::kC, fragments, form.d);
  const std::uint32_t* const b = a + registers_of(form, MatrixPart::kA, fragments, form.a);
  const std::uint32_t* const c = b + registers_of(form, MatrixPart::kB, fragments, form.b);
  const auto left = gather({x, form, MatrixPart::kA, fragments, a}, form.a);
  const auto right = gather({x, form, MatrixPart::kB, fragments, b}, form.b);
  auto sums = gather({x, form, MatrixPart::kC, fragments, c}, form.c);
  multiply(i->mode, form, left, right, &sums);
  scatter(x, form, i->mode, d, sums);
  return i + 1;
}

}  // namespace baton::sim
