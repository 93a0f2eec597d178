#include <fmt/core.h>

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "instructions/suite.h"

// Comparison and selection (PTX ISA, "Comparison and Selection Instructions"): every comparison of
// every type, unordered ones included; a comparison with NaN is false unless its name ends in u.
namespace baton::instructions {
namespace {

struct Comparison {
  std::string_view name;
  bool less, equal, greater, unordered;
};
constexpr Comparison kOrdered[] = {
    {"eq", false, true, false, false}, {"ne", true, false, true, false},
    {"lt", true, false, false, false}, {"le", true, true, false, false},
    {"gt", false, false, true, false}, {"ge", false, true, true, false}};
constexpr Comparison kUnsigned[] = {{"lo", true, false, false, false},
                                    {"ls", true, true, false, false},
                                    {"hi", false, false, true, false},
                                    {"hs", false, true, true, false}};
constexpr Comparison kUnordered[] = {
    {"equ", false, true, false, true}, {"neu", true, false, true, true},
    {"ltu", true, false, false, true}, {"leu", true, true, false, true},
    {"gtu", false, false, true, true}, {"geu", false, true, true, true},
    {"num", true, true, true, false},  {"nan", false, false, false, true}};

template <typename T>
auto ordinal(T x, bool ftz) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return value(flush(x, ftz));
  }
}

template <typename T>
bool holds(const Comparison& comparison, T a, T b, bool ftz = false) {
  const auto x = ordinal(a, ftz), y = ordinal(b, ftz);
  if (x < y) return comparison.less;
  if (x > y) return comparison.greater;
  return x == y ? comparison.equal : comparison.unordered;
}

struct Combination {
  std::string_view name;
  bool (*apply)(bool t, bool c);
};
constexpr Combination kCombinations[] = {{"and", [](bool t, bool c) { return t && c; }},
                                         {"or", [](bool t, bool c) { return t || c; }},
                                         {"xor", [](bool t, bool c) { return t != c; }}};

template <typename T>
void add_setp(Group& group, const Comparison& comparison, std::string_view type,
              std::string_view flush_name = "") {
  const bool ftz = !flush_name.empty();
  group.add(fmt::format("setp.{}{}.{} %d, %a, %b;", comparison.name, flush_name, type),
            [&comparison, ftz](T a, T b) { return holds(comparison, a, b, ftz); });
}

// With a predicate and both destinations.
template <typename T>
void add_combined(Group& group, const Comparison& comparison, std::string_view type) {
  for (const Combination& combination : kCombinations) {
    for (const bool negated : {false, true}) {
      group.add(fmt::format("setp.{}.{}.{} %d|%x, %a, %b, {}%c;", comparison.name, combination.name,
                            type, negated ? "!" : ""),
                [&comparison, &combination, negated](T a, T b, bool c) {
                  const bool t = holds(comparison, a, b);
                  return std::tuple(combination.apply(t, c != negated),
                                    combination.apply(!t, c != negated));
                });
    }
  }
  group.add(fmt::format("setp.{}.{} %d|%x, %a, %b;", comparison.name, type),
            [&comparison](T a, T b) {
              const bool t = holds(comparison, a, b);
              return std::tuple(t, !t);
            });
}

constexpr F32 kOne{0x3f800000};

template <typename T>
void add_set(Group& group, const Comparison& comparison, std::string_view type,
             std::string_view flush_name = "") {
  const bool ftz = !flush_name.empty();
  for (const std::string_view result : {"u32", "s32"}) {
    group.add(
        fmt::format("set.{}{}.{}.{} %d, %a, %b;", comparison.name, flush_name, result, type),
        [&comparison, ftz](T a, T b) { return holds(comparison, a, b, ftz) ? ~u32{0} : u32{0}; });
  }
  group.add(fmt::format("set.{}{}.f32.{} %d, %a, %b;", comparison.name, flush_name, type),
            [&comparison, ftz](T a, T b) { return holds(comparison, a, b, ftz) ? kOne : F32{}; });
  const Combination& combination = kCombinations[static_cast<unsigned char>(type.back()) % 3];
  group.add(fmt::format("set.{}.{}{}.u32.{} %d, %a, %b, !%c;", comparison.name, combination.name,
                        flush_name, type),
            [&comparison, &combination, ftz](T a, T b, bool c) {
              return combination.apply(holds(comparison, a, b, ftz), !c) ? ~u32{0} : u32{0};
            });
}

