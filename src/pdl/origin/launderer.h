#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>

namespace baton::overlap {

// A register of 64 bits and what it holds.
struct HeldAddress {
  std::string name;
  std::uint64_t value = 0;
};

// Writes bodies that take the address of a buffer apart and put it together again. It executes what
// it writes, so it knows what is held. %a, %b and %c are the addresses of what the launch before
// writes, of a weight, and of a table in memory that holds both. Not thread-safe.
class Launderer {
 public:
  // The declarations that the bodies need: before the kernel, and in it.
  static constexpr char kBefore[] =
      ".global .u32 counter[64]; .const .u32 table[64];\n"
      ".func (.param .b64 out) same(.param .b64 in) { .reg .b64 %x;\n"
      "ld.param.b64 %x, [in]; st.param.b64 [out], %x; ret; }\n"
      ".func (.param .b32 out) same_word(.param .b32 in) { .reg .b32 %x;\n"
      "ld.param.b32 %x, [in]; st.param.b32 [out], %x; ret; }\n";
  static constexpr char kRegisters[] =
      ".reg .b64 %u<200>; .reg .b32 %w<99>; .reg .pred %q<99>; .reg .b64 %s, %t, %z;\n"
      ".reg .b128 %quad;\n"
      ".reg .b64 %value, %least, %sum, %more; .reg .b32 %half, %bound, %total, %cut, %told;\n";

  explicit Launderer(std::uint64_t seed) : random_(seed) {}

  // A body that leaves the address of p0, or of p1, in %z.
  std::string launder(bool written) {
    text_ = ".local .align 16 .b8 spill[64];\n";
    const HeldAddress goal = written ? HeldAddress{"%a", kWrittenAt} : HeldAddress{"%b", kWeightAt};
    HeldAddress held = pick(4) == 0 ? choose(goal) : goal;
    for (unsigned k = 0, steps = 1 + pick(4); k < steps; ++k) held = hide(held);
    if (held.value != goal.value) throw std::logic_error("the generator has lost the address");
    return text_ + "mov.b64 %z, " + held.name + ";\n";
  }

 private:
  static constexpr std::uint64_t kWrittenAt = 0x7f3a12345000, kWeightAt = 0x7f3b9abcd000,
                                 kSharedAt = 0x7f0000000400, kVariableAt = 0x7f3c00010000,
                                 kConstAt = 0x7f3d00020000, kThread = 5;

  std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
  std::string fresh() { return "%u" + std::to_string(registers_++); }
  std::string word() { return "%w" + std::to_string(words_++); }
  std::string predicate() { return "%q" + std::to_string(predicates_++); }
  void write(const std::string& line) { text_ += line + "\n"; }

  HeldAddress emit(std::uint64_t value, const std::string& operation, const std::string& operands) {
    const std::string to = fresh();
    write(operation + " " + to + ", " + operands + ";");
    return {to, value};
  }

  // Something that is mixed in: another address, a number, or what was loaded.
  HeldAddress other() {
    switch (pick(8)) {
      case 0:
        return {"%a", kWrittenAt};
      case 1:
        return {"%b", kWeightAt};
      case 2:
        write("mov.u64 %s, shared; cvta.shared.u64 %s, %s;");
        return {"%s", kSharedAt};
      case 3:
        return emit(kVariableAt, "mov.u64", "counter");
      case 4:
        return emit(kConstAt, "mov.u64", "table");
      case 5:
        write("cvt.u64.u32 %t, %r1;");
        return {"%t", kThread};
      case 6:
        return emit(kWeightAt, "ld.global.u64", "[%c+8]");
      default:
        return {"12345", 12345};
    }
  }

  // The goal, or something else that is not taken.
  HeldAddress choose(const HeldAddress& goal) {
    const HeldAddress rest = other();
    const std::string p = predicate();
    write("setp.lt.u32 " + p + ", %r1, 16;");
    return emit(goal.value, "selp.b64", goal.name + ", " + rest.name + ", " + p);
  }

