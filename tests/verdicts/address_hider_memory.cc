// Memory, conditions, loops and calls.

#include "address_hider.h"

namespace baton::verdicts {

std::string AddressHider::by_memory(const std::string& held) {
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

std::string AddressHider::by_conditions(const std::string& held) {
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

std::string AddressHider::by_bits(const std::string& held) {
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

std::string AddressHider::by_counting(const std::string& held) {
  const std::string m = std::string(any({"%b", "%a", "%e"})), p = predicate(), again = label(),
                    end = label();
  const std::string d = make("sub.s64", "{}, {}", held, m);
  const std::string i = made("mov.u64", "0"), n = make("shr.s64", "{}, 8", d);
  const std::string less = predicate(), step = wide();
  line("setp.lt.s64 {}, {}, 0; selp.s64 {}, -1, 1, {};", less, n, step, less);
  line("{}: setp.eq.s64 {}, {}, 0; @{} bra {};", again, p, n, p, end);
  line("sub.s64 {0}, {0}, {1}; mad.lo.s64 {2}, {1}, 256, {2}; bra {3};", n, step, i, again);
  line("{}:", end);
  return make("add.u64", "{}, {}", make("add.u64", "{}, {}", m, i), make("and.b64", "{}, 255", d));
}

std::string AddressHider::by_calls(const std::string& held) {
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
      return make("or.b64", "{}, {}", make("shl.b64", "{}, 32", to), make("shr.u64", "{}, 32", to));
    default: {
      call("same", make("xor.b64", "{}, {}", held, other_address()));
      // The two are equal at the end: what went in is taken out by the loaded one.
      return make("sub.u64", "{}, {}", make("add.u64", "{}, {}", to, held), to);
    }
  }
}

}  // namespace baton::verdicts
