#include <fmt/core.h>

#include <string>
#include <string_view>
#include <tuple>

#include "instructions/suite.h"

// 128-bit registers (mov, ld, st, atom.exch, atom.cas) and atomics on vectors (PTX ISA, "mov",
// "atom", "red").
namespace baton::instructions {
namespace {

constexpr std::string_view kScratch = ".global .align 16 .b8 wide_scratch[65536];\n";
constexpr std::string_view kAddress =
    ".reg .b64 %p;\n  mov.u64 %p, wide_scratch;\n  mad.wide.u32 %p, %index, 16, %p;\n";

void add_moves(Group& group) {
  group.declare(kScratch);
  group.add(
      ".reg .b128 %q, %r;\n  mov.b128 %q, {%a, %b};\n  mov.b128 %r, %q;\n"
      "  mov.b128 {%d, %x}, %r;",
      [](u64 a, u64 b) { return std::tuple(a, b); });
  group.add(
      ".reg .b128 %q;\n  mov.b128 %q, {%a, %b, %c, %e};\n  mov.b128 {%d, %x}, %q;",
      [](u32 a, u32 b, u32 c, u32 e) { return std::tuple(a | u64{b} << 32, c | u64{e} << 32); });
  group.add(".reg .b128 %q;\n  mov.b128 %q, {%a, %b};\n  mov.b128 {%d, %x, %y, %z}, %q;",
            [](u64 a, u64 b) { return std::tuple(u32(a), u32(a >> 32), u32(b), u32(b >> 32)); });
  for (const std::string_view order : {"", ".relaxed.gpu", ".volatile"}) {
    group.add(fmt::format("{0}  .reg .b128 %q, %r;\n  mov.b128 %q, {{%a, %b}};\n"
                          "  st{1}.global.b128 [%p], %q;\n  ld{1}.global.b128 %r, [%p];\n"
                          "  mov.b128 {{%d, %x}}, %r;\n  ld.global.u32 %y, [%p+12];",
                          kAddress, order),
              [](u64 a, u64 b) { return std::tuple(a, b, u32(b >> 32)); });
  }
}

void add_swaps(Group& group) {
  group.declare(kScratch);
  const std::string shared =
      ".shared .align 16 .b8 wide_shared[2048];\n  .reg .b64 %p;\n  mov.u64 %p, wide_shared;\n"
      "  mad.wide.u32 %p, %tid_, 16, %p;\n";
  for (const std::string_view space : {"global", "shared"}) {
    const std::string address = space == "global" ? std::string(kAddress) : shared;
    const std::string begin = fmt::format(
        "{0}  .reg .b128 %q, %r, %s;\n  mov.b128 %q, {{%a, %b}};\n  mov.b128 %r, {{%c, %e}};\n"
        "  st.{1}.b128 [%p], %q;\n",
        address, space);
    const std::string end =
        fmt::format("  mov.b128 {{%d, %x}}, %s;\n  ld.{}.v2.u64 {{%y, %z}}, [%p];", space);
    group.add(fmt::format("{}  atom.{}.exch.b128 %s, [%p], %r;\n{}", begin, space, end),
              [](u64 a, u64 b, u64 c, u64 e) { return std::tuple(a, b, c, e); });
    // The comparand is the word, or differs in one bit at most where the random values have it so.
    group.add(fmt::format("{}  atom.{}.cas.b128 %s, [%p], %q, %r;\n{}", begin, space, end),
              [](u64 a, u64 b, u64 c, u64 e) { return std::tuple(a, b, c, e); });
    group.add(fmt::format("{}  atom.{}.cas.b128 %s, [%p], %r, %q;\n{}", begin, space, end),
              [](u64 a, u64 b, u64, u64) { return std::tuple(a, b, a, b); });
  }
}

F32 sum(F32 a, F32 b) {
  return flush(
      make_float<F32>(soft_add(F32::kFormat, flush(a).bits, flush(b).bits, Rounding::kRn)));
}

void add_single_vectors(Group& group) {
  group.declare(kScratch);
  const std::string begin = fmt::format("{}  st.global.v2.f32 [%p], {{%a, %b}};\n", kAddress);
  const auto both = [](F32 a, F32 b, F32 c, F32 e) {
    return std::tuple(a, b, sum(a, c), sum(b, e));
  };
  group.add(begin +
                "  atom.global.add.v2.f32 {%d, %x}, [%p], {%c, %e};\n"
                "  ld.global.v2.f32 {%y, %z}, [%p];",
            both);
  group.add(begin +
                "  atom.global.relaxed.gpu.add.v2.f32 {%d, %x}, [%p], {%c, %e};\n"
                "  ld.global.v2.f32 {%y, %z}, [%p];",
            both);
  // The results' registers are the operands' too, the other way round.
  group.add(begin +
                "  .reg .f32 %f, %g;\n  mov.f32 %f, %c;\n  mov.f32 %g, %e;\n"
                "  atom.add.v2.f32 {%g, %f}, [%p], {%f, %g};\n"
                "  mov.f32 %d, %g;\n  mov.f32 %x, %f;\n  ld.global.v2.f32 {%y, %z}, [%p];",
            both);
  group.add(begin + "  red.global.add.v2.f32 [%p], {%c, %e};\n  ld.global.v2.f32 {%d, %x}, [%p];",
            [](F32 a, F32 b, F32 c, F32 e) { return std::tuple(sum(a, c), sum(b, e)); });
  group.add(fmt::format("{}  st.global.v4.f32 [%p], {{%a, %b, %c, %e}};\n"
                        "  red.global.add.v4.f32 [%p], {{%e, %c, %b, %a}};\n"
                        "  ld.global.v4.f32 {{%d, %x, %y, %z}}, [%p];",
                        kAddress),
            [](F32 a, F32 b, F32 c, F32 e) {
              return std::tuple(sum(a, e), sum(b, c), sum(c, b), sum(e, a));
            });
}

template <typename T>
T extreme(T a, T b, bool greater) {
  if (is_nan(a)) return is_nan(b) ? nan<T>() : b;
  if (is_nan(b)) return a;
  const bool a_below =
      value(a) < value(b) || (value(a) == value(b) && (a.bits & T::kFormat.sign_bit()) != 0);
  return a_below == greater ? b : a;
}

template <typename T>
void add_half_vectors(Group& group, std::string_view type) {
  group.declare(kScratch);
  const auto apply = [](std::string_view operation, T a, T b) {
    if (operation == "add") {
      return make_float<T>(soft_add(T::kFormat, a.bits, b.bits, Rounding::kRn));
    }
    return extreme(a, b, operation == "max");
  };
  for (const std::string_view operation : {"add", "min", "max"}) {
    group.add(fmt::format("{0}  st.global.v2.b16 [%p], {{%a, %b}};\n"
                          "  atom.global.{1}.noftz.v2.{2} {{%d, %x}}, [%p], {{%c, %e}};\n"
                          "  ld.global.v2.b16 {{%y, %z}}, [%p];",
                          kAddress, operation, type),
              [=](T a, T b, T c, T e) {
                return std::tuple(a, b, apply(operation, a, c), apply(operation, b, e));
              });
    group.add(fmt::format("{0}  st.global.v2.b32 [%p], {{%a, %b}};\n"
                          "  st.global.v2.b32 [%p+8], {{%b, %a}};\n"
                          "  red.global.{1}.noftz.v4.{2}x2 [%p], {{%c, %e, %a, %b}};\n"
                          "  ld.global.v2.b32 {{%d, %x}}, [%p];\n"
                          "  ld.global.v2.b32 {{%y, %z}}, [%p+8];",
                          kAddress, operation, type),
              [=](Pair<T> a, Pair<T> b, Pair<T> c, Pair<T> e) {
                const auto both = [&](Pair<T> v, Pair<T> w) {
                  return Pair<T>{apply(operation, v.low, w.low), apply(operation, v.high, w.high)};
                };
                return std::tuple(both(a, c), both(b, e), both(b, a), both(a, b));
              });
  }
}

}  // namespace

void add_wide(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "wide";
  add_moves(family.group("mov_b128"));
  add_swaps(family.group("atom_b128"));
  add_single_vectors(family.group("atom_vector_f32"));
  add_half_vectors<F16>(family.group("atom_vector_f16"), "f16");
  add_half_vectors<BF16>(family.group("atom_vector_bf16"), "bf16");
}

}  // namespace baton::instructions
