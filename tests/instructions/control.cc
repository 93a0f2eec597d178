#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <tuple>

#include "instructions/suite.h"

// Instructions in company: under predicates, writing what they read, next to each other, around
// branches and in functions (PTX ISA, "Predicated Execution", "Control Flow Instructions",
// "Abstracting the ABI").
namespace baton::instructions {
namespace {

// A false guard leaves every destination as it was.
void add_predication(Group& group) {
  group.declare(".global .align 8 .b8 scratch[65536];\n");
  for (const bool negated : {false, true}) {
    const std::string guard = negated ? "@!%c" : "@%c";
    const auto word = [&](std::string_view instruction, auto function) {
      group.add(fmt::format("mov.b32 %d, %b;\n  {} {};", guard, instruction),
                [function, negated](u32 a, u32 b, bool c) {
                  return c != negated ? static_cast<u32>(function(a, b)) : b;
                });
    };
    word("add.s32 %d, %a, 1", [](u32 a, u32) { return a + 1; });
    word("mul.lo.u32 %d, %a, %b", [](u32 a, u32 b) { return a * b; });
    word("mov.u32 %d, %a", [](u32 a, u32) { return a; });
    word("xor.b32 %d, %a, %d", [](u32 a, u32 b) { return a ^ b; });
    word("popc.b32 %d, %a", [](u32 a, u32) { return std::popcount(a); });
    word("cvt.u32.u8 %d, %a", [](u32 a, u32) { return a & 0xff; });
    word("prmt.b32 %d, %a, %b, 0x5410", [](u32 a, u32 b) { return (a & 0xffff) | b << 16; });
    word("shl.b32 %d, %a, 4", [](u32 a, u32) { return a << 4; });
    word("lop3.b32 %d, %a, %b, %d, 0xc0", [](u32 a, u32 b) { return a & b; });
    group.add(fmt::format("mov.f32 %d, %b;\n  {} mul.rn.f32 %d, %a, 0f40000000;", guard),
              [negated](F32 a, F32 b, bool c) {
                return c != negated
                           ? make_float<F32>(soft_add(kF32Format, a.bits, a.bits, Rounding::kRn))
                           : b;
              });
    group.add(
        fmt::format("mov.b64 %d, %b;\n  {} cvt.s64.s32 %d, %a;", guard),
        [negated](s32 a, u64 b, bool c) { return c != negated ? static_cast<u64>(s64{a}) : b; });
    group.add(fmt::format("setp.ne.u32 %d, %b, 0;\n  {} setp.lt.s32 %d, %a, 0;", guard),
              [negated](s32 a, u32 b, bool c) { return c != negated ? a < 0 : b != 0; });
    group.add(
        fmt::format("mov.b32 %d, %b;\n  mov.b32 %x, %b;\n  {} mov.b64 {{%d, %x}}, %a;", guard),
        [negated](u64 a, u32 b, bool c) {
          return c != negated ? std::tuple(u32(a), u32(a >> 32)) : std::tuple(b, b);
        });
    const std::string slot =
        ".reg .b64 %p;\n  mov.u64 %p, scratch;\n  mad.wide.u32 %p, %index, 8, %p;\n";
    group.add(fmt::format("{}  st.global.u32 [%p], %a;\n  mov.u32 %d, %b;\n"
                          "  {} ld.global.u32 %d, [%p];",
                          slot, guard),
              [negated](u32 a, u32 b, bool c) { return c != negated ? a : b; });
    group.add(fmt::format("{}  st.global.u32 [%p], %b;\n  {} st.global.u32 [%p], %a;\n"
                          "  ld.global.u32 %d, [%p];",
                          slot, guard),
              [negated](u32 a, u32 b, bool c) { return c != negated ? a : b; });
    // A guarded access that does not happen may have any address.
    group.add(fmt::format("{0}  st.global.u32 [%p], %a;\n  selp.b64 %p, %p, 1, {1}%c;\n"
                          "  mov.u32 %d, %b;\n  {2} ld.global.u32 %d, [%p];",
                          slot, negated ? "!" : "", guard),
              [negated](u32 a, u32 b, bool c) { return c != negated ? a : b; });
    group.add(fmt::format("{}  st.global.u32 [%p], %b;\n  mov.u32 %d, 9;\n"
                          "  {} atom.global.add.u32 %d, [%p], %a;\n  ld.global.u32 %x, [%p];",
                          slot, guard),
              [negated](u32 a, u32 b, bool c) {
                return c != negated ? std::tuple(b, a + b) : std::tuple(u32{9}, b);
              });
  }
}

// A destination that is also a source, in every place.
void add_aliasing(Group& group) {
  const auto word = [&](std::string_view text, auto function) {
    group.add(fmt::format("mov.b32 %d, %a;\n  {}", text),
              [function](u32 a, u32 b) { return static_cast<u32>(function(a, b)); });
  };
  word("mad.lo.u32 %d, %d, %d, %d;", [](u32 a, u32) { return a * a + a; });
  word("sub.u32 %d, %b, %d;", [](u32 a, u32 b) { return b - a; });
  word("prmt.b32 %d, %d, %d, %d;", [](u32 a, u32) {
    u32 result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const u32 selector = a >> (4 * i) & 0xf;
      u32 byte = a >> (8 * (selector & 3)) & 0xff;
      if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
      result |= byte << (8 * i);
    }
    return result;
  });
  word("shf.l.wrap.b32 %d, %d, %b, 8;", [](u32 a, u32 b) { return b << 8 | a >> 24; });
  word("bfi.b32 %d, %b, %d, 8, 8;",
       [](u32 a, u32 b) { return (a & 0xffff00ff) | (b & 0xff) << 8; });
  group.add("mov.b64 {%d, %x}, %a; mov.b64 %y, {%x, %d};",
            [](u64 a) { return std::tuple(u32(a), u32(a >> 32), a << 32 | a >> 32); });
  group.add(
      "mov.b32 {%d, %x}, %a;\n  { .reg .b32 %t; mov.b32 %t, {%x, %d};\n"
      "  mov.b32 {%x, %d}, %t; }",
      [](u32 a) { return std::tuple(u16(a), u16(a >> 16)); });
  group.add("mov.b64 %d, %a; mul.wide.u32 %d, %b, %b; add.u64 %d, %d, %a;",
            [](u64 a, u32 b) { return u64{b} * b + a; });
  group.add(
      "{ .reg .pred %p, %q; setp.lt.u32 %p, %a, %b; setp.gt.and.u32 %p|%q, %a, 5, %p;\n"
      "  selp.u32 %d, 1, 0, %p; selp.u32 %x, 1, 0, %q; }",
      [](u32 a, u32 b) {
        const bool p = a < b;
        return std::tuple(u32{a > 5 && p}, u32{!(a > 5) && p});
      });
  group.add("mov.f32 %d, %a; div.rn.f32 %d, %b, %d;", [](F32 a, F32 b) {
    return make_float<F32>(soft_div(kF32Format, b.bits, a.bits, Rounding::kRn));
  });
  group.add("mov.f64 %d, %a; fma.rn.f64 %d, %d, %b, %d;", [](F64 a, F64 b) {
    return make_float<F64>(soft_fma(kF64Format, a.bits, b.bits, a.bits, Rounding::kRn));
  });
  group.add("mov.b32 %d, %a; cvt.rn.f16x2.f32 %d, %d, %b;", [](F32 a, F32 b) {
    const auto narrow = [](F32 x) {
      return convert_float(kF32Format, x.bits, kF16Format, Rounding::kRn);
    };
    return from_bits<F16x2>(narrow(a) << 16 | narrow(b));
  });
  group.add("mov.b32 %d, %a; mov.b32 %x, %b; add.cc.u32 %d, %d, %x; addc.u32 %x, %x, %d;",
            [](u32 a, u32 b) {
              const u64 sum = u64{a} + b;
              return std::tuple(u32(sum), u32(b + u32(sum) + u32(sum >> 32)));
            });
  // A load into the register that holds its address.
  group.declare(".const .align 8 .b64 pair[2] = {0x1122334455667788, 0x99aabbccddeeff00};\n");
  group.add("mov.u64 %d, pair; ld.const.u64 %d, [%d+8];", []() { return 0x99aabbccddeeff00u; });
  group.add("mov.u64 %d, pair; ld.const.v2.u64 {%x, %d}, [%d];",
            []() { return std::tuple(0x99aabbccddeeff00u, 0x1122334455667788u); });
}

// Neighbours that a device may join into one operation: the sum of a product, an address, a compare
// and what uses it.
void add_neighbours(Group& group) {
  // Two roundings: mul.rn and add.rn are never contracted.
  group.add("{ .reg .f32 %t; mul.rn.f32 %t, %a, %b; add.rn.f32 %d, %t, %c; }",
            [](F32 a, F32 b, F32 c) {
              const u64 product = soft_mul(kF32Format, a.bits, b.bits, Rounding::kRn);
              return make_float<F32>(soft_add(kF32Format, product, c.bits, Rounding::kRn));
            });
  group.add("{ .reg .f64 %t; mul.rn.f64 %t, %a, %b; add.rn.f64 %d, %t, %c; mov.f64 %x, %t; }",
            [](F64 a, F64 b, F64 c) {
              const u64 product = soft_mul(kF64Format, a.bits, b.bits, Rounding::kRn);
              return std::tuple(
                  make_float<F64>(soft_add(kF64Format, product, c.bits, Rounding::kRn)),
                  make_float<F64>(product));
            });
  group.add(
      "{ .reg .b32 %t; mul.lo.s32 %t, %a, %b; add.s32 %d, %t, %c; shl.b32 %t, %t, 2;\n"
      "  sub.s32 %x, %t, %a; }",
      [](u32 a, u32 b, u32 c) { return std::tuple(a * b + c, (a * b << 2) - a); });
  group.add(
      "{ .reg .b64 %t, %u; mul.wide.s32 %t, %a, 8; add.s64 %u, %t, %b; mov.b64 %d, %u;\n"
      "  cvt.u64.u32 %t, %a; shl.b64 %t, %t, 3; add.s64 %x, %t, %b; }",
      [](s32 a, u64 b) {
        return std::tuple(static_cast<u64>(s64{a} * 8) + b, (u64{static_cast<u32>(a)} << 3) + b);
      });
  group.add(
      "{ .reg .pred %p; setp.gt.s32 %p, %a, %b; selp.b32 %d, %a, %b, %p;\n"
      "  @%p bra BIGGER; sub.s32 %x, %b, %a; bra JOIN;\nBIGGER:\n  sub.s32 %x, %a, %b;\n"
      "JOIN:\n  selp.u32 %y, 1, 0, %p; }",
      [](s32 a, s32 b) {
        const u32 difference = a > b ? u32(a) - u32(b) : u32(b) - u32(a);
        return std::tuple(std::max(a, b), difference, u32{a > b});
      });
  group.add(
      "{ .reg .pred %p; setp.ltu.f32 %p, %a, %b; @!%p bra SKIP; neg.f32 %d, %a; bra JOIN;\n"
      "SKIP:\n  abs.f32 %d, %a;\nJOIN: }",
      [](F32 a, F32 b) {
        const bool below = !(value(a) >= value(b));
        return make_float<F32>(below ? a.bits ^ 0x80000000 : a.bits & 0x7fffffff);
      });
  // The compared register changes before the branch: the predicate does not.
  group.add(
      "{ .reg .pred %p; .reg .b32 %t; mov.b32 %t, %a; setp.eq.u32 %p, %t, 7;\n"
      "  add.u32 %t, %t, 1; mov.u32 %d, 1; @%p bra EQUAL; mov.u32 %d, 2;\nEQUAL:\n"
      "  mov.u32 %x, %t; }",
      [](u32 a) { return std::tuple(a == 7 ? u32{1} : u32{2}, a + 1); });
}

void add_functions(Group& group) {
  group.declare(R"(
.func (.param .b32 result) twice(.param .b32 x)
{
  .reg .b32 %r;
  ld.param.b32 %r, [x];
  add.u32 %r, %r, %r;
  st.param.b32 [result], %r;
  ret;
}
.func (.param .b32 result) plus_one(.param .b32 x)
{
  .reg .b32 %r;
  ld.param.b32 %r, [x];
  add.u32 %r, %r, 1;
  st.param.b32 [result], %r;
  ret;
}
.func (.param .align 8 .b8 result[12]) reversed(.param .align 8 .b8 words[12])
{
  .reg .b32 %a, %b, %c;
  ld.param.v2.b32 {%a, %b}, [words];
  ld.param.b32 %c, [words+8];
  st.param.v2.b32 [result], {%c, %b};
  st.param.b32 [result+8], %a;
  ret;
}
.func (.reg .b32 %result) in_registers(.reg .b32 %x, .reg .b32 %y)
{
  sub.u32 %result, %x, %y;
  ret;
}
.func (.param .b32 result) digits(.param .b32 x);
.func (.param .b32 result) digits(.param .b32 x)
{
  .reg .pred %p;
  .reg .b32 %x, %r;
  ld.param.b32 %x, [x];
  mov.u32 %r, 1;
  setp.lt.u32 %p, %x, 10;
  @%p bra DONE;
  div.u32 %x, %x, 10;
  {
    .param .b32 inner;
    .param .b32 outcome;
    st.param.b32 [inner], %x;
    call (outcome), digits, (inner);
    ld.param.b32 %r, [outcome];
  }
  add.u32 %r, %r, 1;
DONE:
  st.param.b32 [result], %r;
  ret;
}
.global .align 8 .u64 table[2] = {twice, plus_one};
)");
  const std::string one_word =
      ".param .b32 argument;\n  .param .b32 outcome;\n  st.param.b32 [argument], %a;\n";
  group.add(one_word + "  call (outcome), twice, (argument);\n  ld.param.b32 %d, [outcome];",
            [](u32 a) { return a * 2; });
  group.add(one_word +
                "  call.uni (outcome), plus_one, (argument);\n"
                "  ld.param.b32 %d, [outcome];",
            [](u32 a) { return a + 1; });
  group.add(one_word + "  call (outcome), digits, (argument);\n  ld.param.b32 %d, [outcome];",
            [](u32 a) {
              u32 digits = 1;
              for (; a >= 10; a /= 10) ++digits;
              return digits;
            });
  // Each lane by its own data: some lanes call, or they call different functions.
  group.add(
      ".reg .pred %p;\n  and.b32 %d, %a, 1;\n  setp.eq.u32 %p, %d, 0;\n  mov.u32 %d, %a;\n"
      "  @%p bra AROUND;\n  {\n  " +
          one_word +
          "  call (outcome), twice, (argument);\n  ld.param.b32 %d, [outcome];\n  }\n"
          "AROUND:\n  add.u32 %d, %d, 5;",
      [](u32 a) { return (a % 2 == 0 ? a : a * 2) + 5; });
  group.add(one_word +
                "  .reg .b64 %p;\n  .reg .b32 %i;\n  and.b32 %i, %a, 1;\n  mov.u64 %p, table;\n"
                "  mad.wide.u32 %p, %i, 8, %p;\n  ld.global.u64 %p, [%p];\n"
                "PROTOTYPE: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                "  call (outcome), %p, (argument), PROTOTYPE;\n  ld.param.b32 %d, [outcome];",
            [](u32 a) { return a % 2 == 0 ? a * 2 : a + 1; });
  group.add(
      ".param .align 8 .b8 words[12];\n  .param .align 8 .b8 outcome[12];\n"
      "  st.param.v2.b32 [words], {%a, %b};\n  st.param.b32 [words+8], %c;\n"
      "  call (outcome), reversed, (words);\n  ld.param.v2.b32 {%d, %x}, [outcome];\n"
      "  ld.param.b32 %y, [outcome+8];",
      [](u32 a, u32 b, u32 c) {
        return std::array{c, b, a};
      });
  group.add("call (%d), in_registers, (%a, %b);", [](u32 a, u32 b) { return a - b; });
}

// Registers of the same name in inner scopes are others; labels too.
void add_scopes(Group& group) {
  group.add(
      "{ .reg .b32 %t; add.u32 %t, %a, 1; { .reg .b32 %t; mov.u32 %t, 100; bra L; add.u32 "
      "%t, %t, 1; L: add.u32 %d, %t, %a; } { .reg .b64 %t; mov.u64 %t, 5; bra L;\n"
      "  L: cvt.u32.u64 %x, %t; } mov.u32 %y, %t; }",
      [](u32 a) {
        return std::array{a + 100, u32{5}, a + 1};
      });
  group.add(
      "{ .reg .b32 %t<3>; mov.u32 %t0, %a; add.u32 %t1, %t0, 1; add.u32 %t2, %t1, %t0;\n"
      "  mov.u32 %d, %t2; }",
      [](u32 a) { return 2 * a + 1; });
}

}  // namespace

void add_control(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "control";
  add_predication(family.group("predication"));
  add_aliasing(family.group("aliasing"));
  add_neighbours(family.group("neighbours"));
  add_functions(family.group("functions"));
  add_scopes(family.group("scopes"));
}

}  // namespace baton::instructions
