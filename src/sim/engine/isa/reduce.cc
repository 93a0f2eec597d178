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

template <class T>
Reduce find_arithmetic(AtomOp op) {
  switch (op) {
    case AtomOp::kAdd:
      return reduce<T, AtomOp::kAdd>;
    case AtomOp::kMin:
      return reduce<T, AtomOp::kMin>;
    case AtomOp::kMax:
      return reduce<T, AtomOp::kMax>;
    case AtomOp::kInc:
      return same<T, u32> ? reduce<u32, AtomOp::kInc> : nullptr;
    case AtomOp::kDec:
      return same<T, u32> ? reduce<u32, AtomOp::kDec> : nullptr;
    default:
      return nullptr;
  }
}
template <class T>
Reduce find_bits(AtomOp op) {
  switch (op) {
    case AtomOp::kAnd:
      return reduce<T, AtomOp::kAnd>;
    case AtomOp::kOr:
      return reduce<T, AtomOp::kOr>;
    case AtomOp::kXor:
      return reduce<T, AtomOp::kXor>;
    default:
      return nullptr;
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
      return op == AtomOp::kAdd ? reduce<f32, AtomOp::kAdd> : nullptr;
    case Type::kF64:
      return op == AtomOp::kAdd ? reduce<f64, AtomOp::kAdd> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace reduction

Reduce find_reduction(AtomOp op, Type type) {
  return reduction::find(op, type);
}

}  // namespace baton::sim
