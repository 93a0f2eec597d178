#include "pdl/origin/value_effect.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace baton::overlap {
namespace {

using Effect = ValueEffect;

const std::unordered_map<std::string_view, Effect>& effects() {
  static const std::unordered_map<std::string_view, Effect> kEffects = {
      {"add", Effect::kAdd},
      {"addc", Effect::kAdd},
      {"sub", Effect::kSubtract},
      {"subc", Effect::kSubtract},
      {"neg", Effect::kNegate},
      {"not", Effect::kNegate},  // -a - 1
      {"mad", Effect::kMultiplyAdd},
      {"mad24", Effect::kMultiplyAdd},
      {"madc", Effect::kMultiplyAdd},
      {"and", Effect::kMask},
      {"or", Effect::kToggle},
      {"xor", Effect::kToggle},
      {"min", Effect::kChoose},
      {"max", Effect::kChoose},
      {"selp", Effect::kSelect},
      {"slct", Effect::kSelect},
      {"setp", Effect::kCompare},
      {"set", Effect::kCompare},
      {"mov", Effect::kMove},
      {"cvt", Effect::kConvert},
      {"cvta", Effect::kCopy},
      // An address in the shared memory of another block of the cluster.
      {"mapa", Effect::kPlace},
      {"shfl", Effect::kShuffle},
      // Which space or block an address lies in.
      {"isspacep", Effect::kProperty},
      {"getctarank", Effect::kProperty},
  };
  return kEffects;
}

// Whether the type is one integer of 32 or 64 bits, so that its values may be addresses or parts
// of them.
bool is_integer(const ptx::Instruction& instruction) {
  for (const std::string_view name : instruction.modifiers) {
    for (const std::string_view type : {"u64", "s64", "b64", "u32", "s32", "b32"}) {
      if (name == type) return true;
    }
  }
  return false;
}

// Whether all modifiers are types of integers, or say which part of a product or whether the carry
// is meant. Others, such as sat and relu, make something else of the result.
bool is_whole_arithmetic(const ptx::Instruction& instruction) {
  return std::ranges::all_of(instruction.modifiers, [](std::string_view name) {
    for (const std::string_view known : {"u64", "s64", "b64", "u32", "s32", "b32", "u16", "s16",
                                         "b16", "lo", "hi", "wide", "cc"}) {
      if (name == known) return true;
    }
    return false;
  });
}

// Whether the row holds for integers alone.
bool needs_integers(Effect effect) {
  switch (effect) {
    case Effect::kAdd:
    case Effect::kSubtract:
    case Effect::kNegate:
    case Effect::kMultiplyAdd:
    case Effect::kMask:
    case Effect::kToggle:
    case Effect::kChoose:
      return true;
    case Effect::kUnknown:
    case Effect::kMix:
    case Effect::kMixLanes:
    case Effect::kCopy:
    case Effect::kPlace:
    case Effect::kMove:
    case Effect::kConvert:
    case Effect::kSelect:
    case Effect::kCompare:
    case Effect::kShuffle:
    case Effect::kProperty:
      return false;
  }
  return true;
}

}  // namespace

ValueEffect value_effect(const ptx::Instruction& instruction, const ptx::Form* form) {
  if (form == nullptr) return Effect::kUnknown;
  const auto found = effects().find(form->opcode);
  const bool is_known =
      found != effects().end() && (!needs_integers(found->second) ||
                                   (is_integer(instruction) && is_whole_arithmetic(instruction)));
  if (!is_known) {
    return form->kind == ptx::Form::Kind::kLanes ? Effect::kMixLanes : Effect::kMix;
  }
  return found->second;
}

}  // namespace baton::overlap
