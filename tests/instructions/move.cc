#include <fmt/core.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "instructions/suite.h"

// mov, its packing forms, constants as PTX spells them, addresses and their conversion (PTX ISA,
// "Data Movement and Conversion Instructions": mov, cvta, isspacep; "Constants").
namespace baton::instructions {
namespace {

template <typename T>
void add_copies(Group& group, std::initializer_list<std::string_view> types) {
  for (const std::string_view type : types) {
    group.add(fmt::format("mov.{} %d, %a;", type), [](T a) { return a; }).exact_nan();
  }
}

template <unsigned kBits, typename T>
T part(u64 x, unsigned index) {
  return static_cast<T>(x >> (index * kBits));
}

void add_packing(Group& group) {
  group.add("mov.b32 %d, {%a, %b};", [](u16 a, u16 b) { return u32{b} << 16 | a; });
  group.add("mov.b32 {%d, %x}, %a;",
            [](u32 a) { return std::tuple(part<16, u16>(a, 0), part<16, u16>(a, 1)); });
  group.add("mov.b32 {_, %d}, %a;", [](u32 a) { return part<16, u16>(a, 1); });
  group.add("mov.b64 %d, {%a, %b};", [](u32 a, u32 b) { return u64{b} << 32 | a; });
  group.add("mov.b64 {%d, %x}, %a;",
            [](u64 a) { return std::tuple(part<32, u32>(a, 0), part<32, u32>(a, 1)); });
  group.add("mov.b64 {%d, _}, %a;", [](u64 a) { return part<32, u32>(a, 0); });
  group.add("mov.b64 %d, {%a, %b, %c, %e};", [](u16 a, u16 b, u16 c, u16 e) {
    return u64{e} << 48 | u64{c} << 32 | u64{b} << 16 | a;
  });
  group.add("mov.b64 {%d, %x, %y, %z}, %a;", [](u64 a) {
    return std::tuple(part<16, u16>(a, 0), part<16, u16>(a, 1), part<16, u16>(a, 2),
                      part<16, u16>(a, 3));
  });
}

// Each spelling of a constant gives these bits.
void add_constants(Group& group) {
  struct Constant {
    std::string_view type, text;
    u64 bits;
  };
  static constexpr Constant kConstants[] = {
      {"u32", "4294967295", 0xffffffff},
      {"s32", "-1", 0xffffffff},
      {"u32", "0x1F", 31},
      {"u32", "0xabU", 0xab},
      {"u32", "017", 15},
      {"u32", "0b1011", 11},
      {"s32", "-2147483648", 0x80000000},
      {"u32", "WARP_SZ", 32},
      {"u32", "(3 + 4) * 5 - 1", 34},
      {"u32", "1 << 5 | 3", 35},
      {"u32", "~0 & 0xf0", 0xf0},
      {"s32", "-7 / 2", 0xfffffffd},
      {"s32", "-7 % 3", 0},  // the remainder is of unsigned numbers: 2^64 - 7 is a multiple of 3
      {"s32", "5 > 3 ? 10 : 20", 10},
      {"s32", "!0 + !5", 1},
      {"u64", "0xFFFFFFFFFFFFFFFF", ~u64{0}},
      {"s64", "-9223372036854775808", u64{1} << 63},
      {"u64", "18446744073709551615", ~u64{0}},
      {"u16", "65535", 0xffff},
      {"s16", "-2", 0xfffe},
      {"f32", "0f3F800000", 0x3f800000},
      {"f32", "0F7fC00000", 0x7fc00000},
      {"f32", "1.5", 0x3fc00000},
      {"f32", "-2.5e-3", 0xbb23d70a},
      {"f32", "0d3FF8000000000000", 0x3fc00000},
      {"f64", "0d3FF0000000000000", 0x3ff0000000000000},
      {"f64", "1e300", 0x7e37e43c8800759c},
      {"f64", "0f40000000", 0x40000000},  // its bits, not its value
      {"b32", "0f40490fdb", 0x40490fdb},
      {"b64", "0dC000000000000000", 0xc000000000000000},
  };
  for (const Constant& constant : kConstants) {
    const std::string text = fmt::format("mov.{} %d, {};", constant.type, constant.text);
    const unsigned bits = constant.type.back() == '6' ? 16 : constant.type.back() == '2' ? 32 : 64;
    if (bits == 16) {
      group.add(text, [&constant]() { return static_cast<u16>(constant.bits); });
    } else if (bits == 32) {
      group.add(text, [&constant]() { return static_cast<u32>(constant.bits); });
    } else {
      group.add(text, [&constant]() { return constant.bits; });
    }
  }
}

// An address of each space to a generic one and back, and which space the generic one is of.
void add_addresses(Group& group) {
  group.declare(
      ".global .align 8 .b8 in_global[64];\n"
      ".const .align 8 .b32 in_const[4] = {1, 2, 3, 4};\n");
  struct Space {
    std::string_view name, variable, declaration;
  };
  static constexpr Space kSpaces[] = {
      {"global", "in_global", ""},
      {"shared", "in_shared", ".shared .align 8 .b8 in_shared[64];"},
      {"local", "in_local", ".local .align 8 .b8 in_local[64];"},
      {"const", "in_const", ""}};
  for (const Space& space : kSpaces) {
    group.add(fmt::format("{1}\n  .reg .b64 %p, %q, %r, %s;\n  mov.u64 %p, {2};\n"
                          "  add.u64 %p, %p, 16;\n  cvta.{0}.u64 %q, %p;\n"
                          "  cvta.to.{0}.u64 %r, %q;\n  cvta.{0}.u64 %s, {2};\n"
                          "  setp.eq.u64 %d, %p, %r;\n  add.u64 %s, %s, 16;\n"
                          "  setp.eq.u64 %x, %q, %s;",
                          space.name, space.declaration, space.variable),
              []() { return std::tuple(true, true); });
    for (const Space& asked : kSpaces) {
      const bool same = &space == &asked;
      group.add(fmt::format("{1}\n  .reg .b64 %p;\n  cvta.{0}.u64 %p, {2};\n"
                            "  isspacep.{3} %d, %p;",
                            space.name, space.declaration, space.variable, asked.name),
                [same]() { return same; });
    }
  }
  group.add(
      "{ .reg .b64 %p, %q; cvta.global.u64 %p, in_global; add.u64 %p, %p, 3;\n"
      "  st.u8 [%p], 77; ld.global.u8 %d, [in_global+3]; }",
      []() { return u16{77}; });
  group.add("ld.const.u32 %d, [in_const+8];", []() { return u32{3}; });
  group.add("{ .reg .b64 %p; mov.u64 %p, in_const+4; ld.const.u32 %d, [%p+8]; }",
            []() { return u32{4}; });
}

}  // namespace

void add_move(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "move";
  Group& copies = family.group("mov");
  add_copies<u16>(copies, {"b16", "u16", "s16"});
  add_copies<u32>(copies, {"b32", "u32", "s32"});
  add_copies<u64>(copies, {"b64", "u64", "s64"});
  add_copies<F32>(copies, {"f32"});
  add_copies<F64>(copies, {"f64"});
  copies.add("mov.pred %d, %a;", [](bool a) { return a; });
  add_packing(family.group("pack"));
  add_constants(family.group("constants"));
  add_addresses(family.group("addresses"));
}

}  // namespace baton::instructions
