#include "pdl/order/shared_place.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace baton::overlap {
namespace {

// Offsets are numbers of 32 bits that stay below this: what wraps around is not followed.
constexpr std::uint64_t kMostOffset = std::uint64_t{1} << 31;

std::optional<std::int64_t> as_signed(std::uint64_t bits, unsigned width) {
  if (width == 64) return static_cast<std::int64_t>(bits);
  if (width == 32) return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
  return std::nullopt;
}

Value sum(const Value& address, const Value& number, unsigned width, bool subtracts) {
  if (!address.is_address() || !number.is_range()) return Value::varies();
  const auto least = as_signed(number.bits, width), most = as_signed(number.most, width);
  // Of a range that goes over the sign the two ends are not its least and its greatest number.
  if (!least || !most || *least > *most) return Value::varies();
  const auto low = static_cast<std::uint64_t>(*least), high = static_cast<std::uint64_t>(*most);
  Value result = address;
  result.bits = address.bits + (subtracts ? 0 - high : low);
  result.most = address.most + (subtracts ? 0 - low : high);
  // A sum that wraps around and comes below the bound is right: registers wrap around too.
  const bool fits = result.bits <= result.most && result.most < kMostOffset;
  return fits ? result : Value::varies();
}

// cvta.to.shared takes a generic address, cvta.shared gives one.
Value converted(const ptx::Instruction& i, Value address) {
  const bool is_shared = i.has("shared") || i.has("shared::cta") || i.has("shared::cluster");
  const bool to_shared = i.has("to");
  const bool fits = address.is_shared() && address.is_generic == to_shared;
  if (!is_shared || !fits) return Value::varies();
  address.is_generic = !to_shared;
  return address;
}

bool is_word(std::string_view type) {
  for (const char* const word : {"u32", "s32", "b32", "u64", "s64", "b64"}) {
    if (type == word) return true;
  }
  return false;
}

}  // namespace

std::uint64_t variable_bytes(const ptx::Variable& variable) {
  std::uint64_t bits = 0;
  for (const char c : variable.type) {
    if (c >= '0' && c <= '9') bits = bits * 10 + static_cast<std::uint64_t>(c - '0');
  }
  std::uint64_t bytes = bits / 8 * variable.vector;
  for (const std::int64_t extent : variable.extents) {
    const bool fits =
        extent > 0 && !__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes);
    if (!fits) return 0;
  }
  return bytes;
}

Value address_of(const Operation& operation, std::span<const Value> from) {
  const ptx::Instruction& i = *operation.instruction;
  const std::string_view name = i.opcode;
  for (const ptx::InstructionOperand& operand : i.operands) {
    if (operand.negated) return Value::varies();
  }
  const bool is_wide = operation.width == 32 || operation.width == 64;
  if (!is_wide || i.modifiers.empty() || i.has("cc") || i.has("sat") || i.has("hi")) {
    return Value::varies();
  }
  if (from.size() == 1 && name == "mov") return from[0];
  if (from.size() == 1 && name == "cvta") return converted(i, from[0]);
  if (from.size() == 1 && name == "cvt" && i.modifiers.size() == 2) {
    // The lower half of a generic address is none in shared memory.
    const bool keeps =
        is_word(i.modifiers[0]) && is_word(i.modifiers[1]) &&
        (!from[0].is_generic || (i.modifiers[0].ends_with("64") && i.modifiers[1].ends_with("64")));
    return keeps ? from[0] : Value::varies();
  }
  if (from.size() == 2 && name == "mapa" && from[0].is_shared()) {
    Value remote = from[0];
    remote.is_remote = true;
    return remote;
  }
  if (!is_word(i.modifiers.back())) return Value::varies();
  if (from.size() == 2 && name == "add") {
    return from[0].is_address() ? sum(from[0], from[1], operation.width, false)
                                : sum(from[1], from[0], operation.width, false);
  }
  if (from.size() == 2 && name == "sub") return sum(from[0], from[1], operation.width, true);
  if (from.size() == 3 && name == "mad") {
    const Value product =
        result_of(operation, std::vector<Value>{from[0], from[1], Value::constant(0)}, {});
    return sum(from[2], product, operation.width, false);
  }
  if (from.size() == 3 && name == "selp") {
    if (from[2].is_constant()) return from[(from[2].bits & 1) != 0 ? 0 : 1];
    return joined(from[0], from[1]);
  }
  return Value::varies();
}

Value moved(const Value& address, std::int64_t bytes) {
  return sum(address, Value::constant(static_cast<std::uint64_t>(bytes)), 64, false);
}

bool may_overlap(const Code& code, const Value& a, const Value& b, std::uint64_t bytes) {
  if (!a.is_shared() || !b.is_shared()) return true;
  if (a.root == b.root) return a.bits < b.most + bytes && b.bits < a.most + bytes;
  // Two variables are apart, and what leaves its own may be in another.
  for (const Value& address : {a, b}) {
    const ptx::Variable* const variable = code.shared_variables[address.root];
    if (variable != nullptr && address.most + bytes > variable_bytes(*variable)) return true;
  }
  return false;
}

}  // namespace baton::overlap
