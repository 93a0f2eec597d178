// What instructions do at their bounds tells an address bit by bit: no branch and no selection
// depends on it, and no operation gives a part of it.

#include "address_hider.h"

namespace baton::verdicts {

std::string AddressHider::launder_by_outcomes(const std::string& goal) {
  std::string held = chance(25) ? choose(goal) : goal;
  if (chance(30)) held = hide(held);
  held = by_outcomes(held);
  return chance(30) ? hide(held) : held;
}

std::string AddressHider::by_outcomes(const std::string& held) {
  switch (pick(6)) {
    case 0:
    case 1:
      return by_wide_outcomes(held);
    case 2:
      return by_alignment(held);
    default: {
      const auto [low, high] = split(held);
      const std::string first = by_narrow_outcomes(low);
      return join({first, by_narrow_outcomes(high)});
    }
  }
}

// A number is found from its highest bit on: is the value at least what is known of it, with the
// next bit set?
std::string AddressHider::by_wide_outcomes(const std::string& held) {
  const std::string value = make("and.b64", "{}, -256", held);
  const std::string lowest = make("and.b64", "{}, 255", held);
  const std::string found = made("mov.u64", "0"), k = word(), q = predicate(), again = label(),
                    bit = wide(), least = wide(), more = wide(), x = wide();
  line("mov.u32 {}, 47;", k);
  line("{}: mov.u64 {}, 1; shl.b64 {}, {}, {}; add.u64 {}, {}, {};", again, bit, bit, bit, k, least,
       found, bit);
  switch (pick(7)) {
    case 0:
      line(
          "neg.s64 {0}, {0}; add.cc.u64 {1}, {2}, {0}; addc.u64 {3}, {2}, 0; sub.u64 {3}, {3}, "
          "{2};",
          least, x, value, more);
      break;
    case 1:
      line("neg.s64 {0}, {0}; add.cc.u64 {1}, {2}, {0}; addc.u64 {3}, 0, 0;", least, x, value,
           more);
      break;
    case 2:
      line("sub.cc.u64 {0}, {1}, {2}; subc.u64 {3}, {1}, {1}; add.u64 {3}, {3}, 1;", x, value,
           least, more);
      break;
    case 3:
    case 4:
      // Both values are multiples of 256, and the number between them is odd.
      line("sub.u64 {0}, {0}, 1; max.{4} {1}, {2}, {0}; and.b64 {3}, {1}, 1; xor.b64 {3}, {3}, 1;",
           least, x, value, more, any({"u64", "s64"}));
      break;
    case 5:
      line("sub.u64 {0}, {0}, 1; min.{4} {1}, {0}, {2}; and.b64 {3}, {1}, 1;", least, x, value,
           more, any({"u64", "s64"}));
      break;
    default:
      line("neg.s64 {0}, {0}; mad.lo.cc.u64 {1}, {2}, 1, {0}; madc.hi.u64 {3}, {2}, 0, 0;", least,
           x, value, more);
  }
  line("shl.b64 {0}, {0}, {1}; add.u64 {2}, {2}, {0};", more, k, found);
  line("sub.u32 {0}, {0}, 1; setp.ge.u32 {1}, {0}, 8; @{1} bra {2};", k, q, again);
  return make("add.u64", "{}, {}", found, lowest);
}

std::string AddressHider::by_narrow_outcomes(const std::string& held) {
  // Below 0: a sum is cut off at the least number.
  const std::string sum = word(), cut = word(), sign = word(), value = word();
  line("add.s32 {0}, {2}, 0x80000000; add.sat.s32 {1}, {2}, 0x80000000; sub.u32 {3}, {0}, {1};",
       sum, cut, held, sign);
  line("min.u32 {0}, {0}, 1; shl.b32 {0}, {0}, 31; add.u32 {1}, {2}, {0};", sign, value, held);
  const std::string found = word(), k = word(), q = predicate(), again = label(), bit = word(),
                    least = word(), more = word(), x = word();
  line("mov.u32 {}, 0; mov.u32 {}, 30;", found, k);
  line("{}: shl.b32 {}, 1, {}; add.u32 {}, {}, {};", again, bit, k, least, found, bit);
  switch (pick(6)) {
    case 0:
      line("sub.u32 {0}, 0x80000000, {0}; add.s32 {1}, {2}, {0}; add.sat.s32 {3}, {2}, {0};", least,
           x, value, more);
      line("sub.u32 {0}, {1}, {0}; min.u32 {0}, {0}, 1;", more, x);
      break;
    case 1:
      line("add.u32 {0}, {0}, 0x80000000; sub.s32 {1}, {2}, {0}; sub.sat.s32 {3}, {2}, {0};", least,
           x, value, more);
      line("sub.u32 {0}, {1}, {0}; min.u32 {0}, {0}, 1;", more, x);
      break;
    case 2:
      line("sub.s32 {0}, {1}, {2}; add.s32 {0}, {0}, 1; min.relu.s32 {3}, {0}, 1;", x, value, least,
           more);
      break;
    case 3:
      line("sub.s32 {0}, {1}, {2}; add.s32 {0}, {0}, 1; max.relu.s32 {3}, {0}, -9;", x, value,
           least, more);
      line("min.u32 {0}, {0}, 1;", more);
      break;
    case 4:
      line("sub.cc.u32 {0}, {1}, {2}; subc.u32 {3}, {1}, {1}; add.u32 {3}, {3}, 1;", x, value,
           least, more);
      break;
    default: {
      // Which lane of a part of the warp has the value: the parts are as wide as the sign says.
      const std::string lane = word();
      line("and.b32 {}, %tid, 31; sub.s32 {}, {}, {}; shr.u32 {}, {}, 31; mul.lo.u32 {}, {}, 31;",
           lane, x, value, least, x, x, x, x);
      line("shfl.sync.up.b32 {0}, {1}, 1, {2}, -1; sub.u32 {0}, {1}, {0};", more, lane, x);
      line("shfl.sync.idx.b32 {0}, {0}, 1, 31, -1;", more);
    }
  }
  line("shl.b32 {0}, {0}, {1}; add.u32 {2}, {2}, {0};", more, k, found);
  line("sub.u32 {0}, {0}, 1; setp.ge.s32 {1}, {0}, 0; @{1} bra {2};", k, q, again);
  const std::string all = word();
  line("add.u32 {}, {}, {};", all, found, sign);
  return all;
}

// Masks around the bits that an alignment has.
std::string AddressHider::by_alignment(const std::string& held) {
  const unsigned bits = (16u << pick(8)) - 1;
  const std::string part = make("and.b64", "{}, {}", held, bits);
  switch (pick(5)) {
    case 0:
      return make("add.u64", "{}, {}", make("sub.u64", "{}, {}", held, part), part);
    case 1:
      return make("add.u64", "{}, {}", make("and.b64", "{}, {}", held, ~std::uint64_t{bits}), part);
    case 2: {
      const std::string m = other_address();
      const std::string d = make("sub.u64", "{}, {}", held, part);
      return make("add.u64", "{}, {}", make("add.u64", "{}, {}", m, part),
                  make("sub.u64", "{}, {}", d, m));
    }
    case 3: {
      // The same of a half.
      const auto [low, high] = split(held);
      const std::string a = word(), b = word();
      const bool of_high = chance(50);
      line("and.b32 {0}, {2}, {3}; sub.u32 {1}, {2}, {0}; add.u32 {0}, {0}, {1};", a, b,
           of_high ? high : low, bits);
      return of_high ? join({low, a}) : join({a, high});
    }
    default: {
      const std::string up = make("or.b64", "{}, {}", held, bits);
      return make("sub.u64", "{}, {}", up, make("xor.b64", "{}, {}", part, bits));
    }
  }
}

}  // namespace baton::verdicts
