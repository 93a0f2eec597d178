#include "sim/engine/isa/simd_video.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "sim/engine/isa/spec.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

std::int32_t part_of(std::uint32_t word, int k, int bits, bool is_signed) {
  const std::uint32_t part = word >> (k * bits) & ((1u << bits) - 1);
  if (!is_signed) return static_cast<std::int32_t>(part);
  return static_cast<std::int32_t>(part << (32 - bits)) >> (32 - bits);
}

std::int32_t applied(const SimdSpec& spec, std::int32_t a, std::int32_t b) {
  switch (spec.op) {
    case SimdOp::kAdd:
      return a + b;
    case SimdOp::kSub:
      return a - b;
    case SimdOp::kAverage:
      return (a + b + 1) >> 1;
    case SimdOp::kAbsDiff:
      return std::abs(a - b);
    case SimdOp::kMin:
      return std::min(a, b);
    case SimdOp::kMax:
      return std::max(a, b);
    case SimdOp::kSet: {
      const unsigned outcome = a < b ? kLess : a > b ? kGreater : kEqual;
      return (outcomes(static_cast<Compare>(spec.compare)) & outcome) != 0 ? 1 : 0;
    }
  }
  return 0;
}

std::uint32_t computed(const SimdSpec& spec, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const int bits = 32 / spec.parts;
  const std::int32_t low = spec.signed_result ? -(1 << (bits - 1)) : 0;
  const std::int32_t high = spec.signed_result ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  std::uint32_t packed = 0;
  std::uint32_t sum = c;
  for (int k = 0; k < spec.parts; ++k) {
    std::int32_t value =
        applied(spec, part_of(a, k, bits, spec.signed_a), part_of(b, k, bits, spec.signed_b));
    if (spec.saturates) value = std::clamp(value, low, high);
    sum += static_cast<std::uint32_t>(value);
    packed |= (static_cast<std::uint32_t>(value) & ((1u << bits) - 1)) << (k * bits);
  }
  return spec.accumulates ? sum : packed;
}

}  // namespace

const Insn* op_simd_video(Exec* x, const Insn* i) {
  const auto spec = std::bit_cast<SimdSpec>(i->imm);
  std::uint32_t* d = slot_at<std::uint32_t>(x, i->r[0]);
  const std::uint32_t* a = slot_at<std::uint32_t>(x, i->r[1]);
  const std::uint32_t* b = slot_at<std::uint32_t>(x, i->r[2]);
  const std::uint32_t* c = slot_at<std::uint32_t>(x, i->r[3]);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int l = std::countr_zero(left);
    d[l] = computed(spec, a[l], b[l], c[l]);
  }
  return i + 1;
}

}  // namespace baton::sim
