// Arithmetic, logic, halves and lanes.

#include "address_hider.h"

namespace baton::verdicts {

std::string AddressHider::other() {
  switch (pick(12)) {
    case 0:
      return "%a";
    case 1:
      return "%b";
    case 2:
      return "%c";
    case 3:
      return "%e";
    case 4: {
      const std::string at = made("mov.u64", "shared");
      return made("cvta.shared.u64", at);
    }
    case 5: {
      const std::string at = made("mov.u64", "spill");
      return made("cvta.local.u64", at);
    }
    case 6:
      return made("mov.u64", "counter");
    case 7: {
      const std::string at = made("mov.u64", "table");
      return made("cvta.const.u64", at);
    }
    case 8:
      return made("cvt.u64.u32", "%tid");
    case 9:  // the address of a buffer, from the table
      return make("ld.global.u64", "[%c+{}]", 8 * pick(8));
    case 10:
      return made("cvt.u64.u32", "%n");
    default:
      return std::to_string(pick(2) == 0 ? 4096 : 12345);
  }
}

std::string AddressHider::other_address() {
  switch (pick(5)) {
    case 0:
      return "%a";
    case 1:
      return "%b";
    case 2:
      return "%e";
    case 3:
      return made("mov.u64", "counter");
    default:
      return make("ld.global.u64", "[%c+{}]", 8 * pick(8));
  }
}

std::string AddressHider::choose(const std::string& held) {
  const std::string rest = other(), p = predicate();
  line("setp.lt.u32 {}, %tid, 64;", p);
  return make("selp.b64", "{}, {}, {}", held, rest, p);
}

AddressHider::Halves AddressHider::split(const std::string& held) {
  const std::string low = word(), high = word();
  switch (pick(3)) {
    case 0:
      line("mov.b64 {{{}, {}}}, {};", low, high, held);
      break;
    case 1:
      line("cvt.u32.u64 {}, {};", low, held);
      line("cvt.u32.u64 {}, {};", high, make("shr.u64", "{}, 32", held));
      break;
    default:
      line("mov.b64 {{{}, _}}, {};", low, held);
      line("mov.b64 {{_, {}}}, {};", high, held);
  }
  return {low, high};
}

std::string AddressHider::join(const Halves& halves) {
  if (chance(50)) return make("mov.b64", "{{{}, {}}}", halves[0], halves[1]);
  const std::string up = make("shl.b64", "{}, 32", made("cvt.u64.u32", halves[1]));
  const std::string down = made("cvt.u64.u32", halves[0]);
  return make(any({"or.b64", "add.u64", "xor.b64"}), "{}, {}", up, down);
}

std::string AddressHider::by_arithmetic(const std::string& held) {
  const std::string m = other();
  switch (pick(12)) {
    case 0:
      return make("sub.u64", "{}, {}", make("add.u64", "{}, {}", held, m), m);
    case 1:
      return make("add.u64", "{}, {}", make("sub.u64", "{}, {}", held, m), m);
    case 2:
      return make("add.u64", "{}, {}", m, make("sub.u64", "{}, {}", held, m));
    case 3:
      return make("sub.u64", "{}, {}", m, make("sub.u64", "{}, {}", m, held));
    case 4:
      return make("mad.lo.u64", "{}, 1, {}", make("sub.u64", "{}, {}", held, m), m);
    case 5:
      return made("neg.s64", made("neg.s64", held));
    case 6: {
      // Twice it, less it.
      const std::string two = make("add.u64", "{}, {}", held, held);
      return make("sub.u64", "{}, {}", two, held);
    }
    case 7: {
      const std::string d = make("sub.s64", "{}, {}", held, other_address());
      const std::string e = make("sub.s64", "{}, {}", held, d);
      return make("add.s64", "{}, {}", d, e);
    }
    case 8: {
      const std::string more = make("max.u64", "{}, {}", held, m);
      const std::string less = make("min.u64", "{}, {}", held, m);
      return make("sub.u64", "{}, {}", make("add.u64", "{}, {}", more, less), m);
    }
    case 9: {
      const std::string rest = make("rem.u64", "{}, 24", held);
      const std::string parts = make("div.u64", "{}, 24", held);
      return make("mad.lo.u64", "{}, 24, {}", parts, rest);
    }
    case 10: {
      // As floats, which hold halves.
      const auto [low, high] = split(held);
      const std::string f = real(), g = real(), to = word(), up = word();
      line("cvt.rn.f64.u32 {}, {}; cvt.rn.f64.u32 {}, {};", f, low, g, high);
      line("add.f64 {0}, {0}, 0d3FF0000000000000; sub.f64 {0}, {0}, 0d3FF0000000000000;", f);
      line("cvt.rzi.u32.f64 {}, {}; cvt.rzi.u32.f64 {}, {};", to, f, up, g);
      return join({to, up});
    }
    default: {
      const std::string f = real();
      line("mov.b64 {}, {};", f, held);
      return made("mov.b64", f);
    }
  }
}

std::string AddressHider::by_halves(const std::string& held) {
  auto [low, high] = split(held);
  switch (pick(9)) {
    case 0:
      return join({low, high});
    case 1: {
      const auto [l, h] = split(other());
      const std::string a = word(), b = word();
      line("sub.cc.u32 {}, {}, {}; subc.u32 {}, {}, {};", a, low, l, b, high, h);
      line("add.cc.u32 {0}, {0}, {1}; addc.u32 {2}, {2}, {3};", a, l, b, h);
      return join({a, b});
    }
    case 2: {
      // Byte by byte.
      const std::string a = word(), b = word();
      line("prmt.b32 {}, {}, {}, 0x2301;", a, low, high);
      line("prmt.b32 {}, {}, {}, 0x6745;", b, low, high);
      line("prmt.b32 {0}, {0}, {0}, 0x2301; prmt.b32 {1}, {1}, {1}, 0x2301;", a, b);
      return join({a, b});
    }
    case 3: {
      const std::string a = half(), b = half(), c = half(), d = half();
      line("mov.b64 {{{}, {}, {}, {}}}, {};", a, b, c, d, held);
      return make("mov.b64", "{{{}, {}, {}, {}}}", a, b, c, d);
    }
    case 4: {
      const std::string a = word(), b = word();
      line("shf.l.wrap.b32 {}, {}, {}, 8; shf.l.wrap.b32 {}, {}, {}, 8;", a, low, high, b, high,
           low);
      const std::string c = word(), d = word();
      line("shf.r.wrap.b32 {}, {}, {}, 8; shf.r.wrap.b32 {}, {}, {}, 8;", c, b, a, d, a, b);
      return join({c, d});
    }
    case 5: {
      const std::string q = quad(), m = other(), to = wide(), rest = wide();
      const bool first = chance(50);
      line("mov.b128 {}, {{{}, {}}};", q, first ? held : m, first ? m : held);
      line("mov.b128 {{{}, {}}}, {};", to, rest, q);
      return first ? to : rest;
    }
    case 6: {
      // A half of its own and one of another address, changed back.
      const auto [l, h] = split(other_address());
      const std::string d = word(), up = word();
      line("xor.b32 {}, {}, {}; xor.b32 {}, {}, {};", d, high, h, up, h, d);
      return join({low, up});
    }
    case 7: {
      const std::string a = word(), b = word();
      line("mul.hi.u32 {}, {}, 65536; mul.lo.u32 {}, {}, 65536;", a, low, b, low);
      line("shl.b32 {0}, {0}, 16; shr.u32 {1}, {1}, 16; or.b32 {0}, {0}, {1};", a, b);
      return join({a, high});
    }
    default: {
      const std::string a = word(), b = word();
      line("brev.b32 {}, {}; brev.b32 {}, {};", a, low, b, high);
      const std::string turned = make("mov.b64", "{{{}, {}}}", b, a);
      return made("brev.b64", turned);
    }
  }
}

std::string AddressHider::by_logic(const std::string& held) {
  const std::string m = other();
  switch (pick(10)) {
    case 0:
      return make("xor.b64", "{}, {}", make("xor.b64", "{}, {}", held, m), m);
    case 1:
      return made("not.b64", made("not.b64", held));
    case 2:
      return make("or.b64", "{}, {}", make("and.b64", "{}, -65536", held),
                  make("and.b64", "{}, 65535", held));
    case 3:
      return make("add.u64", "{}, {}", make("and.b64", "{}, -64", held),
                  make("and.b64", "{}, 63", held));
    case 4: {
      const std::string both = make("and.b64", "{}, {}", held, m);
      const std::string some = make("or.b64", "{}, {}", held, m);
      return make("sub.u64", "{}, {}", make("add.u64", "{}, {}", both, some), m);
    }
    case 5: {
      const auto [low, high] = split(held);
      const auto [l, h] = split(m);
      const std::string a = word(), b = word();
      line("lop3.b32 {}, {}, {}, {}, 0xE4;", a, low, l, "-1");  // c ? a : b
      line("lop3.b32 {}, {}, {}, {}, 0xE4;", b, high, h, "-1");
      return join({a, b});
    }
    case 6:
      return make("bfi.b64", "{}, {}, 0, 20", held,
                  make("bfi.b64", "{}, {}, 20, 44", make("shr.u64", "{}, 20", held), m));
    case 7: {
      const std::string part = make("bfe.u64", "{}, 12, 40", held);
      const std::string rest = make("and.b64", "{}, 4095", held);
      const std::string top = make("shl.b64", "{}, 52", make("shr.u64", "{}, 52", held));
      const std::string up = make("shl.b64", "{}, 12", part);
      return make("or.b64", "{}, {}", make("or.b64", "{}, {}", up, rest), top);
    }
    case 8:
      return make("or.b64", "{}, {}", make("shl.b64", "{}, 8", make("shr.u64", "{}, 8", held)),
                  make("and.b64", "{}, 255", held));
    default:
      return made("brev.b64", made("brev.b64", held));
  }
}

std::string AddressHider::by_lanes(const std::string& held) {
  const auto [low, high] = split(held);
  const std::string a = word(), b = word();
  switch (pick(6)) {
    case 0:
      line("shfl.sync.idx.b32 {}, {}, 0, 31, -1; shfl.sync.bfly.b32 {}, {}, 1, 31, -1;", a, low, b,
           high);
      return join({a, b});
    case 1:
      line("shfl.sync.idx.b32 {}, {}, 3, 31, -1;", a, low);
      return join({a, high});
    case 2:
      line("redux.sync.or.b32 {}, {}, -1; redux.sync.max.u32 {}, {}, -1;", a, low, b, high);
      return join({a, b});
    case 3: {
      // One bit each.
      const std::string p = predicate();
      line("shr.u32 {}, {}, %tid; and.b32 {}, {}, 1; setp.ne.u32 {}, {}, 0;", a, low, a, a, p, a);
      line("vote.sync.ballot.b32 {}, {}, -1;", b, p);  // of a warp whose lanes are 0 to 31
      const std::string same = predicate(), l = word();
      line("setp.lt.u32 {}, %tid, 32;", same);
      line("selp.b32 {}, {}, {}, {};", l, b, low, same);
      return join({l, high});
    }
    case 4: {
      // The lanes where it is what it is.
      const std::string mask = word(), p = predicate(), same = predicate();
      line("match.all.sync.b64 {}|{}, {}, -1;", mask, p, held);
      line("setp.ne.u32 {}, {}, 0;", same, mask);
      return make("selp.b64", "{}, {}, {}", held, other(), same);
    }
    default: {
      const std::string lane = word(), p = predicate();
      line("and.b32 {}, %tid, 31; setp.eq.u32 {}, {}, 0;", lane, p, lane);
      line("selp.b32 {}, {}, 0, {}; selp.b32 {}, {}, 0, {};", a, low, p, b, high, p);
      line("redux.sync.or.b32 {0}, {0}, -1; redux.sync.or.b32 {1}, {1}, -1;", a, b);
      return join({a, b});
    }
  }
}

}  // namespace baton::verdicts
