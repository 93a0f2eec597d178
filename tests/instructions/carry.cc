#include <fmt/core.h>

#include <string>
#include <tuple>

#include "instructions/suite.h"

// Extended-precision arithmetic: CC.CF is written by .cc and read by addc, subc and madc (PTX ISA,
// "Extended-Precision Integer Arithmetic Instructions"). A case sets the flag by its first
// instruction and reads it by the ones that follow, as code for long numbers does.
namespace baton::instructions {
namespace {

using Wide = unsigned __int128;

template <typename T>
void add_chains(Group& group, const std::string& type) {
  constexpr unsigned kBits = sizeof(T) * 8;
  // (a, b, c) as two limbs: a:b + c:a, and the carry out as a third result.
  group.add(fmt::format("add.cc.{0} %d, %a, %b; addc.cc.{0} %x, %b, %c; addc.{0} %y, 0, 0;", type),
            [](T a, T b, T c) {
              const Wide low = Wide{a} + b;
              const Wide top = Wide{b} + c + (low >> kBits);
              return std::tuple(static_cast<T>(low), static_cast<T>(top),
                                static_cast<T>(top >> kBits));
            });
  // The borrow is CC.CF itself: subc subtracts b + CC.CF.
  group.add(fmt::format("sub.cc.{0} %d, %a, %b; subc.cc.{0} %x, %b, %c; subc.{0} %y, 0, 0;", type),
            [](T a, T b, T c) {
              const bool borrow = a < b;
              const bool again = Wide{b} < Wide{c} + borrow;
              return std::tuple(static_cast<T>(a - b), static_cast<T>(b - c - borrow),
                                static_cast<T>(T{0} - again));
            });
  // An instruction without .cc between them leaves the flag alone.
  group.add(fmt::format("add.cc.{0} %d, %a, %b; add.{0} %x, %a, %c; addc.{0} %y, %c, 5;", type),
            [](T a, T b, T c) {
              const T carry = static_cast<T>((Wide{a} + b) >> kBits);
              return std::tuple(static_cast<T>(a + b), static_cast<T>(a + c),
                                static_cast<T>(c + 5 + carry));
            });
  const auto product = [](T a, T b, bool upper) {
    return static_cast<T>((Wide{a} * b) >> (upper ? kBits : 0));
  };
  // a * b + (e:c), double width: mad.lo sets the carry that madc.hi takes, and passes on.
  group.add(fmt::format("mad.lo.cc.{0} %d, %a, %b, %c; madc.hi.cc.{0} %x, %a, %b, %e; "
                        "addc.{0} %y, 0, 0;",
                        type),
            [product](T a, T b, T c, T e) {
              const Wide low = Wide{product(a, b, false)} + c;
              const Wide top = Wide{product(a, b, true)} + e + (low >> kBits);
              return std::tuple(static_cast<T>(low), static_cast<T>(top),
                                static_cast<T>(top >> kBits));
            });
  group.add(fmt::format("mad.hi.cc.{0} %d, %a, %b, %c; madc.lo.cc.{0} %x, %b, %e, %a; "
                        "madc.lo.{0} %y, %a, %c, %e;",
                        type),
            [product](T a, T b, T c, T e) {
              const Wide first = Wide{product(a, b, true)} + c;
              const Wide second = Wide{product(b, e, false)} + a + (first >> kBits);
              const Wide third = Wide{product(a, c, false)} + e + (second >> kBits);
              return std::tuple(static_cast<T>(first), static_cast<T>(second),
                                static_cast<T>(third));
            });
  group.add(fmt::format("add.cc.{0} %d, %a, %b; madc.hi.{0} %x, %a, %c, %e;", type),
            [product](T a, T b, T c, T e) {
              const Wide low = Wide{a} + b;
              return std::tuple(static_cast<T>(low),
                                static_cast<T>(product(a, c, true) + e + (low >> kBits)));
            });
}

}  // namespace

void add_carry(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "carry";
  add_chains<u32>(family.group("u32"), "u32");
  add_chains<u64>(family.group("u64"), "u64");

  // Signed types carry as unsigned ones do, but for the upper half of a product.
  Group& mixed = family.group("signed");
  mixed.add("add.cc.s32 %d, %a, %b; addc.cc.s32 %x, %b, %c; addc.s32 %y, %c, %a;",
            [](u32 a, u32 b, u32 c) {
              const u64 low = u64{a} + b, top = u64{b} + c + (low >> 32);
              return std::tuple(u32(low), u32(top), u32(c + a + (top >> 32)));
            });
  mixed.add("sub.cc.s64 %d, %a, %b; subc.s64 %x, %b, %c;",
            [](u64 a, u64 b, u64 c) { return std::tuple(a - b, b - c - (a < b)); });
  mixed.add("mad.hi.cc.s32 %d, %a, %b, %c; addc.u32 %x, 0, 0;", [](s32 a, s32 b, u32 c) {
    const u64 sum = u64{static_cast<u32>((s64{a} * b) >> 32)} + c;
    return std::tuple(u32(sum), u32(sum >> 32));
  });
  // The flag is per thread, and lives across a branch.
  mixed.add(
      "{ .reg .pred %p; add.cc.u32 %d, %a, %b; setp.lt.s32 %p, %c, 0; mov.u32 %x, 0;\n"
      "  @%p bra NEGATIVE; addc.u32 %x, %c, 1;\nNEGATIVE:\n  addc.u32 %y, %c, 0; }",
      [](u32 a, u32 b, s32 c) {
        const u64 sum = u64{a} + b;
        const u32 carry = u32(sum >> 32);
        return std::tuple(u32(sum), c < 0 ? u32{0} : u32(c) + 1 + carry, u32(c) + carry);
      });
}

}  // namespace baton::instructions
