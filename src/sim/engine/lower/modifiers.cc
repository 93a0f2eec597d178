#include "sim/engine/lower/modifiers.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

namespace baton::sim {
namespace {

struct TypeFacts {
  std::string_view name;
  Type type;
  unsigned bits;
};
constexpr std::array kTypes = {
    TypeFacts{"pred", Type::kPred, 1},      TypeFacts{"b8", Type::kB8, 8},
    TypeFacts{"b16", Type::kB16, 16},       TypeFacts{"b32", Type::kB32, 32},
    TypeFacts{"b64", Type::kB64, 64},       TypeFacts{"b128", Type::kB128, 128},
    TypeFacts{"u8", Type::kU8, 8},          TypeFacts{"u16", Type::kU16, 16},
    TypeFacts{"u32", Type::kU32, 32},       TypeFacts{"u64", Type::kU64, 64},
    TypeFacts{"s8", Type::kS8, 8},          TypeFacts{"s16", Type::kS16, 16},
    TypeFacts{"s32", Type::kS32, 32},       TypeFacts{"s64", Type::kS64, 64},
    TypeFacts{"f16", Type::kF16, 16},       TypeFacts{"bf16", Type::kBF16, 16},
    TypeFacts{"f32", Type::kF32, 32},       TypeFacts{"f64", Type::kF64, 64},
    TypeFacts{"f16x2", Type::kF16x2, 32},   TypeFacts{"bf16x2", Type::kBF16x2, 32},
    TypeFacts{"u16x2", Type::kU16x2, 32},   TypeFacts{"s16x2", Type::kS16x2, 32},
    TypeFacts{"e4m3x2", Type::kE4M3x2, 16}, TypeFacts{"e5m2x2", Type::kE5M2x2, 16},
    TypeFacts{"tf32", Type::kTF32, 32},
};

constexpr std::array<std::pair<std::string_view, Rounding>, 9> kRoundings = {{
    {"rn", Rounding::kRn},
    {"rz", Rounding::kRz},
    {"rm", Rounding::kRm},
    {"rp", Rounding::kRp},
    {"rna", Rounding::kRna},
    {"rni", Rounding::kRni},
    {"rzi", Rounding::kRzi},
    {"rmi", Rounding::kRmi},
    {"rpi", Rounding::kRpi},
}};

// Cache operators, eviction priorities and prefetch sizes (PTX ISA 9.0, "Cache Operators").
constexpr std::array<std::string_view, 20> kHints = {
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "nc",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_last",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "L2::cache_hint",
};

}  // namespace

std::optional<Type> parse_type(std::string_view name) {
  for (const TypeFacts& facts : kTypes) {
    if (facts.name == name) return facts.type;
  }
  return std::nullopt;
}

unsigned bits_of(Type type) {
  for (const TypeFacts& facts : kTypes) {
    if (facts.type == type) return facts.bits;
  }
  return 0;
}

bool is_float_type(Type type) {
  return type == Type::kF32 || type == Type::kF64;
}

bool is_half_type(Type type) {
  return type == Type::kF16 || type == Type::kBF16 || type == Type::kF16x2 || type == Type::kBF16x2;
}

bool is_signed_type(Type type) {
  return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64;
}

Type widened(Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    case Type::kS32:
      return Type::kS64;
    default:
      throw Unsupported{"there is no type twice as wide"};
  }
}

Modifiers::Modifiers(const ptx::Instruction& instruction)
    : instruction_(instruction), left_(instruction.modifiers) {}

bool Modifiers::take(std::string_view name) {
  const auto found = std::find(left_.begin(), left_.end(), name);
  if (found == left_.end()) return false;
  left_.erase(found);
  return true;
}

std::optional<std::size_t> Modifiers::take_one_of(std::initializer_list<std::string_view> names) {
  std::size_t k = 0;
  for (std::string_view name : names) {
    if (take(name)) return k;
    ++k;
  }
  return std::nullopt;
}

std::optional<Type> Modifiers::take_type() {
  for (auto at = left_.begin(); at != left_.end(); ++at) {
    if (const std::optional<Type> type = parse_type(*at)) {
      left_.erase(at);
      return type;
    }
  }
  return std::nullopt;
}

Type Modifiers::need_type() {
  const std::optional<Type> type = take_type();
  if (!type) throw Unsupported{"it has no type that is known"};
  return *type;
}

Rounding Modifiers::take_rounding() {
  for (const auto& [name, rounding] : kRoundings) {
    if (take(name)) return rounding;
  }
  return Rounding::kNone;
}

MemoryScope Modifiers::take_scope() {
  const auto scope = take_one_of({"cta", "cluster", "gpu", "sys"});
  constexpr MemoryScope kScopes[] = {MemoryScope::kBlock, MemoryScope::kCluster,
                                     MemoryScope::kDevice, MemoryScope::kSystem};
  return scope ? kScopes[*scope] : MemoryScope::kDevice;
}

void Modifiers::drop_hints() {
  for (std::string_view hint : kHints) take(hint);
}

void Modifiers::finish() const {
  if (left_.empty()) return;
  throw Unsupported{fmt::format("the simulated GPU does not know the modifier .{} of {}",
                                left_.front(), instruction_.opcode)};
}

}  // namespace baton::sim
