#include "address_hider.h"

namespace baton::verdicts {

std::string AddressHider::launder(const std::string& goal) {
  std::string held = chance(25) ? choose(goal) : goal;
  // The same address from the table.
  if (chance(25)) {
    held = make("ld.global.u64", "[%c+{}]", goal == "%a" ? 8 : goal == "%e" ? 16 : 0);
  }
  for (unsigned k = 0, steps = 1 + pick(4); k < steps; ++k) held = hide(held);
  return held;
}

void AddressHider::access(const std::string& at, bool may_write) {
  const std::string place = wide(), value = word();
  const unsigned size = chance(20) ? 8 : 4;
  line("mul.wide.u32 {0}, %tid, {1}; add.u64 {0}, {2}, {0};", place, size, at);
  const std::string_view space = any({".global", ""});
  switch (pick(may_write ? 6 : 3)) {
    case 0:
    case 1:
      line("ld{}.u32 {}, [{}];", space, value, place);
      break;
    case 2:
      line("ld{}.v2.u16 {{{}, {}}}, [{}];", space, half(), half(), place);
      break;
    case 3:
      line("st{}.u32 [{}], 7;", space, place);
      break;
    case 4:
      line("atom{}.add.u32 {}, [{}], 1;", space, value, place);
      break;
    default:
      line("red{}.or.b32 [{}], 1;", space, place);
  }
}

std::string AddressHider::hide(const std::string& held) {
  switch (pick(14)) {
    case 12: {
      // Its distance from another address.
      const std::string m = other_address();
      const std::string d = hide_any(make("sub.u64", "{}, {}", held, m));
      return chance(50) ? make("add.u64", "{}, {}", m, d) : make("add.u64", "{}, {}", d, m);
    }
    case 10:
      return by_counting(held);
    default:
      return hide_any(held);
  }
}

std::string AddressHider::hide_any(const std::string& held) {
  switch (pick(11)) {
    case 0:
    case 1:
      return by_arithmetic(held);
    case 2:
    case 3:
      return by_halves(held);
    case 4:
    case 5:
      return by_memory(held);
    case 6:
      return by_logic(held);
    case 7:
      return by_lanes(held);
    case 8:
      return by_conditions(held);
    case 9:
      return by_bits(held);
    default:
      return by_calls(held);
  }
}

}  // namespace baton::verdicts
