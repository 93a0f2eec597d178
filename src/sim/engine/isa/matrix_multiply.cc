#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "sim/engine/isa/matrix.h"
#include "sim/engine/isa/matrix_kernel.h"
#include "sim/engine/isa/matrix_layout.h"
#include "sim/engine/isa/matrix_sparse.h"
#include "sim/engine/isa/matrix_sums.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

// The largest matrices: of bits, and of nibbles that are half there.
constexpr std::size_t kMostLeft = 16 * 256;
constexpr std::size_t kMostRight = 8 * 256;
constexpr std::size_t kMostSums = 256;

struct MatrixOperand {
  Exec* x;
  const MmaForm& form;
  MatrixPart part;
  bool fragments;
  const std::uint32_t* registers;

  const std::uint32_t* words(unsigned r) const { return slot_at<std::uint32_t>(x, registers[r]); }
};

// A fragment out of the lanes' registers, row by row.
void gather_fragment(const MatrixOperand& o, MatrixType type, float* to) {
  const MatrixKernel& kernel = matrix_kernel();
  const unsigned per = elements_per(type);
  const std::uint32_t mask = shape_of(o.form, o.part).count() - 1;
  float row[kLanes * 32];
  for (unsigned r = 0; r < registers_of(o.form, o.part, true, type); ++r) {
    kernel.widen(type, o.words(r), kLanes, row);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const ElementRun run = run_of_fragment(per, lane, r);
      for (unsigned e = 0; e < per; ++e)
        to[(run.first + e * run.step) & mask] = row[lane * per + e];
    }
  }
}

// A register of a or b has eight rows, or columns, of elements that lie side by side.
void gather_operand(const MatrixOperand& o, MatrixType type, float* to) {
  const MatrixKernel& kernel = matrix_kernel();
  const unsigned width = 4 * elements_per(type);
  const unsigned count = registers_of(o.form, o.part, false, type);
  float rows[kLanes * 32];
  for (unsigned r = 0; r < count; ++r) {
    kernel.widen(type, o.words(r), kLanes, rows);
    if (o.part == MatrixPart::kB) {
      kernel.transpose(rows, width, to + r * width * o.form.n, o.form.n);
      continue;
    }
    const ElementRun first = run_of_operand(o.form, o.part, elements_per(type), 0, r);
    kernel.copy_rows(rows, width, to + first.first, o.form.k);
  }
}

void gather(const MatrixOperand& o, MatrixType type, float* to) {
  o.fragments ? gather_fragment(o, type, to) : gather_operand(o, type, to);
}

// The number of the first of a register's elements of c and d that a lane has.
std::uint32_t place_of_sum(const MatrixOperand& o, unsigned per, unsigned lane, unsigned r) {
  return o.fragments ? run_of_fragment(per, lane, r).first
                     : run_of_operand(o.form, o.part, per, lane, r).first;
}

void gather_sums(const MatrixOperand& o, MatrixType type, float* sums) {
  const MatrixKernel& kernel = matrix_kernel();
  const std::size_t step = o.form.n;
  if (type == MatrixType::kS32) {
    std::fill_n(sums, o.form.m * step, 0.0f);  // c is added later
    return;
  }
  if (o.fragments) return gather_fragment(o, type, sums);
  for (unsigned rows = 0; rows < o.form.m / 8u; ++rows) {
    float* to = sums + rows * 8 * step;
    if (type == MatrixType::kF16) {
      kernel.gather_halves(o.words(rows), to, step);
    } else {
      kernel.gather_pairs(o.words(2 * rows), o.words(2 * rows + 1), to, step);
    }
  }
}

std::uint16_t half_of(float value) {
  float row[64] = {value};
  std::uint32_t words[kLanes];
  matrix_kernel().scatter_halves(row, 8, words);
  return static_cast<std::uint16_t>(words[0]);
}

void scatter_fragment(const MatrixOperand& o, MatrixType type, const float* sums) {
  const unsigned per = elements_per(type);
  const std::uint32_t mask = shape_of(o.form, o.part).count() - 1;
  for (unsigned r = 0; r < registers_of(o.form, o.part, true, type); ++r) {
    std::uint32_t words[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const ElementRun run = run_of_fragment(per, lane, r);
      const auto sum = [&](unsigned e) { return sums[(run.first + e * run.step) & mask]; };
      words[lane] = type == MatrixType::kF16
                        ? std::uint32_t{half_of(sum(0))} | std::uint32_t{half_of(sum(1))} << 16
                        : canonical_bits(sum(0));
    }
    write_lanes(o.x, o.registers[r], words);
  }
}

void scatter_sums(const MatrixOperand& o, MatrixType type, const float* sums) {
  if (o.fragments) return scatter_fragment(o, type, sums);
  const MatrixKernel& kernel = matrix_kernel();
  const std::size_t step = o.form.n;
  std::uint32_t words[2][kLanes];
  for (unsigned rows = 0; rows < o.form.m / 8u; ++rows) {
    const float* from = sums + rows * 8 * step;
    if (type == MatrixType::kF16) {
      kernel.scatter_halves(from, step, words[0]);
      write_lanes(o.x, o.registers[rows], words[0]);
      continue;
    }
    kernel.scatter_pairs(from, step, words[0], words[1]);
    write_lanes(o.x, o.registers[2 * rows], words[0]);
    write_lanes(o.x, o.registers[2 * rows + 1], words[1]);
  }
}