  HeldAddress hide(const HeldAddress& held) {
    switch (pick(30)) {
      case 0: {
        const HeldAddress m = other();
        const HeldAddress sum = emit(held.value + m.value, "add.u64", held.name + ", " + m.name);
        return emit(held.value, "sub.u64", sum.name + ", " + m.name);
      }
      case 1: {
        const HeldAddress m = other();
        const HeldAddress d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
        return emit(held.value, "add.u64",
                    pick(2) == 0 ? d.name + ", " + m.name : m.name + ", " + d.name);
      }
      case 2: {
        const HeldAddress m = other();
        const HeldAddress x = emit(held.value ^ m.value, "xor.b64", held.name + ", " + m.name);
        return emit(held.value, "xor.b64", x.name + ", " + m.name);
      }
      case 3: {
        const HeldAddress left = emit(held.value << 8, "shl.b64", held.name + ", 8");
        return emit(held.value, "shr.u64", left.name + ", 8");
      }
      case 4: {
        const std::string low = word(), high = word();
        write("mov.b64 {" + low + ", " + high + "}, " + held.name + ";");
        shuffle(low);
        if (pick(2) == 0) shuffle(high);
        return emit(held.value, "mov.b64", "{" + low + ", " + high + "}");
      }
      case 5: {
        const std::string low = word();
        write("cvt.u32.u64 " + low + ", " + held.name + ";");
        const HeldAddress high = emit(held.value >> 32, "shr.u64", held.name + ", 32");
        const HeldAddress up = emit(held.value >> 32 << 32, "shl.b64", high.name + ", 32");
        const HeldAddress down = emit(held.value & UINT32_MAX, "cvt.u64.u32", low);
        return emit(held.value, pick(2) == 0 ? "or.b64" : "add.u64", up.name + ", " + down.name);
      }
      case 6:
        return spill(held);
      case 7: {
        // Through shared memory.
        write("st.shared.u64 [shared], " + held.name + ";");
        return emit(held.value, "ld.shared.u64", "[shared]");
      }
      case 8: {
        write("st.shared.u64 [shared+8], 0;");
        write("atom.shared.exch.b64 %s, [shared+8], " + held.name + ";");
        return emit(held.value, "atom.shared.exch.b64", "[shared+8], 0");
      }
      case 9: {
        const std::string p = predicate();
        write("setp.ge.u32 " + p + ", %r1, 0;");
        const HeldAddress m = other();
        const HeldAddress to = emit(m.value, "mov.b64", m.name);
        write("@" + p + " mov.b64 " + to.name + ", " + held.name + ";");
        return {to.name, held.value};
      }
      case 10:
        return bit_by_bit(held);
      case 11: {
        const HeldAddress m = other();
        write("mov.b128 %quad, {" + held.name + ", " + m.name + "};");
        const std::string to = fresh(), rest = fresh();
        write("mov.b128 {" + to + ", " + rest + "}, %quad;");
        return {to, held.value};
      }
      case 12: {
        const HeldAddress m = other();
        return emit(held.value, "slct.u64.s32", held.name + ", " + m.name + ", %r1");
      }
      case 13: {
        const HeldAddress wide = emit(held.value * 3, "mul.lo.u64", held.name + ", 3");
        return emit(held.value, "div.u64", wide.name + ", 3");
      }
      case 14: {
        const HeldAddress m = other();
        const HeldAddress d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
        write("st.shared.u64 [shared+16], " + d.name + ";");
        const HeldAddress back = emit(d.value, "ld.shared.u64", "[shared+16]");
        return emit(held.value, "add.u64", m.name + ", " + back.name);
      }
      case 15: {
        const HeldAddress m = other();
        const HeldAddress d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
        return emit(held.value, "mad.lo.u64", d.name + ", 1, " + m.name);
      }
      case 16: {
        const HeldAddress not_it = emit(~held.value, "not.b64", held.name);
        return emit(held.value, "not.b64", not_it.name);
      }
      case 17: {
        const HeldAddress minus = emit(0 - held.value, "neg.s64", held.name);
        const HeldAddress m = other();
        const HeldAddress d = emit(m.value - held.value, "add.u64", m.name + ", " + minus.name);
        return emit(held.value, "sub.u64", m.name + ", " + d.name);
      }
      case 18:
        return count_up(held);
      case 19: {
        // By the carry of a sum in two halves.
        const std::string low = word(), high = word(), low2 = word(), high2 = word();
        const HeldAddress m = other();
        const HeldAddress sum = emit(held.value + m.value, "add.u64", held.name + ", " + m.name);
        const HeldAddress taken = emit(m.value, "add.u64", m.name + ", 0");
        write("mov.b64 {" + low + ", " + high + "}, " + sum.name + ";");
        write("mov.b64 {" + low2 + ", " + high2 + "}, " + taken.name + ";");
        write("sub.cc.u32 " + low + ", " + low + ", " + low2 + ";");
        write("subc.u32 " + high + ", " + high + ", " + high2 + ";");
        return emit(held.value, "mov.b64", "{" + low + ", " + high + "}");
      }
      case 20: {
        const HeldAddress m = other();
        const HeldAddress more =
            emit(std::max(held.value, m.value), "max.u64", held.name + ", " + m.name);
        const HeldAddress less =
            emit(std::min(held.value, m.value), "min.u64", held.name + ", " + m.name);
        return held.value >= m.value ? more : less;
      }
      case 21:
        return count_until_equal(held);
      case 22:
        return look_up(held);
      case 23:
        return search_store(held);
      case 24: {
        // By the window that it leaves.
        const HeldAddress m = {"%b", kWeightAt};
        const std::string i = fresh(), p = predicate(), at = fresh();
        const std::string label = "WINDOW" + std::to_string(labels_++);
        const HeldAddress d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
        write("mov.u64 " + i + ", 0;");
        write(label + ": add.u64 " + at + ", " + d.name + ", " + i + "; sub.u64 " + i + ", " + i +
              ", 4096; isspacep.shared " + p + ", " + at + "; @!" + p + " bra " + label + ";");
        return emit(held.value, "add.u64", m.name + ", " + i);
      }
      case 25:
      case 26:
        return tell(held);
      case 27: {
        const std::string low = word(), high = word();
        write("mov.b64 {" + low + ", " + high + "}, " + held.name + ";");
        return emit(held.value, "mov.b64", "{" + tell_half(low) + ", " + tell_half(high) + "}");
      }
      case 28:
        return mask(held);
      default: {
        // A call gives it back.
        const std::string to = fresh();
        write("{ .param .b64 q0; .param .b64 q1; st.param.b64 [q0], " + held.name +
              "; call.uni (q1), same, (q0); ld.param.b64 " + to + ", [q1]; }");
        return {to, held.value};
      }
    }
  }

