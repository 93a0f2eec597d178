#include "sim/engine/isa/reduce.h"

#include <cstring>

#define BATON_SIM_VARIANT reduction
#include "sim/engine/isa/reduction.inc"

namespace baton::sim {
namespace reduction {
namespace {

template <class T, AtomOp O>
void reduce(std::byte* to, const std::byte* from, std::size_t bytes) {
  using U = Raw<T>;
  for (std::size_t at = 0; at + sizeof(U) <= bytes; at += sizeof(U)) {
    U operand;
    std::memcpy(&operand, from + at, sizeof(U));
    const auto apply = [&](U now) -> U { return applied<T, O>(now, operand, U{0}); };
    U* target = reinterpret_cast<U*>(to + at);
    U old = __atomic_load_n(target, __ATOMIC_RELAXED);
    U next = apply(old);
    while (!__atomic_compare_exchange_n(target, &old, next, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
      next = apply(old);
    }
  }
}

template <class T, AtomOp O>
Reduce made() {
  return {reduce<T, O>, sizeof(Raw<T>)};
}

template <class T>
Reduce find_arithmetic(AtomOp op) {
  switch (op) {
    case AtomOp::kAdd:
      return made<T, AtomOp::kAdd>();
    case AtomOp::kMin:
      return made<T, AtomOp::kMin>();
    case AtomOp::kMax:
      return made<T, AtomOp::kMax>();
    case AtomOp::kInc:
      return same<T, u32> ? made<u32, AtomOp::kInc>() : Reduce{};
    case AtomOp::kDec:
      return same<T, u32> ? made<u32, AtomOp::kDec>() : Reduce{};
    default:
      return {};
  }
}
template <class T>
Reduce find_bits(AtomOp op) {
  switch (op) {
    case AtomOp::kAnd:
      return made<T, AtomOp::kAnd>();
    case AtomOp::kOr:
      return made<T, AtomOp::kOr>();
    case AtomOp::kXor:
      return made<T, AtomOp::kXor>();
    default:
      return {};
  }
}
Reduce find(AtomOp op, Type type) {
  switch (type) {
    case Type::kB32:
      return find_bits<u32>(op);
    case Type::kB64:
      return find_bits<u64>(op);
    case Type::kU32:
      return find_arithmetic<u32>(op);
    case Type::kS32:
      return find_arithmetic<s32>(op);
    case Type::kU64:
      return find_arithmetic<u64>(op);
    case Type::kS64:
      return find_arithmetic<s64>(op);
    case Type::kF16:
      return find_arithmetic<f16>(op);
    case Type::kBF16:
      return find_arithmetic<bf16>(op);
    case Type::kF32:
      return op == AtomOp::kAdd ? made<f32, AtomOp::kAdd>() : Reduce{};
    case Type::kF64:
      return op == AtomOp::kAdd ? made<f64, AtomOp::kAdd>() : Reduce{};
    default:
      return {};
  }
}

}  // namespace
}  // namespace reduction

Reduce find_reduction(AtomOp op, Type type) {
  return reduction::find(op, type);
}

}  // namespace baton::sim
