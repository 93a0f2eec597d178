#include "pdl/origin/origin_computation.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace baton::overlap {
namespace {

class OriginComputation {
 public:
  explicit OriginComputation(OriginValues& values) : values_(values), pool_(values.pool()) {}

  OriginSet computed(const Operation& operation, ValueEffect effect) {
    const std::vector<ValueSource>& from = operation.sources;
    const bool is_binary = from.size() == 2, is_ternary = from.size() == 3;
    switch (effect) {
      case ValueEffect::kUnknown:
        return values_.either(values_.mixed(operation), values_.loaded(operation));
      case ValueEffect::kMix:
        break;
      case ValueEffect::kMixLanes:
        return values_.mixed_over_lanes(operation);
      case ValueEffect::kProperty:
        if (from.size() == 1) {
          return values_.each(of(from[0]), [&](OriginId id) { return pool_.property(id); });
        }
        break;
      case ValueEffect::kCopy:
        if (from.size() == 1) return made_generic(*operation.instruction, of(from[0]));
        break;
      case ValueEffect::kPlace:
        if (is_binary)
          return values_.add(of(from[0]), values_.mix({OriginPool::kNumber}, of(from[1])));
        break;
      case ValueEffect::kShuffle:
        if (!from.empty()) return of(from[0]);  // the others are conditions
        break;
      case ValueEffect::kMove:
        return moved(operation);
      case ValueEffect::kConvert:
        if (from.size() == 1) return converted(operation);
        break;
      case ValueEffect::kAdd:
        if (is_binary) return values_.add(of(from[0]), of(from[1]));
        break;
      case ValueEffect::kSubtract:
        if (is_binary) return values_.subtract(of(from[0]), of(from[1]));
        break;
      case ValueEffect::kNegate:
        if (from.size() == 1) return values_.subtract({OriginPool::kNumber}, of(from[0]));
        break;
      case ValueEffect::kMultiplyAdd:
        if (is_ternary) {
          return values_.add(
              of(from[2]),
              values_.negated_by(
                  operation, values_.widened(operation, values_.mix(of(from[0]), of(from[1])))));
        }
        break;
      case ValueEffect::kMask:
        if (is_binary) return masked(operation);
        break;
      case ValueEffect::kToggle:
        if (is_binary && is_below_alignment(from[1])) return of(from[0]);
        if (is_binary && is_below_alignment(from[0])) return of(from[1]);
        if (is_binary) {
          const OriginSet toggled = values_.each_pair(
              of(from[0]), of(from[1]), [&](OriginId a, OriginId b) { return pool_.toggle(a, b); });
          return values_.negated_by(operation, values_.widened(operation, toggled));
        }
        break;
      case ValueEffect::kChoose:
        if (is_binary) return chosen(of(from[0]), of(from[1]));
        break;
      case ValueEffect::kSelect:
        if (is_ternary) return values_.either(of(from[0]), of(from[1]));
        break;
      case ValueEffect::kCompare:
        return compared(operation);
    }
    return values_.mixed(operation);
  }

 private:
  OriginSet of(const ValueSource& source) { return values_.of(source); }

  // A number, or what was loaded, becomes an address of the space that is named. That of parameters
  // is one of anything.
  OriginSet made_generic(const ptx::Instruction& instruction, const OriginSet& value) {
    const bool is_local = instruction.has("local"), is_param = instruction.has("param");
    if (instruction.has("to") || (!is_local && !is_param)) return value;
    const SourceKind space = is_local ? SourceKind::kLocal : SourceKind::kParamSpace;
    return values_.each(value, [&](OriginId id) {
      const std::vector<AddressSource>& sources = pool_[id].sources;
      const bool is_there = std::ranges::any_of(
          sources, [&](const AddressSource& source) { return source.kind == space; });
      if (id == OriginPool::kUnknown || is_there) return id;
      return is_param ? OriginPool::kUnknown : pool_.add(id, values_.from(space)[0]);
    });
  }