  void shuffle(const std::string& name) {
    write("shfl.sync.idx.b32 " + name + ", " + name + ", 0, 31, -1;");
  }

  HeldAddress spill(const HeldAddress& held) {
    const unsigned at = pick(4) * 16;
    const std::string where = "[spill+" + std::to_string(at);
    write("st.local.u64 " + where + "], " + held.name + ";");
    if (pick(2) == 0) {
      const HeldAddress m = other();
      write("st.local.u64 " + where + "+8], " + m.name + ";");
    }
    if (pick(2) == 0) return emit(held.value, "ld.local.u64", where + "]");
    const std::string low = word(), high = word();
    write("ld.local.v2.u32 {" + low + ", " + high + "}, " + where + "];");
    return emit(held.value, "mov.b64", "{" + low + ", " + high + "}");
  }

  // Each bit decides a selection, or a branch.
  HeldAddress bit_by_bit(const HeldAddress& held) {
    const std::string to = fresh(), k = word(), bit = fresh(), more = fresh(), p = predicate(),
                      q = predicate();
    const std::string label = "BITS" + std::to_string(labels_++);
    const bool branches = pick(2) == 0;
    write("mov.u64 " + to + ", 0; mov.u32 " + k + ", 0;");
    write(label + ": shr.u64 " + bit + ", " + held.name + ", " + k + "; and.b64 " + bit + ", " +
          bit + ", 1;");
    write("setp.ne.u64 " + p + ", " + bit + ", 0;");
    write("mov.u64 " + more + ", 1; shl.b64 " + more + ", " + more + ", " + k + ";");
    if (branches) {
      write("@!" + p + " bra " + label + "_NO; or.b64 " + to + ", " + to + ", " + more + ";");
      write(label + "_NO:");
    } else {
      write("selp.b64 " + more + ", " + more + ", 0, " + p + "; or.b64 " + to + ", " + to + ", " +
            more + ";");
    }
    write("add.u32 " + k + ", " + k + ", 1; setp.lt.u32 " + q + ", " + k + ", 64;");
    write("@" + q + " bra " + label + ";");
    return {to, held.value};
  }

