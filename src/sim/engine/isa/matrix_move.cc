// Matrices between memory and the registers of a warp's lanes.

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/engine/isa/matrix.h"
#include "sim/engine/isa/matrix_layout.h"
#include "sim/engine/judge/lane_access.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

// One element of a fragment between memory and the bits of a register.
bool move_element(Exec* x, const Insn* i, int lane, const FragmentForm& form, std::uint64_t base,
                  std::uint64_t at, unsigned shift, std::uint64_t* bits) {
  const unsigned width = bits_of(form.type);
  const auto space = static_cast<Space>(form.space);
  // Elements of less than a byte lie in words whose neighbours other lanes hold: only loads of them
  // exist.
  const std::uint32_t bytes = std::max(width / 8, 1u);
  const std::uint64_t address = base + at * width / 8;
  std::uint64_t element = 0;
  if (form.store) {
    element = *bits >> shift;
    return store_lane(x, i, lane, space, address, &element, bytes, false);
  }
  if (!load_lane(x, i, lane, space, address, &element, bytes, LoadKind::kWeak)) return false;
  if (width < 8) element = element >> (at * width % 8) & ((1u << width) - 1);
  *bits |= element << shift;
  return true;
}

using Elements = std::uint16_t[8][8];

// The element of an 8x8 matrix that a lane holds as half e of its register.
std::uint16_t& held(Elements& elements, int lane, int e, bool transposed) {
  const int row = lane / 4;
  const int column = lane % 4 * 2 + e;
  return transposed ? elements[column][row] : elements[row][column];
}

void from_registers(const std::uint32_t* words, Elements& elements, bool transposed) {
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int e = 0; e < 2; ++e) {
      held(elements, lane, e, transposed) = static_cast<std::uint16_t>(words[lane] >> 16 * e);
    }
  }
}
void to_registers(std::uint32_t mask, Elements& elements, std::uint32_t* words, bool transposed) {
  for (; mask != 0; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    words[lane] = std::uint32_t{held(elements, lane, 1, transposed)} << 16 |
                  held(elements, lane, 0, transposed);
  }
}

}  // namespace

bool whole_warp(Exec* x, const Insn* i, const Insn** next) {
  return (x->warp->live & ~x->mask) == 0 || converge(x, i, x->warp->live, next);
}

const Insn* op_fragment(Exec* x, const Insn* i) {
  const Insn* next = nullptr;
  if (!whole_warp(x, i, &next)) return next;
  const auto form = std::bit_cast<FragmentForm>(i->imm);
  const unsigned per = elements_per(form.type);
  const std::uint32_t rows = form.rows;
  const std::uint32_t columns = form.columns;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t base = slot_at<std::uint64_t>(x, i->r[0])[lane];
    const std::uint64_t stride = form.has_stride  ? slot_at<std::uint32_t>(x, i->r[1])[lane]
                                 : form.by_column ? rows
                                                  : columns;
    for (unsigned r = 0; r < form.registers; ++r) {
      std::byte* slot =
          x->frame + i->u.list[r] + static_cast<std::size_t>(lane) * register_bytes(form.type);
      std::uint64_t bits = 0;
      if (form.store) std::memcpy(&bits, slot, register_bytes(form.type));
      const ElementRun run = run_of_fragment(per, static_cast<unsigned>(lane), r);
      for (unsigned e = 0; e < per; ++e) {
        const std::uint32_t number = (run.first + e * run.step) & (rows * columns - 1);
        const std::uint64_t row = number / columns;
        const std::uint64_t column = number % columns;
        const std::uint64_t at = form.by_column ? column * stride + row : row * stride + column;
        if (!move_element(x, i, lane, form, base, at, e * bits_of(form.type), &bits)) {
          return nullptr;
        }
      }
      if (!form.store) std::memcpy(slot, &bits, register_bytes(form.type));
    }
  }
  return i + 1;
}

const Insn* op_matrix_rows(Exec* x, const Insn* i) {
  const Insn* next = nullptr;
  if (!whole_warp(x, i, &next)) return next;
  constexpr std::uint32_t kRow = 16;  // bytes
  const int matrices = i->mode & 0xf;
  const bool transposed = (i->mode & kMatrixTransposed) != 0;
  const bool store = (i->mode & kMatrixStore) != 0;
  Elements elements[4] = {};
  for (int matrix = 0; matrix < matrices; ++matrix) {
    if (store) {
      from_registers(slot_at<std::uint32_t>(x, i->r[1 + matrix]), elements[matrix], transposed);
    }
    for (int row = 0; row < 8; ++row) {
      const int lane = matrix * 8 + row;
      const std::uint64_t address = slot_at<std::uint64_t>(x, i->r[0])[lane];
      std::uint16_t* data = elements[matrix][row];
      const bool moved =
          store ? store_lane(x, i, lane, Space::kGeneric, address, data, kRow, false)
                : load_lane(x, i, lane, Space::kGeneric, address, data, kRow, LoadKind::kWeak);
      if (!moved) return nullptr;
    }
  }
  for (int matrix = 0; matrix < matrices && !store; ++matrix) {
    to_registers(x->mask, elements[matrix], slot_at<std::uint32_t>(x, i->r[1 + matrix]),
                 transposed);
  }
  return i + 1;
}

const Insn* op_transpose(Exec* x, const Insn* i) {
  const Insn* next = nullptr;
  if (!whole_warp(x, i, &next)) return next;
  Elements elements = {};
  from_registers(slot_at<std::uint32_t>(x, i->r[1]), elements, false);
  to_registers(x->mask, elements, slot_at<std::uint32_t>(x, i->r[0]), true);
  return i + 1;
}

}  // namespace baton::sim
