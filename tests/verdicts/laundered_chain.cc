#include "laundered_chain.h"

#include <array>
#include <string>

#include "kernel_writer.h"

namespace baton::verdicts {
namespace {

// p0 is x, p1 the weight w, p2 the table t, p3 is y.
class LaunderedChain : public KernelWriter {
 public:
  using KernelWriter::KernelWriter;

  // Leaves the address `goal` in the register that it returns.
  std::string launder(const std::string& goal) {
    std::string held = chance(25) ? choose(goal) : goal;
    // The same address from the table.
    if (chance(25)) {
      held = make("ld.global.u64", "[%c+{}]", goal == "%a" ? 8 : goal == "%e" ? 16 : 0);
    }
    for (unsigned k = 0, steps = 1 + pick(4); k < steps; ++k) held = hide(held);
    return held;
  }

  // Accesses an element of the thread there.
  void access(const std::string& at, bool may_write) {
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

 private:
  std::string made(std::string_view operation, const std::string& operands) {
    std::string to = wide();
    line("{} {}, {};", operation, to, operands);
    return to;
  }
  template <typename... Parts>
  std::string make(std::string_view operation, fmt::format_string<Parts...> text,
                   Parts&&... parts) {
    return made(operation, fmt::format(text, std::forward<Parts>(parts)...));
  }

  // Something that is mixed in: another address, a number, or what was loaded.
  std::string other() {
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
  // An address that differs from what is held by less than 2^40.
  std::string other_address() {
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

  // The address, or something else that is not taken.
  std::string choose(const std::string& held) {
    const std::string rest = other(), p = predicate();
    line("setp.lt.u32 {}, %tid, 64;", p);
    return make("selp.b64", "{}, {}, {}", held, rest, p);
  }

  using Halves = std::array<std::string, 2>;
  Halves split(const std::string& held) {
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
  std::string join(const Halves& halves) {
    if (chance(50)) return make("mov.b64", "{{{}, {}}}", halves[0], halves[1]);
    const std::string up = make("shl.b64", "{}, 32", made("cvt.u64.u32", halves[1]));
    const std::string down = made("cvt.u64.u32", halves[0]);
    return make(any({"or.b64", "add.u64", "xor.b64"}), "{}, {}", up, down);
  }

  std::string hide(const std::string& held) {
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

  // Of any 64 bits.
  std::string hide_any(const std::string& held) {
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

  std::string by_arithmetic(const std::string& held) {
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

  std::string by_halves(const std::string& held) {
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

  // Through memory of the thread, the block or the grid.
  std::string by_memory(const std::string& held) {
    const unsigned at = 16 * pick(4), mine = 256 + at;
    switch (pick(12)) {
      case 0:
        line("st.local.u64 [spill+{}], {};", at, held);
        return make("ld.local.u64", "[spill+{}]", at);
      case 1: {
        const auto [low, high] = split(held);
        const std::string a = word(), b = word();
        line("st.local.v2.u32 [spill+{}], {{{}, {}}};", at, low, high);
        line("ld.local.v2.u32 {{{}, {}}}, [spill+{}];", a, b, at);
        return join({a, b});
      }
      case 2: {
        const std::string rest = other();
        line("st.local.v2.u64 [spill+{}], {{{}, {}}};", at, held, rest);
        const std::string a = word(), b = word();
        line("ld.local.u32 {}, [spill+{}]; ld.local.u32 {}, [spill+{}];", a, at, b, at + 4);
        return join({a, b});
      }
      case 3: {
        // Byte by byte.
        line("st.local.u64 [spill+{}], {};", at, held);
        std::string all = made("mov.u64", "0");
        for (unsigned k = 8; k-- > 0;) {
          const std::string byte = half();
          line("ld.local.u8 {}, [spill+{}];", byte, at + k);
          const std::string up = make("shl.b64", "{}, 8", all);
          all = make("or.b64", "{}, {}", up, made("cvt.u64.u16", byte));
        }
        return all;
      }
      case 4: {
        // A pointer to local memory.
        const std::string base = made("mov.u64", "spill");
        const std::string local = made("cvta.local.u64", base);
        line("st.u64 [{}+{}], {};", local, at, held);
        return chance(50) ? make("ld.local.u64", "[spill+{}]", at)
                          : make("ld.u64", "[{}+{}]", local, at);
      }
      case 5: {
        // A place that is computed.
        const std::string base = made("mov.u64", "spill"), i = wide();
        line("st.local.u64 [spill+{}], {};", at, held);
        line("cvt.u64.u32 {0}, %n; add.u64 {0}, {0}, {1};", i, base);
        return make("ld.local.u64", "[{}+{}]", i, at);  // %n is 0
      }
      case 6:
        line("st.shared.u64 [shared+{}], {};", mine, held);
        return make("ld.shared.u64", "[shared+{}]", mine);
      case 7:
        line("st.shared.u64 [shared+{}], 0;", mine);
        line("atom.shared.exch.b64 {}, [shared+{}], {};", wide(), mine, held);
        return make("atom.shared.or.b64", "[shared+{}], 0", mine);
      case 8: {
        const auto [low, high] = split(held);
        const std::string a = word(), b = word();
        line("st.shared.u32 [shared+{}], 0; st.shared.u32 [shared+{}], {};", mine, mine + 4, high);
        line("atom.shared.max.u32 {}, [shared+{}], {};", word(), mine, low);
        line("ld.shared.u32 {}, [shared+{}]; ld.shared.u32 {}, [shared+{}];", a, mine, b, mine + 4);
        return join({a, b});
      }
      case 9: {
        // Through global memory that no other launch touches.
        const std::string own = chance(50) ? std::string("%e") : made("mov.u64", "counter");
        line("st.global.u64 [{}+2048], {};", own, held);
        return make("ld.global.u64", "[{}+2048]", own);
      }
      case 10: {
        // The difference through shared memory.
        const std::string m = other_address();
        const std::string d = make("sub.u64", "{}, {}", held, m);
        line("st.shared.u64 [shared+{}], {};", mine, d);
        return make("add.u64", "{}, {}", m, make("ld.shared.u64", "[shared+{}]", mine));
      }
      default: {
        // One of several in a table of pointers on the stack.
        const std::string rest = other(), i = wide(), base = made("mov.u64", "spill");
        line("st.local.u64 [spill+{}], {}; st.local.u64 [spill+{}], {};", at, rest, at + 8, held);
        line("cvt.u64.u32 {0}, %n; shl.b64 {0}, {0}, 3; add.u64 {0}, {0}, {1};", i, base);
        return make("ld.local.u64", "[{}+{}]", i, at + 8);
      }
    }
  }

  std::string by_logic(const std::string& held) {
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

  // Through other lanes.
  std::string by_lanes(const std::string& held) {
    const auto [low, high] = split(held);
    const std::string a = word(), b = word();
    switch (pick(6)) {
      case 0:
        line("shfl.sync.idx.b32 {}, {}, 0, 31, -1; shfl.sync.bfly.b32 {}, {}, 1, 31, -1;", a, low,
             b, high);
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

  // By what is selected, or where a branch goes.
  std::string by_conditions(const std::string& held) {
    const std::string m = other(), p = predicate();
    switch (pick(7)) {
      case 0:
        return make("slct.u64.s32", "{}, {}, %tid", held, m);
      case 1: {
        const std::string to = made("mov.b64", m);
        line("setp.ge.u32 {}, %ntid, 32; @{} mov.b64 {}, {};", p, p, to, held);
        return to;
      }
      case 2: {
        const std::string to = made("mov.b64", m), skip = label();
        line("setp.eq.u32 {}, %n, 99; @{} bra {};", p, p, skip);
        line("mov.b64 {}, {};\n{}:", to, held, skip);
        return to;
      }
      case 3: {
        // Equal, and so the other one.
        const std::string copy = made("mov.b64", held);
        line("setp.eq.u64 {}, {}, {};", p, copy, held);
        return make("selp.b64", "{}, {}, {}", copy, m, p);
      }
      case 4: {
        // What it is compared with, if it is that.
        const std::string loaded = make("ld.global.u64", "[%c+{}]", 8 * pick(4));
        const std::string to = made("mov.b64", held);
        line("setp.eq.u64 {}, {}, {}; @{} mov.b64 {}, {};", p, loaded, held, p, to, loaded);
        return to;
      }
      case 5: {
        const std::string first = label(), second = label(), end = label(), to = wide(),
                          list = label(), i = word();
        line("{}: .branchtargets {}, {};", list, first, second);
        line("min.u32 {}, %n, 1;", i);
        line("brx.idx {}, {};", i, list);
        line("{}: mov.b64 {}, {}; bra {};", first, to, held, end);
        line("{}: mov.b64 {}, {};\n{}:", second, to, m, end);
        return to;
      }
      default: {
        const std::string s = word();
        line("set.lt.u32.u64 {}, {}, {};", s, held, m);
        const std::string mask = made("cvt.s64.s32", s);
        const std::string x = make("and.b64", "{}, {}", make("xor.b64", "{}, {}", held, m), mask);
        return make(
            "xor.b64", "{}, {}", make("xor.b64", "{}, {}", x, m),
            make("and.b64", "{}, {}", make("xor.b64", "{}, {}", held, m), made("not.b64", mask)));
      }
    }
  }

  // Bit by bit: each one decides a selection, a branch, a place in a table, a store or a vote.
  std::string by_bits(const std::string& held) {
    const std::string to = made("mov.u64", "0"), k = word(), bit = wide(), more = wide(),
                      p = predicate(), q = predicate(), again = label();
    const std::string base = made("mov.u64", "shared");
    line("mov.u32 {}, 0;", k);
    line("st.shared.u64 [shared+512], 0; st.shared.u64 [shared+520], 1;");
    line("{}: shr.u64 {}, {}, {}; and.b64 {}, {}, 1; setp.ne.u64 {}, {}, 0;", again, bit, held, k,
         bit, bit, p, bit);
    const auto offset_of_bit = [&](std::string_view memory) {
      const std::string at = made("mov.u64", std::string(memory));
      line("shl.b64 {0}, {0}, 3; add.u64 {0}, {0}, {1};", bit, at);
    };
    switch (pick(10)) {
      case 6:  // a mark in local memory
        offset_of_bit("spill");
        line("st.local.u64 [spill+200], 0; st.local.u64 [{}+192], 1; ld.local.u64 {}, [spill+200];",
             bit, more);
        break;
      case 7:  // a table in local memory
        offset_of_bit("spill");
        line("st.local.u64 [spill+192], 0; st.local.u64 [spill+200], 1; ld.local.u64 {}, [{}+192];",
             more, bit);
        break;
      case 8:  // a mark in shared memory
        offset_of_bit("shared");
        line("st.shared.u64 [shared+536], 0; st.shared.u64 [{}+528], 1;", bit);
        line("ld.shared.u64 {}, [shared+536];", more);
        break;
      case 9: {  // the same by a generic pointer
        const std::string at = made("mov.u64", "spill"), generic = made("cvta.local.u64", at);
        line("st.local.u32 [spill+204], 0; shl.b64 {0}, {0}, 2; add.u64 {0}, {0}, {1};", bit,
             generic);
        const std::string value = word();
        line("st.u32 [{}+200], 1; ld.u32 {}, [{}+204]; cvt.u64.u32 {}, {};", bit, value, generic,
             more, value);
        break;
      }
      case 0:
        line("selp.u64 {}, 1, 0, {};", more, p);
        break;
      case 1: {
        const std::string skip = label();
        line("mov.u64 {}, 0; @!{} bra {}; mov.u64 {}, 1;\n{}:", more, p, skip, more, skip);
        break;
      }
      case 2:
        line("shl.b64 {0}, {0}, 3; add.u64 {0}, {0}, {1}; ld.shared.u64 {2}, [{0}+512];", bit, base,
             more);
        break;
      case 3: {
        const std::string all = predicate();
        line("vote.sync.any.pred {}, {}, -1; selp.u64 {}, 1, 0, {};", all, p, more, all);
        break;
      }
      case 4: {
        const std::string count = word();
        line("popc.b64 {}, {}; cvt.u64.u32 {}, {};", count, bit, more, count);
        break;
      }
      default: {
        const std::string count = word();
        line("bar.red.popc.u32 {}, 0, {}; min.u32 {}, {}, 1; cvt.u64.u32 {}, {};", count, p, count,
             count, more, count);
      }
    }
    line("shl.b64 {0}, {0}, {1}; or.b64 {2}, {2}, {0};", more, k, to);
    line("add.u32 {0}, {0}, 1; setp.lt.u32 {1}, {0}, 64; @{1} bra {2};", k, q, again);
    return to;
  }

  // A loop that runs as often as the distance of two addresses tells.
  std::string by_counting(const std::string& held) {
    const std::string m = std::string(any({"%b", "%a", "%e"})), p = predicate(), again = label(),
                      end = label();
    const std::string d = make("sub.s64", "{}, {}", held, m);
    const std::string i = made("mov.u64", "0"), n = make("shr.s64", "{}, 8", d);
    const std::string less = predicate(), step = wide();
    line("setp.lt.s64 {}, {}, 0; selp.s64 {}, -1, 1, {};", less, n, step, less);
    line("{}: setp.eq.s64 {}, {}, 0; @{} bra {};", again, p, n, p, end);
    line("sub.s64 {0}, {0}, {1}; mad.lo.s64 {2}, {1}, 256, {2}; bra {3};", n, step, i, again);
    line("{}:", end);
    return make("add.u64", "{}, {}", make("add.u64", "{}, {}", m, i),
                make("and.b64", "{}, 255", d));
  }

  std::string by_calls(const std::string& held) {
    const std::string to = wide();
    const auto call = [&](std::string_view name, const std::string& given) {
      line("{{ .param .b64 q0; .param .b64 q1; st.param.b64 [q0], {}; call.uni (q1), {}, (q0);",
           given, name);
      line("ld.param.b64 {}, [q1]; }}", to);
    };
    switch (pick(3)) {
      case 0:
        call("same", held);
        return to;
      case 1:
        call("swapped", held);
        return make("or.b64", "{}, {}", make("shl.b64", "{}, 32", to),
                    make("shr.u64", "{}, 32", to));
      default: {
        call("same", make("xor.b64", "{}, {}", held, other_address()));
        // The two are equal at the end: what went in is taken out by the loaded one.
        return make("sub.u64", "{}, {}", make("add.u64", "{}, {}", to, held), to);
      }
    }
  }
};

}  // namespace

GeneratedChain laundered_chain(std::uint64_t seed) {
  GeneratedChain chain{.seed = seed, .launches = {}};
  GeneratedLaunch& writes = chain.launches.emplace_back();
  writes.buffers = "xwty";
  writes.grid[0] = 2;
  writes.block[0] = 64;
  writes.declarations = ".reg .b64 %d<9>; .reg .b32 %r<9>;\n";
  writes.body =
      "griddepcontrol.wait; griddepcontrol.launch_dependents;\n"
      "mad.lo.u32 %r1, %cta, %ntid, %tid; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %a, %d1;\n"
      "st.global.u32 [%d1], %r1;\n";
  LaunderedChain writer(seed);
  const bool races = seed % 2 == 0;
  const bool own = writer.chance(40);  // y, which the chain does not touch otherwise
  const std::string at = writer.launder(races ? "%a" : own ? "%e" : "%b");
  writer.access(at, races || own);
  writer.line("griddepcontrol.wait;");
  GeneratedLaunch& victim = chain.launches.emplace_back();
  victim.buffers = "xwty";
  victim.block[0] = writer.chance(30) ? 64 : 32;
  victim.declarations = writer.declarations();
  victim.body = writer.text();
  return chain;
}

}  // namespace baton::verdicts