  // As often as the address has units of 4096 after that of the weight, with an alignment that is
  // known.
  HeldAddress count_up(const HeldAddress& held) {
    const HeldAddress m = {"%b", kWeightAt};
    const HeldAddress d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
    const std::string n = fresh(), i = fresh(), p = predicate();
    const std::string label = "COUNT" + std::to_string(labels_++);
    write("shr.s64 " + n + ", " + d.name + ", 12; mov.u64 " + i + ", 0;");
    write(label + ": setp.eq.u64 " + p + ", " + n + ", 0; @" + p + " bra " + label + "_END;");
    write("sub.s64 " + n + ", " + n + ", 1; add.u64 " + i + ", " + i + ", 4096; bra " + label +
          ";");
    write(label + "_END:");
    return emit(held.value, "add.u64", m.name + ", " + i);
  }

  // As often as it takes to come from the weight to the address.
  HeldAddress count_until_equal(const HeldAddress& held) {
    const HeldAddress m = {"%b", kWeightAt};
    const std::string i = fresh(), p = predicate(), at = fresh();
    const std::string label = "EQUAL" + std::to_string(labels_++);
    write("mov.u64 " + i + ", 0;");
    write(label + ": add.u64 " + at + ", " + m.name + ", " + i + "; add.u64 " + i + ", " + i +
          ", 4096;");
    if (pick(2) == 0) {
      write("setp.ne.u64 " + p + ", " + at + ", " + held.name + ";");
    } else {
      write("sub.u64 " + at + ", " + at + ", " + held.name + "; setp.ne.u64 " + p + ", " + at +
            ", 0;");
    }
    write("@" + p + " bra " + label + "; sub.u64 " + i + ", " + i + ", 4096;");
    return emit(held.value, "add.u64", m.name + ", " + i);
  }

  // Each bit indexes a table of its two values.
  HeldAddress look_up(const HeldAddress& held) {
    const HeldAddress m = {"%b", kWeightAt};
    const HeldAddress d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
    const std::string to = fresh(), k = word(), bit = fresh(), q = predicate();
    const std::string label = "TABLE" + std::to_string(labels_++);
    write("mov.u64 " + to + ", 0; mov.u32 " + k + ", 0;");
    write("st.shared.u64 [shared+32], 0; st.shared.u64 [shared+40], 1; mov.u64 %s, shared;");
    write(label + ": shr.u64 " + bit + ", " + d.name + ", " + k + "; and.b64 " + bit + ", " + bit +
          ", 1; shl.b64 " + bit + ", " + bit + ", 3; add.u64 " + bit + ", " + bit + ", %s;");
    write("ld.shared.u64 " + bit + ", [" + bit + "+32]; shl.b64 " + bit + ", " + bit + ", " + k +
          "; or.b64 " + to + ", " + to + ", " + bit + ";");
    write("add.u32 " + k + ", " + k + ", 1; setp.lt.u32 " + q + ", " + k + ", 64;");
    write("@" + q + " bra " + label + ";");
    return emit(held.value, "add.u64", m.name + ", " + to);
  }

