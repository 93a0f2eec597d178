#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

#include "instructions/suite.h"

// cvt between all types (PTX ISA, "Data Movement and Conversion Instructions: cvt").
namespace baton::instructions {
namespace {

using Signed128 = __int128;

constexpr Mode kToInteger[] = {{".rni", Rounding::kRn},
                               {".rzi", Rounding::kRz},
                               {".rmi", Rounding::kRm},
                               {".rpi", Rounding::kRp}};

// A type that cvt converts from or to. An 8-bit value sits in a 32-bit register: the other bits of
// an operand do not count, those of a result extend it.
struct Type {
  std::string_view name;
  Kind kind;
  unsigned bits;
  bool is_signed = false;
  const FloatFormat* format = nullptr;

  Kind result_kind() const { return bits == 8 ? Kind::kU32 : kind; }
};
constexpr Type kIntegers[] = {{"u8", Kind::kU8, 8},    {"s8", Kind::kS8, 8, true},
                              {"u16", Kind::kU16, 16}, {"s16", Kind::kS16, 16, true},
                              {"u32", Kind::kU32, 32}, {"s32", Kind::kS32, 32, true},
                              {"u64", Kind::kU64, 64}, {"s64", Kind::kS64, 64, true}};
constexpr Type kHalf{"f16", Kind::kF16, 16, true, &kF16Format};
constexpr Type kBrain{"bf16", Kind::kBF16, 16, true, &kBF16Format};
constexpr Type kSingle{"f32", Kind::kF32, 32, true, &kF32Format};
constexpr Type kDouble{"f64", Kind::kF64, 64, true, &kF64Format};
constexpr const Type* kFloats[] = {&kHalf, &kBrain, &kSingle, &kDouble};

u64 mask_of(unsigned bits) {
  return bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
}

// Halves of bf16 take and give 8-bit integers in 8-bit registers only; all others also in wider
// ones.
std::string conversion_text(const std::string& modifiers, const Type& to, const Type& from) {
  const std::string opcode = fmt::format("cvt{}.{}.{}", modifiers, to.name, from.name);
  if (from.bits == 8 && &to == &kBrain) {
    return fmt::format("{{ .reg .b8 %t; cvt.u8.u32 %t, %a; {} %d, %t; }}", opcode);
  }
  if (to.bits == 8 && &from == &kBrain) {
    return fmt::format("{{ .reg .b8 %t; {} %t, %a; cvt.{}32.{} %d, %t; }}", opcode, to.name[0],
                       to.name);
  }
  return opcode + " %d, %a;";
}

// One operand's bits to one result's.
template <typename F>
Case& add_conversion(Group& group, const std::string& modifiers, const Type& to, const Type& from,
                     F convert) {
  const Match match = to.format != nullptr ? Match::kNan : Match::kBits;
  Case& added =
      group.add_rows(conversion_text(modifiers, to, from), {from.kind}, {{to.result_kind(), match}},
                     1, [convert, bits = from.bits](const u64* in, u64* out) {
                       out[0] = convert(in[0] & mask_of(bits));
                     });
  if (from.bits == 8) {
    u64 noise = 0x5a5a5a00;
    for (u64& edge : added.rows.operands[0].edges) {
      edge |= noise & 0xffffff00;
      noise = noise * 5 + 0x100;
    }
  }
  return added;
}

Signed128 integer_value(const Type& type, u64 bits) {
  const bool negative = type.is_signed && (bits >> (type.bits - 1) & 1) != 0;
  return negative ? Signed128{bits} - (Signed128{1} << type.bits) : Signed128{bits};
}
Signed128 least(const Type& type) {
  return type.is_signed ? -(Signed128{1} << (type.bits - 1)) : Signed128{0};
}
Signed128 most(const Type& type) {
  return (Signed128{1} << (type.is_signed ? type.bits - 1 : type.bits)) - 1;
}

// What a register holds of an integer: its low bits, and for 8 bits their extension.
u64 in_register(const Type& type, Signed128 value) {
  const u64 bits = static_cast<u64>(value) & mask_of(type.bits);
  if (type.bits > 8) return bits;
  return static_cast<u64>(integer_value(type, bits)) & 0xffffffff;
}

void add_integers(Group& group) {
  for (const Type& to : kIntegers) {
    for (const Type& from : kIntegers) {
      add_conversion(group, "", to, from,
                     [&to, &from](u64 bits) { return in_register(to, integer_value(from, bits)); });
      // .sat is legal only where something can be out of range.
      if (least(from) >= least(to) && most(from) <= most(to)) continue;
      add_conversion(group, ".sat", to, from, [&to, &from](u64 bits) {
        return in_register(to, std::clamp(integer_value(from, bits), least(to), most(to)));
      });
    }
  }
}

// Around the limits of integers, where clamping begins.
void add_limits(Values& values, const FloatFormat& format) {
  for (const int exponent : {7, 8, 15, 16, 31, 32, 63, 64}) {
    const u64 limit = from_double(format, std::ldexp(1.0, exponent));
    for (const u64 near : {limit - 1, limit, limit + 1}) {
      values.edges.push_back(near);
      values.edges.push_back(near | format.sign_bit());
    }
  }
  values.random = [any = values.random, &format](Random& random) {
    if (random() % 2 == 0) return any(random);
    const u64 field = u64(format.bias()) - 3 + random() % 70;
    return (random() & (format.sign_bit() | format.fraction_mask())) | field
                                                                           << format.fraction_bits;
  };
}

// NaN becomes zero, or, from f64 or to 64 bits, the pattern with the top bit alone.
void add_to_integer(Group& group, const Type& to, const Type& from) {
  const u64 nan_result = &from == &kDouble || to.bits == 64 ? u64{1} << (to.bits - 1) : 0;
  for (const Mode& mode : kToInteger) {
    for (const bool ftz : {false, true}) {
      if (ftz && &from != &kSingle) continue;
      for (const bool sat : {false, true}) {  // redundant: it always saturates
        if (sat && (&from == &kBrain || mode.rounding != Rounding::kRn)) continue;
        Case& added = add_conversion(
            group, fmt::format("{}{}{}", mode.name, ftz ? ".ftz" : "", sat ? ".sat" : ""), to, from,
            [&to, &from, ftz, nan_result, rounding = mode.rounding](u64 bits) {
              const u64 entered = ftz ? flush_subnormal(*from.format, bits) : bits;
              const u64 whole = float_to_integer(*from.format, entered, to.bits, to.is_signed,
                                                 rounding, nan_result);
              return in_register(to, integer_value(to, whole));
            });
        if (from.bits >= 32) add_limits(added.rows.operands[0], *from.format);
      }
    }
  }
}

void add_from_integer(Group& group, const Type& to, const Type& from) {
  for (const Mode& mode : kModes) {
    for (const bool sat : {false, true}) {
      if (sat && (&to == &kBrain || mode.rounding != Rounding::kRn)) continue;
      add_conversion(group, fmt::format("{}{}", mode.name, sat ? ".sat" : ""), to, from,
                     [&to, &from, sat, rounding = mode.rounding](u64 bits) {
                       const Signed128 whole = integer_value(from, bits);
                       const u64 result =
                           integer_to_float(*to.format, whole < 0,
                                            static_cast<u64>(whole < 0 ? -whole : whole), rounding);
                       return sat ? saturate_unit(*to.format, result) : result;
                     });
    }
  }
}

// Values of one format around what a narrower one can hold: subnormals, ties, overflow.
Values narrowing_values(Kind kind, const FloatFormat& to) {
  const FloatFormat& from = *info(kind).format;
  Values values = values_of(kind);
  values.random = [any = values.random, &to, &from](Random& random) {
    const u64 bits = any(random);
    const u64 spread = (u64(to.bias()) + to.fraction_bits) * 2 + 4;
    const u64 field = u64(from.bias()) - std::min(spread / 2, u64(from.bias())) + random() % spread;
    if (random() % 3 == 0 || field >> from.exponent_bits != 0) return bits;
    const u64 result =
        (bits & (from.sign_bit() | from.fraction_mask())) | field << from.fraction_bits;
    // Few bits make ties.
    return random() % 2 == 0 ? result & ~(from.fraction_mask() >> (to.fraction_bits + 1)) : result;
  };
  if (from.fraction_bits <= to.fraction_bits) return values;
  const u64 half_step = u64{1} << (from.fraction_bits - to.fraction_bits - 1);
  for (const u64 each : {to.largest(), to.smallest_normal(), u64{1}, u64{2}}) {
    const u64 wide = convert_float(to, each, from, Rounding::kRn);
    for (const u64 near : {wide, wide + half_step, wide + half_step - 1, wide + half_step + 1,
                           wide - half_step, wide - 1, wide + 1}) {
      values.edges.push_back(near & from.magnitude_mask());
      values.edges.push_back((near & from.magnitude_mask()) | from.sign_bit());
    }
  }
  return values;
}

void add_floats(Group& group, const Type& to, const Type& from) {
  const FloatFormat &target = *to.format, &source = *from.format;
  const bool single = &to == &kSingle || &from == &kSingle;
  const bool brain = &to == &kBrain || &from == &kBrain;
  const bool exact =
      target.exponent_bits >= source.exponent_bits && target.fraction_bits >= source.fraction_bits;
  for (const bool ftz : {false, true}) {
    for (const bool sat : {false, true}) {
      if ((ftz && !single) || (sat && brain)) continue;
      // .ftz concerns f32 alone, on whichever side it stands; but the hardware leaves the operands
      // of a narrowing to f16 as they are.
      const auto add = [&, ftz, sat](const Mode& mode, auto operation) -> Case& {
        return add_conversion(
            group, fmt::format("{}{}{}", mode.name, ftz ? ".ftz" : "", sat ? ".sat" : ""), to, from,
            [=, &to, &from](u64 bits) {
              const bool flush_in = ftz && &from == &kSingle && &to != &kHalf;
              const bool flush_out = ftz && &to == &kSingle;
              u64 result = operation(flush_in ? flush_subnormal(*from.format, bits) : bits);
              if (flush_out) result = flush_subnormal(*to.format, result);
              return sat ? saturate_unit(*to.format, result) : result;
            });
      };
      const auto add_rounded = [&](const Mode& mode) -> Case& {
        return add(mode, [&target, &source, rounding = mode.rounding](u64 bits) {
          return convert_float(source, bits, target, rounding);
        });
      };
      if (exact) {
        add_rounded({"", Rounding::kRn});
      } else {
        for (const Mode& mode : kModes) {
          Case& added = add_rounded(mode);
          if (from.bits > 16) added.operand(0, narrowing_values(from.kind, target));
        }
      }
      if (&to != &from) continue;
      for (const Mode& mode : kToInteger) {
        add(mode, [&source, rounding = mode.rounding](u64 bits) {
          return round_to_integral(source, bits, rounding);
        });
      }
    }
  }
}

// .relu and .satfinite, for one value and for two packed (a in the upper half).
template <typename D>
void add_narrow_forms(Group& group) {
  const std::string_view type = std::is_same_v<D, F16> ? "f16" : "bf16";
  for (const Mode& mode : {kModes[0], kModes[1]}) {
    for (const bool relu : {false, true}) {
      for (const bool finite : {false, true}) {
        const std::string form = fmt::format("cvt{}{}{}.{}", mode.name, relu ? ".relu" : "",
                                             finite ? ".satfinite" : "", type);
        const auto convert = [=, rounding = mode.rounding](F32 a) {
          return rectified(
              make_float<D>(convert_float(kF32Format, a.bits, D::kFormat, rounding, finite)), relu);
        };
        group.add(form + ".f32 %d, %a;", convert)
            .operand(0, narrowing_values(Kind::kF32, D::kFormat));
        group
            .add(form + "x2.f32 %d, %a, %b;",
                 [convert](F32 a, F32 b) {
                   return Pair<D>{convert(b), convert(a)};
                 })
            .operand(0, narrowing_values(Kind::kF32, D::kFormat))
            .operand(1, narrowing_values(Kind::kF32, D::kFormat));
      }
    }
  }
}

// The low 13 bits of a .tf32 register are not part of the value: the cases mask them.
void add_tf32(Group& group) {
  constexpr unsigned kDropped = 13;
  struct Form {
    std::string_view name;
    Rounding rounding;
    bool relu;
  };
  static constexpr Form kForms[] = {{"rna", Rounding::kRna, false},
                                    {"rn", Rounding::kRn, false},
                                    {"rz", Rounding::kRz, false},
                                    {"rn.relu", Rounding::kRn, true},
                                    {"rz.relu", Rounding::kRz, true}};
  for (const Form& form : kForms) {
    group
        .add(fmt::format("{{ .reg .b32 %t; cvt.{}.tf32.f32 %t, %a; and.b32 %d, %t, 0xffffe000; }}",
                         form.name),
             [&form](F32 a) {
               // The hardware leaves a NaN as it is where it rounds away from zero.
               if (is_nan(a) && form.rounding == Rounding::kRna) {
                 return make_float<F32>(a.bits & 0xffffe000);
               }
               const u64 narrow = convert_float(kF32Format, a.bits, kTF32Format, form.rounding);
               return rectified(make_float<F32>(narrow << kDropped), form.relu);
             })
        .operand(0, narrowing_values(Kind::kF32, kTF32Format));
  }
}

template <const FloatFormat& kFormat>
void add_fp8(Group& group, std::string_view type) {
  for (const bool relu : {false, true}) {
    const std::string form = fmt::format("cvt.rn.satfinite{}.{}", relu ? ".relu" : "", type);
    const auto convert = [relu](const FloatFormat& from, u64 bits) {
      const u64 narrow = convert_float(from, bits, kFormat, Rounding::kRn, true);
      return relu && !is_nan(kFormat, narrow) && is_negative(kFormat, narrow) ? u64{0} : narrow;
    };
    Values values = values_of(Kind::kF32);
    values.random = [](Random& random) {
      const u64 field = 127 - 20 + random() % 40;
      const u64 mask = random() % 2 == 0 ? 0x807fffff : 0x80780000;  // few bits make ties
      return (random() & mask) | field << 23;
    };
    group
        .add(form + ".f32 %d, %a, %b;",
             [convert](F32 a, F32 b) {
               return static_cast<u16>(convert(kF32Format, a.bits) << 8 |
                                       convert(kF32Format, b.bits));
             })
        .operand(0, values)
        .operand(1, values);
    group.add(form + ".f16x2 %d, %a;", [convert](F16x2 a) {
      return static_cast<u16>(convert(kF16Format, a.high.bits) << 8 |
                              convert(kF16Format, a.low.bits));
    });
    group.add(fmt::format("cvt.rn{}.f16x2.{} %d, %a;", relu ? ".relu" : "", type), [relu](u16 a) {
      const auto widen = [relu](u64 bits) {
        return rectified(make_float<F16>(convert_float(kFormat, bits, kF16Format, Rounding::kRn)),
                         relu);
      };
      return F16x2{widen(a & 0xff), widen(a >> 8)};
    });
  }
}

// Two saturated integers packed: a above b, and c's lower bits above both.
void add_pack(Group& group, unsigned bits, bool is_signed) {
  const s64 lowest = is_signed ? -(s64{1} << (bits - 1)) : 0;
  const s64 highest = (s64{1} << (is_signed ? bits - 1 : bits)) - 1;
  const auto pack = [=](s32 a, s32 b) {
    const u32 mask = (u32{1} << bits) - 1;
    const u32 high = static_cast<u32>(std::clamp<s64>(a, lowest, highest)) & mask;
    return high << bits | (static_cast<u32>(std::clamp<s64>(b, lowest, highest)) & mask);
  };
  const std::string type = fmt::format("{}{}", is_signed ? 's' : 'u', bits);
  if (bits == 16) {
    group.add(fmt::format("cvt.pack.sat.{}.s32 %d, %a, %b;", type), pack);
  } else {
    group.add(fmt::format("cvt.pack.sat.{}.s32.b32 %d, %a, %b, %c;", type),
              [pack, bits](s32 a, s32 b, u32 c) { return c << (2 * bits) | pack(a, b); });
  }
}

}  // namespace

void add_convert(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "convert";
  add_integers(family.group("integer_to_integer"));
  for (const Type* type : kFloats) {
    Group& to_integer = family.group(fmt::format("integer_from_{}", type->name));
    Group& from_integer = family.group(fmt::format("{}_from_integer", type->name));
    for (const Type& integer : kIntegers) {
      add_to_integer(to_integer, integer, *type);
      add_from_integer(from_integer, *type, integer);
    }
  }
  for (const Type* to : kFloats) {
    Group& floats = family.group(fmt::format("{}_from_float", to->name));
    for (const Type* from : kFloats) add_floats(floats, *to, *from);
  }
  Group& narrow = family.group("relu_satfinite");
  add_narrow_forms<F16>(narrow);
  add_narrow_forms<BF16>(narrow);
  add_tf32(family.group("tf32"));
  Group& fp8 = family.group("fp8");
  add_fp8<kE4M3Format>(fp8, "e4m3x2");
  add_fp8<kE5M2Format>(fp8, "e5m2x2");
  Group& pack = family.group("pack");
  for (const unsigned bits : {16u, 8u, 4u, 2u}) {
    add_pack(pack, bits, false);
    add_pack(pack, bits, true);
  }
}

}  // namespace baton::instructions