  // Which of the two it is tells how they compare.
  OriginSet chosen(const OriginSet& a, const OriginSet& b) {
    const OriginSet outcome =
        values_.each_pair(a, b, [&](OriginId x, OriginId y) { return pool_.compare(x, y); });
    if (outcome.empty()) return {};
    const OriginSet one = values_.either(a, b);
    return outcome == OriginSet{OriginPool::kNumber} ? one : values_.add(one, outcome);
  }

  // x & ~15 is next to x; x & 15 tells its alignment.
  OriginSet masked(const Operation& operation) {
    const std::uint64_t all = operation.width == 64   ? UINT64_MAX
                              : operation.width == 32 ? UINT32_MAX
                                                      : 0;
    for (std::size_t k = 0; k < 2; ++k) {
      const ValueSource& mask = operation.sources[k];
      if (mask.kind != ValueSource::Kind::kConstant || all == 0) continue;
      const OriginSet value = of(operation.sources[1 - k]);
      if ((~mask.bits & all) < kAllocationAlignment) return value;
      if ((mask.bits & all) < kAllocationAlignment) {
        return values_.each(value, [&](OriginId id) { return pool_.low_bits(id); });
      }
    }
    return values_.mixed(operation);
  }

  OriginSet moved(const Operation& operation) {
    const std::vector<ValueSource>& from = operation.sources;
    const std::size_t written = operation.defines.size();
    if (from.size() == 1 && written == 1) return of(from[0]);
    // Each half of 128 bits is 64 bits that are moved as they are.
    const bool of_quads = operation.width == 128 && from.size() + written == 3;
    if (of_quads && from.size() == 1) return of(from[0]);
    if (of_quads) return values_.either(of(from[0]), of(from[1]));
    if (operation.width == 64 && from.size() == 2 && written == 1) {
      return values_.each_pair(of(from[0]), of(from[1]), [&](OriginId low, OriginId high) {
        return pool_.join_halves(low, high);
      });
    }
    return values_.mixed(operation);
  }

  OriginSet converted(const Operation& operation) {
    const auto bits_of = [](std::string_view type) {
      return type == "u64" || type == "s64" || type == "b64"   ? 64
             : type == "u32" || type == "s32" || type == "b32" ? 32
                                                               : 0;
    };
    const auto& modifiers = operation.instruction->modifiers;
    const OriginSet value = of(operation.sources[0]);
    if (modifiers.size() != 2 || operation.cuts) return values_.mixed(operation);
    const int to = bits_of(modifiers[0]), source = bits_of(modifiers[1]);
    if (to == 0 || source == 0) return values_.mixed(operation);
    if (to >= source) return value;
    return values_.each(value, [&](OriginId id) { return pool_.low(id); });
  }

  OriginSet compared(const Operation& operation) {
    const std::vector<ValueSource>& from = operation.sources;
    if (from.size() < 2) return values_.mixed(operation);
    OriginSet result = values_.each_pair(
        of(from[0]), of(from[1]), [&](OriginId a, OriginId b) { return pool_.compare(a, b); });
    for (std::size_t k = 2; k < from.size(); ++k) result = values_.mix(result, of(from[k]));
    return result;
  }

  OriginValues& values_;
  OriginPool& pool_;
};

}  // namespace

bool is_computation(const ptx::Form* form) {
  return form != nullptr && form->access == ptx::Form::Access::kNone &&
         (form->kind == ptx::Form::Kind::kPure || form->kind == ptx::Form::Kind::kCarry ||
          form->kind == ptx::Form::Kind::kLanes);
}

bool unpacks_halves(const Operation& operation) {
  return operation.instruction->opcode == "mov" && operation.width == 64 &&
         operation.sources.size() == 1 && operation.defines.size() == 2;
}

OriginSet computed_origins(OriginValues& values, const Operation& operation, ValueEffect effect) {
  return OriginComputation(values).computed(operation, effect);
}

}  // namespace baton::overlap