  // A mark at each bit's place, which is read again.
  HeldAddress search_store(const HeldAddress& held) {
    const HeldAddress m = {"%b", kWeightAt};
    const HeldAddress d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
    const std::string to = fresh(), k = word(), bit = fresh(), q = predicate();
    const std::string label = "MARK" + std::to_string(labels_++);
    write("mov.u64 " + to + ", 0; mov.u32 " + k + ", 0; mov.u64 %s, shared;");
    write(label + ": st.shared.u64 [shared+40], 0; shr.u64 " + bit + ", " + d.name + ", " + k +
          "; and.b64 " + bit + ", " + bit + ", 1; shl.b64 " + bit + ", " + bit + ", 3; add.u64 " +
          bit + ", " + bit + ", %s; st.shared.u64 [" + bit + "+32], 1;");
    write("ld.shared.u64 " + bit + ", [shared+40]; shl.b64 " + bit + ", " + bit + ", " + k +
          "; or.b64 " + to + ", " + to + ", " + bit + ";");
    write("add.u32 " + k + ", " + k + ", 1; setp.lt.u32 " + q + ", " + k + ", 64;");
    write("@" + q + " bra " + label + ";");
    return emit(held.value, "add.u64", m.name + ", " + to);
  }

  // A value is found from its highest bit on: is it at least what is known of it, with the next bit
  // set? What instructions do at their bounds tells that, and no branch depends on it.
  HeldAddress tell(const HeldAddress& held) {
    static const char* const kOutcomes[] = {
        "neg.s64 %least, %least; add.cc.u64 %sum, %value, %least; addc.u64 %more, 0, 0;",
        "neg.s64 %least, %least; add.cc.u64 %sum, %value, %least; addc.u64 %more, %value, 0;"
        "sub.u64 %more, %more, %value;",
        "sub.cc.u64 %sum, %value, %least; subc.u64 %more, %value, %value;"
        "add.u64 %more, %more, 1;",
        // Both are multiples of 256, and the number between them is odd.
        "sub.u64 %least, %least, 1; max.u64 %sum, %value, %least; and.b64 %more, %sum, 1;"
        "xor.b64 %more, %more, 1;",
        "sub.u64 %least, %least, 1; min.s64 %sum, %least, %value; and.b64 %more, %sum, 1;"};
    const std::string to = fresh(), k = word(), q = predicate();
    const std::string label = "TELL" + std::to_string(labels_++);
    write("and.b64 %value, " + held.name + ", -256; mov.u64 " + to + ", 0; mov.u32 " + k + ", 47;");
    write(label + ": mov.u64 %least, 1; shl.b64 %least, %least, " + k +
          "; add.u64 %least, %least, " + to + ";");
    write(kOutcomes[pick(std::size(kOutcomes))]);
    write("shl.b64 %more, %more, " + k + "; add.u64 " + to + ", " + to + ", %more;");
    write("sub.u32 " + k + ", " + k + ", 1; setp.ge.u32 " + q + ", " + k + ", 8; @" + q + " bra " +
          label + ";");
    const HeldAddress lowest = emit(held.value & 255, "and.b64", held.name + ", 255");
    return emit(held.value, "add.u64", to + ", " + lowest.name);
  }