// d = c + sums. Sums of products of one instruction are integers that single precision has.
void add_integers(const MatrixOperand& c, const std::uint32_t* d, bool saturates,
                  const float* sums) {
  const std::uint32_t mask = shape_of(c.form, c.part).count() - 1;
  for (unsigned r = 0; r < registers_of(c.form, c.part, c.fragments, MatrixType::kS32); ++r) {
    std::uint32_t words[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const float sum = sums[place_of_sum(c, 1, lane, r) & mask];
      words[lane] = add_integer(c.words(r)[lane], sum, saturates);
    }
    write_lanes(c.x, d[r], words);
  }
}

// f64: a chain of fused multiply-adds for each element, in the order of k.
void multiply_doubles(Exec* x, const MmaForm& form, bool fragments, const std::uint32_t* const d,
                      const std::uint32_t* const a, const std::uint32_t* const b,
                      const std::uint32_t* const c) {
  const auto gather_doubles = [&](MatrixPart part, const std::uint32_t* registers, double* to) {
    const std::uint32_t mask = shape_of(form, part).count() - 1;
    for (unsigned r = 0; r < registers_of(form, part, fragments, MatrixType::kF64); ++r) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const ElementRun run =
            fragments ? run_of_fragment(1, lane, r) : run_of_operand(form, part, 1, lane, r);
        to[run.first & mask] = slot_at<double>(x, registers[r])[lane];
      }
    }
  };
  double left[16 * 16], right[16 * 8], sums[16 * 8];
  gather_doubles(MatrixPart::kA, a, left);
  gather_doubles(MatrixPart::kB, b, right);
  gather_doubles(MatrixPart::kC, c, sums);
  for (unsigned row = 0; row < form.m; ++row) {
    for (unsigned column = 0; column < form.n; ++column) {
      double& sum = sums[row * form.n + column];
      for (unsigned k = 0; k < form.k; ++k) {
        sum = std::fma(left[row * form.k + k], right[k * form.n + column], sum);
      }
    }
  }
  const std::uint32_t mask = shape_of(form, MatrixPart::kC).count() - 1;
  for (unsigned r = 0; r < registers_of(form, MatrixPart::kC, fragments, MatrixType::kF64); ++r) {
    for (std::uint32_t lanes = x->mask; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      const ElementRun run = fragments ? run_of_fragment(1, lane, r)
                                       : run_of_operand(form, MatrixPart::kC, 1, lane, r);
      slot_at<double>(x, d[r])[lane] = sums[run.first & mask];
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

void count_differences(std::size_t count, float* numbers) {
  for (std::size_t k = 0; k < count; ++k) numbers[k] = 1 - 2 * numbers[k];
}

void write_lanes(Exec* x, std::uint32_t slot, const std::uint32_t* words) {
  std::uint32_t* to = slot_at<std::uint32_t>(x, slot);
  if (x->full) {
    std::memcpy(to, words, kSlot32);
    return;
  }
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    to[lane] = words[lane];
  }
}

const Insn* op_mma(Exec* x, const Insn* i) {
  const Insn* next = nullptr;
  if (!whole_warp(x, i, &next)) return next;
  const auto form = std::bit_cast<MmaForm>(i->imm);
  const bool fragments = (i->mode & kMmaFragments) != 0;
  const bool is_sparse = (i->mode & kMmaSparse) != 0;
  MmaForm held = form;  // what of a is there
  if (is_sparse) held.k /= 2;
  const std::uint32_t* const d = i->u.list;
  const std::uint32_t* const a = d + registers_of(form, MatrixPart::kC, fragments, form.d);
  const std::uint32_t* const b = a + registers_of(held, MatrixPart::kA, fragments, form.a);
  const std::uint32_t* const c = b + registers_of(form, MatrixPart::kB, fragments, form.b);
  if (form.a == MatrixType::kF64) {
    multiply_doubles(x, form, fragments, d, a, b, c);
    return i + 1;
  }
  float left[kMostLeft], right[kMostRight], sums[kMostSums];
  gather({x, held, MatrixPart::kA, fragments, a}, form.a, left);
  gather({x, form, MatrixPart::kB, fragments, b}, form.b, right);
  const MatrixOperand from{x, form, MatrixPart::kC, fragments, c};
  gather_sums(from, form.c, sums);
  if (is_sparse) {
    float compressed[16 * 64];
    std::copy_n(left, 16u * held.k, compressed);
    const std::uint32_t* e = c + registers_of(form, MatrixPart::kC, fragments, form.c);
    expand_sparse(form.a, form.k, slot_at<std::uint32_t>(x, *e), i->mode >> kMmaSelectorShift,
                  compressed, left);
  }
  const bool counts = form.a == MatrixType::kB1 && (i->mode & kMmaAnd) == 0;
  if (counts) {
    count_differences(shape_of(form, MatrixPart::kA).count(), left);
    count_differences(shape_of(form, MatrixPart::kB).count(), right);
  }
  matrix_kernel().multiply({form.m, form.n, form.k}, left, right, sums);
  if (form.d == MatrixType::kS32) {
    if (counts) {
      for (unsigned k = 0; k < shape_of(form, MatrixPart::kC).count(); ++k) {
        sums[k] = differences_of(form.k, sums[k]);
      }
    }
    add_integers(from, d, (i->mode & kMmaSaturates) != 0, sums);
  } else {
    scatter_sums({x, form, MatrixPart::kC, fragments, d}, form.d, sums);
  }
  return i + 1;
}

}  // namespace baton::sim