template <typename T>
void add_integer_type(Group& setp, Group& set, Group& combined) {
  const unsigned bits = sizeof(T) * 8;
  const std::string type = fmt::format("{}{}", std::is_signed_v<T> ? 's' : 'u', bits);
  for (const Comparison& comparison : kOrdered) {
    add_setp<T>(setp, comparison, type);
    add_set<T>(set, comparison, type);
  }
  if constexpr (!std::is_signed_v<T>) {
    const std::string bit_type = fmt::format("b{}", bits);
    for (const Comparison& comparison : kUnsigned) {
      add_setp<T>(setp, comparison, type);
      add_set<T>(set, comparison, type);
    }
    for (const unsigned equality : {0u, 1u}) {
      add_setp<T>(setp, kOrdered[equality], bit_type);
      add_set<T>(set, kOrdered[equality], bit_type);
    }
  }
  add_combined<T>(combined, kOrdered[2], type);
}

template <typename T>
void add_float_type(Group& setp, Group& set, Group& combined, std::string_view type) {
  const auto add_all = [&](const Comparison& comparison) {
    add_setp<T>(setp, comparison, type);
    add_set<T>(set, comparison, type);
    if constexpr (std::is_same_v<T, F32>) {
      add_setp<T>(setp, comparison, type, ".ftz");
      add_set<T>(set, comparison, type, ".ftz");
    }
  };
  for (const Comparison& comparison : kOrdered) add_all(comparison);
  for (const Comparison& comparison : kUnordered) add_all(comparison);
  add_combined<T>(combined, kOrdered[2], type);
  add_combined<T>(combined, kUnordered[2], type);
}

template <typename T>
void add_selections(Group& selp, Group& slct, std::initializer_list<std::string_view> types) {
  for (const std::string_view type : types) {
    selp.add(fmt::format("selp.{} %d, %a, %b, %c;", type),
             [](T a, T b, bool c) { return c ? a : b; })
        .exact_nan();
    selp.add(fmt::format("selp.{} %d, %b, %a, !%c;", type),
             [](T a, T b, bool c) { return c ? a : b; })
        .exact_nan();
    slct.add(fmt::format("slct.{}.s32 %d, %a, %b, %c;", type),
             [](T a, T b, s32 c) { return c >= 0 ? a : b; })
        .exact_nan();
    // -0 counts as zero, and NaN selects b.
    slct.add(fmt::format("slct.{}.f32 %d, %a, %b, %c;", type),
             [](T a, T b, F32 c) { return value(c) >= 0 ? a : b; })
        .exact_nan();
    slct.add(fmt::format("slct.ftz.{}.f32 %d, %a, %b, %c;", type),
             [](T a, T b, F32 c) { return value(flush(c)) >= 0 ? a : b; })
        .exact_nan();
  }
}

}  // namespace

void add_compare(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "compare";
  Group& setp = family.group("setp");
  Group& set = family.group("set");
  Group& combined = family.group("setp_combined");
  add_integer_type<u16>(setp, set, combined);
  add_integer_type<s16>(setp, set, combined);
  add_integer_type<u32>(setp, set, combined);
  add_integer_type<s32>(setp, set, combined);
  add_integer_type<u64>(setp, set, combined);
  add_integer_type<s64>(setp, set, combined);
  add_float_type<F32>(setp, set, combined, "f32");
  add_float_type<F64>(setp, set, combined, "f64");
  combined.add("setp.eq.s32 %d|_, %a, %b;", [](s32 a, s32 b) { return a == b; });
  combined.add("setp.eq.s32 _|%d, %a, %b;", [](s32 a, s32 b) { return a != b; });
  combined.add("setp.gt.and.s32 %d, %a, 5, %b;", [](s32 a, bool b) { return a > 5 && b; });

  Group& selp = family.group("selp");
  Group& slct = family.group("slct");
  add_selections<u16>(selp, slct, {"b16", "u16", "s16"});
  add_selections<u32>(selp, slct, {"b32", "u32", "s32"});
  add_selections<u64>(selp, slct, {"b64", "u64", "s64"});
  add_selections<F32>(selp, slct, {"f32"});
  add_selections<F64>(selp, slct, {"f64"});
}

}  // namespace baton::instructions