  // The same of 32 bits. Below 0, a sum is cut off at the least number.
  std::string tell_half(const std::string& held) {
    static const char* const kOutcomes[] = {
        "sub.u32 %bound, 0x80000000, %bound; add.s32 %total, %half, %bound;"
        "add.sat.s32 %cut, %half, %bound; sub.u32 %told, %total, %cut; min.u32 %told, %told, 1;",
        "add.u32 %bound, %bound, 0x80000000; sub.s32 %total, %half, %bound;"
        "sub.sat.s32 %cut, %half, %bound; sub.u32 %told, %total, %cut; min.u32 %told, %told, 1;",
        "sub.s32 %total, %half, %bound; add.s32 %total, %total, 1; min.relu.s32 %told, %total, 1;",
        "sub.s32 %total, %half, %bound; add.s32 %total, %total, 1; max.relu.s32 %told, %total, -9;"
        "min.u32 %told, %told, 1;",
        // The rank of a block shows in an address.
        "sub.s32 %total, %half, %bound; add.s32 %total, %total, 1; max.s32 %total, %total, 0;"
        "min.s32 %total, %total, 1; mov.u32 %bound, shared;"
        "mapa.shared::cluster.u32 %told, %bound, %total; mapa.shared::cluster.u32 %cut, %bound, 0;"
        "sub.u32 %told, %told, %cut; min.u32 %told, %told, 1;",
        // Parts of a warp are as wide as an operand says: lane 1 has a lower one in its part.
        "sub.s32 %total, %bound, %half; max.s32 %total, %total, 0; min.s32 %total, %total, 1;"
        "mul.lo.u32 %total, %total, 31; shfl.sync.up.b32 %told, %r1, 1, %total, -1;"
        "sub.u32 %told, %r1, %told; shfl.sync.idx.b32 %told, %told, 1, 31, -1;"};
    const std::string to = word(), k = word(), q = predicate(), sign = word(), all = word();
    const std::string label = "HALF" + std::to_string(labels_++);
    write("add.s32 %total, " + held + ", 0x80000000; add.sat.s32 %cut, " + held +
          ", 0x80000000; sub.u32 " + sign + ", %total, %cut; min.u32 " + sign + ", " + sign +
          ", 1; shl.b32 " + sign + ", " + sign + ", 31; add.u32 %half, " + held + ", " + sign +
          ";");
    write("mov.u32 " + to + ", 0; mov.u32 " + k + ", 30;");
    write(label + ": shl.b32 %bound, 1, " + k + "; add.u32 %bound, %bound, " + to + ";");
    write(kOutcomes[pick(std::size(kOutcomes))]);
    write("shl.b32 %told, %told, " + k + "; add.u32 " + to + ", " + to + ", %told;");
    write("sub.u32 " + k + ", " + k + ", 1; setp.ge.s32 " + q + ", " + k + ", 0; @" + q + " bra " +
          label + ";");
    write("add.u32 " + all + ", " + to + ", " + sign + ";");
    return all;
  }

  // Around the bits of an alignment, and a few of the upper half.
  HeldAddress mask(const HeldAddress& held) {
    const std::uint64_t bits = (std::uint64_t{16} << pick(8)) - 1;
    if (pick(3) == 0) {
      const std::string low = word(), high = word(), part = word(), rest = word();
      write("mov.b64 {" + low + ", " + high + "}, " + held.name + "; and.b32 " + part + ", " +
            high + ", " + std::to_string(bits) + "; sub.u32 " + rest + ", " + high + ", " + part +
            "; add.u32 " + part + ", " + part + ", " + rest + ";");
      return emit(held.value, "mov.b64", "{" + low + ", " + part + "}");
    }
    const HeldAddress part =
        emit(held.value & bits, "and.b64", held.name + ", " + std::to_string(bits));
    const HeldAddress m = other();
    const HeldAddress rest =
        pick(2) == 0 ? emit(held.value & ~bits, "and.b64", held.name + ", " + std::to_string(~bits))
                     : emit(held.value & ~bits, "sub.u64", held.name + ", " + part.name);
    const HeldAddress moved = emit(rest.value - m.value, "sub.u64", rest.name + ", " + m.name);
    const HeldAddress sum = emit(m.value + part.value, "add.u64", m.name + ", " + part.name);
    return emit(held.value, "add.u64", moved.name + ", " + sum.name);
  }

  std::mt19937_64 random_;
  std::string text_;
  unsigned registers_ = 0, words_ = 0, predicates_ = 0, labels_ = 0;
};

}  // namespace baton::overlap
