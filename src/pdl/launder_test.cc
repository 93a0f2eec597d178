// Programs that hide addresses: a victim takes the address of a buffer apart, mixes it with others,
// passes it through memory, lanes and conditions, puts it together again, and reads there before it
// waits. The generator executes what it writes, so it knows which buffer is read. The verdict
// `proven` would be wrong for each program that reads what the launch before writes.
//
// BATON_GENERATED_PROGRAMS sets the number of programs, BATON_GENERATED_SEED the first seed.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "pdl/bound.h"
#include "pdl/chain.h"
#include "pdl/test_support.h"

namespace baton::overlap {
namespace {

// The memories: p0 is what the launch before writes, p1 a weight, p2 a table in memory that holds
// both addresses and their difference.
constexpr MemoryId kWritten = 1, kWeight = 2, kTable = 3;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// A register of 64 bits and what it holds.
struct Held {
  std::string name;
  std::uint64_t value = 0;
};

class Launderer {
 public:
  explicit Launderer(std::uint64_t seed) : random_(seed) {}

  // A body that leaves the address of p0, or of p1, in %z.
  std::string launder(bool written) {
    text_ = ".local .align 16 .b8 spill[64];\n";
    const Held goal = written ? Held{"%a", kWrittenAt} : Held{"%b", kWeightAt};
    Held held = pick(4) == 0 ? choose(goal) : goal;
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

  Held emit(std::uint64_t value, const std::string& operation, const std::string& operands) {
    const std::string to = fresh();
    write(operation + " " + to + ", " + operands + ";");
    return {to, value};
  }

  // Something that is mixed in: another address, a number, or what was loaded.
  Held other() {
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
  Held choose(const Held& goal) {
    const Held rest = other();
    const std::string p = predicate();
    write("setp.lt.u32 " + p + ", %r1, 16;");
    return emit(goal.value, "selp.b64", goal.name + ", " + rest.name + ", " + p);
  }

  Held hide(const Held& held) {
    switch (pick(26)) {
      case 0: {
        const Held m = other();
        const Held sum = emit(held.value + m.value, "add.u64", held.name + ", " + m.name);
        return emit(held.value, "sub.u64", sum.name + ", " + m.name);
      }
      case 1: {
        const Held m = other();
        const Held d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
        return emit(held.value, "add.u64",
                    pick(2) == 0 ? d.name + ", " + m.name : m.name + ", " + d.name);
      }
      case 2: {
        const Held m = other();
        const Held x = emit(held.value ^ m.value, "xor.b64", held.name + ", " + m.name);
        return emit(held.value, "xor.b64", x.name + ", " + m.name);
      }
      case 3: {
        const Held left = emit(held.value << 8, "shl.b64", held.name + ", 8");
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
        const Held high = emit(held.value >> 32, "shr.u64", held.name + ", 32");
        const Held up = emit(held.value >> 32 << 32, "shl.b64", high.name + ", 32");
        const Held down = emit(held.value & UINT32_MAX, "cvt.u64.u32", low);
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
        const Held m = other();
        const Held to = emit(m.value, "mov.b64", m.name);
        write("@" + p + " mov.b64 " + to.name + ", " + held.name + ";");
        return {to.name, held.value};
      }
      case 10:
        return bit_by_bit(held);
      case 11: {
        const Held m = other();
        write("mov.b128 %quad, {" + held.name + ", " + m.name + "};");
        const std::string to = fresh(), rest = fresh();
        write("mov.b128 {" + to + ", " + rest + "}, %quad;");
        return {to, held.value};
      }
      case 12: {
        const Held m = other();
        return emit(held.value, "slct.u64.s32", held.name + ", " + m.name + ", %r1");
      }
      case 13: {
        const Held wide = emit(held.value * 3, "mul.lo.u64", held.name + ", 3");
        return emit(held.value, "div.u64", wide.name + ", 3");
      }
      case 14: {
        const Held m = other();
        const Held d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
        write("st.shared.u64 [shared+16], " + d.name + ";");
        const Held back = emit(d.value, "ld.shared.u64", "[shared+16]");
        return emit(held.value, "add.u64", m.name + ", " + back.name);
      }
      case 15: {
        const Held m = other();
        const Held d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
        return emit(held.value, "mad.lo.u64", d.name + ", 1, " + m.name);
      }
      case 16: {
        const Held not_it = emit(~held.value, "not.b64", held.name);
        return emit(held.value, "not.b64", not_it.name);
      }
      case 17: {
        const Held minus = emit(0 - held.value, "neg.s64", held.name);
        const Held m = other();
        const Held d = emit(m.value - held.value, "add.u64", m.name + ", " + minus.name);
        return emit(held.value, "sub.u64", m.name + ", " + d.name);
      }
      case 18:
        return count_up(held);
      case 19: {
        // By the carry of a sum in two halves.
        const std::string low = word(), high = word(), low2 = word(), high2 = word();
        const Held m = other();
        const Held sum = emit(held.value + m.value, "add.u64", held.name + ", " + m.name);
        const Held taken = emit(m.value, "add.u64", m.name + ", 0");
        write("mov.b64 {" + low + ", " + high + "}, " + sum.name + ";");
        write("mov.b64 {" + low2 + ", " + high2 + "}, " + taken.name + ";");
        write("sub.cc.u32 " + low + ", " + low + ", " + low2 + ";");
        write("subc.u32 " + high + ", " + high + ", " + high2 + ";");
        return emit(held.value, "mov.b64", "{" + low + ", " + high + "}");
      }
      case 20: {
        const Held m = other();
        const Held more = emit(std::max(held.value, m.value), "max.u64", held.name + ", " + m.name);
        const Held less = emit(std::min(held.value, m.value), "min.u64", held.name + ", " + m.name);
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
        const Held m = {"%b", kWeightAt};
        const std::string i = fresh(), p = predicate(), at = fresh();
        const std::string label = "WINDOW" + std::to_string(labels_++);
        const Held d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
        write("mov.u64 " + i + ", 0;");
        write(label + ": add.u64 " + at + ", " + d.name + ", " + i + "; sub.u64 " + i + ", " + i +
              ", 4096; isspacep.shared " + p + ", " + at + "; @!" + p + " bra " + label + ";");
        return emit(held.value, "add.u64", m.name + ", " + i);
      }
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

  Held spill(const Held& held) {
    const unsigned at = pick(4) * 16;
    const std::string where = "[spill+" + std::to_string(at);
    write("st.local.u64 " + where + "], " + held.name + ";");
    if (pick(2) == 0) {
      const Held m = other();
      write("st.local.u64 " + where + "+8], " + m.name + ";");
    }
    if (pick(2) == 0) return emit(held.value, "ld.local.u64", where + "]");
    const std::string low = word(), high = word();
    write("ld.local.v2.u32 {" + low + ", " + high + "}, " + where + "];");
    return emit(held.value, "mov.b64", "{" + low + ", " + high + "}");
  }

  // Each bit decides a selection, or a branch.
  Held bit_by_bit(const Held& held) {
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
  Held count_up(const Held& held) {
    const Held m = {"%b", kWeightAt};
    const Held d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
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
  Held count_until_equal(const Held& held) {
    const Held m = {"%b", kWeightAt};
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
  Held look_up(const Held& held) {
    const Held m = {"%b", kWeightAt};
    const Held d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
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
  Held search_store(const Held& held) {
    const Held m = {"%b", kWeightAt};
    const Held d = emit(held.value - m.value, "sub.u64", held.name + ", " + m.name);
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

  std::mt19937_64 random_;
  std::string text_;
  unsigned registers_ = 0, words_ = 0, predicates_ = 0, labels_ = 0;
};

constexpr char kRegisters[] =
    ".reg .b64 %u<200>; .reg .b32 %w<99>; .reg .pred %q<99>; .reg .b64 %s, %t, %z;\n"
    ".reg .b128 %quad;\n";
constexpr char kBefore[] =
    ".global .u32 counter[64]; .const .u32 table[64];\n"
    ".func (.param .b64 out) same(.param .b64 in) { .reg .b64 %x;\n"
    "ld.param.b64 %x, [in]; st.param.b64 [out], %x; ret; }\n";

EdgeVerdict verdict_of(const std::string& body) {
  static const Footprint kProduces = footprint_of(
      "griddepcontrol.wait; griddepcontrol.launch_dependents; st.global.u32 [%a], %r1;", kBefore);
  const std::string access = "ld.global.u32 %r3, [%z];";
  const Footprint victim = footprint_of(
      kRegisters + body + access + " griddepcontrol.wait; st.global.u32 [%c], %r3;", kBefore);
  if (victim.unseen) throw std::logic_error(describe(*victim.unseen) + "\n" + body);
  const std::vector<GivenArgument> given = {
      GivenArgument::pointer(kWritten), GivenArgument::pointer(kWeight),
      GivenArgument::pointer(kTable), GivenArgument::scalar(7)};
  const std::array<std::uint32_t, 3> block = {32, 1, 1}, grid = {1, 1, 1};
  const VariableNumber variable = [](std::string_view name, bool) {
    return name == "counter" ? MemoryId{10} : MemoryId{11};
  };
  LaunchChain chain([](MemoryId id) { return id == kWeight; });
  chain.follow(overlap::bind(kProduces, given, block, grid, variable), false);
  return chain.judge(overlap::bind(victim, given, block, grid, variable)).kind;
}

TEST(Laundering, NeverMakesARaceProven) {
  const std::uint64_t count = setting("BATON_GENERATED_PROGRAMS", 20000);
  const std::uint64_t first = setting("BATON_GENERATED_SEED", 1);
  std::uint64_t proven = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string race = Launderer(seed).launder(true);
    ASSERT_NE(verdict_of(race), EdgeVerdict::kProven) << "seed " << seed << "\n" << race;
    const std::string right = Launderer(seed).launder(false);
    proven += verdict_of(right) == EdgeVerdict::kProven ? 1 : 0;
  }
  // The analysis does not simply refuse what it is shown.
  EXPECT_GT(proven, count / 100) << "of " << count;
  RecordProperty("proven_right_programs", std::to_string(proven));
}

// Ways by which bits of an address once became a number unnoticed, or an address an index. Each
// body leaves the number in %t.
TEST(Laundering, KnownWaysAreFollowed) {
  const std::string low = "cvt.u32.u64 %w0, %a;", wide = "cvt.u64.u32 %t, %w0;";
  for (const std::string& body : std::vector<std::string>{
           // The carry, taken out of a sum again.
           "add.cc.u64 %s, %a, 5; addc.u64 %t, %a, 0; sub.u64 %t, %t, %a;",
           "add.cc.u64 %s, %a, 5; addc.u64 %t, %a, 0; and.b64 %t, %t, 1;",
           "sub.cc.u64 %s, %a, 5; subc.u64 %t, %a, 0; sub.u64 %t, %t, %a;",
           // Whether a sum was cut off, and which of two values is chosen.
           low + "add.sat.s32 %w0, %w0, 7; and.b32 %w0, %w0, 1;" + wide,
           low + "sub.sat.s32 %w0, %w0, 7; and.b32 %w0, %w0, 1;" + wide,
           "max.u64 %t, %a, 99; min.u64 %t, %t, 100; and.b64 %t, %t, 1;",
           "max.s64 %t, %a, 99; and.b64 %t, %t, 1;",
           low + "max.relu.s32 %w0, %w0, -9; and.b32 %w0, %w0, 1;" + wide,
           // More than the alignment.
           "and.b64 %t, %a, 511;", "ld.param.u32 %w0, [p0+4]; and.b32 %w0, %w0, 255;" + wide,
           // Operands beside the value or the address.
           low +
               "mov.u32 %w1, shared; mapa.shared::cluster.u32 %w2, %w1, %w0;"
               "mapa.shared::cluster.u32 %w3, %w1, 0; sub.u32 %w0, %w2, %w3;" +
               wide,
           low + "shfl.sync.idx.b32 %w0, %r1, 16, %w0, -1;" + wide,
           low + "shfl.sync.idx.b32 %w0|%q0, %r1, 16, %w0, -1;" + wide,
           low + "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%w1, %w2, %w3, %w4, %w5, %w6, %w7, "
                 "%w8}, [%b], %w0; cvt.u64.u32 %t, %w1;",
           "shr.u64 %t, %a, 8; and.b64 %t, %t, 56; mov.u64 %s, shared; add.u64 %s, %s, %t;"
           "atom.shared.add.u64 %t, [%s], 0;",
           // Differences of addresses that were loaded.
           "st.shared.u64 [shared], %a; st.shared.u64 [shared+8], %b; ld.shared.u64 %s, [shared];"
           "ld.shared.u64 %t, [shared+8]; sub.u64 %t, %s, %t;",
           "ld.global.u64 %s, [%c]; ld.global.u64 %t, [%c+8]; sub.u64 %t, %s, %t;",
           "ld.global.v2.u64 {%s, %t}, [%c]; neg.s64 %t, %t; add.u64 %t, %s, %t;",
           "ld.global.u64 %s, [%c]; ld.global.u64 %t, [%c+8]; xor.b64 %t, %s, %t;",
           "ld.global.u64 %s, [%c]; ld.global.u64 %t, [%c+8]; not.b64 %t, %t;"
           "add.u64 %t, %s, %t;",
           "ld.global.u64 %s, [%c]; ld.global.u64 %t, [%c+8]; mad.lo.s64 %t, %t, -1, %s;",
           "ld.global.u64 %s, [%c]; ld.global.u64 %t, [%c+8]; mul.lo.s64 %t, %t, -1;"
           "add.u64 %t, %s, %t;",
           "ld.global.u64 %s, [%c]; ld.global.u64 %t, [%c+8]; xor.b64 %t, %t, -1;"
           "add.u64 %t, %s, %t;",
           ".local .align 8 .b8 l[16]; ld.global.v2.u32 {%w0, %w1}, [%c];"
           "ld.global.v2.u32 {%w2, %w3}, [%c+8]; st.local.u32 [l], %w0; st.local.u32 [l+4], %w1;"
           "st.local.u32 [l+8], %w2; st.local.u32 [l+12], %w3; ld.local.u64 %s, [l];"
           "ld.local.u64 %t, [l+8]; sub.u64 %t, %s, %t;",
           "ld.global.v2.u32 {%w0, %w1}, [%c]; ld.global.v2.u32 {%w2, %w3}, [%c+8];"
           "mov.b64 %s, {%w0, %w1}; mov.b64 %t, {%w2, %w3}; sub.u64 %t, %s, %t;",
           "ld.global.v2.u32 {%w0, %w1}, [%c]; ld.global.v2.u32 {%w2, %w3}, [%c+8];"
           "sub.cc.u32 %w0, %w0, %w2; subc.u32 %w1, %w1, %w3; mov.b64 %t, {%w0, %w1};",
           "ld.global.u32 %w0, [%c+4]; mul.wide.u32 %t, %w0, 65536; ld.global.u32 %w1, [%c+12];"
           "mul.wide.u32 %s, %w1, 65536; sub.u64 %t, %t, %s;"}) {
    EXPECT_NE(verdict_of(body + "add.u64 %z, %b, %t;"), EdgeVerdict::kProven) << body;
  }
}

// What these ways look like in right programs.
TEST(Laundering, IndexesAndAlignmentsAreNumbers) {
  const std::string narrow = "ld.global.u32 %w0, [%c]; ld.global.u32 %w1, [%c+4];";
  for (const std::string& body : std::vector<std::string>{
           "mov.u64 %t, 8;", "cvt.u64.u32 %t, %r2;", "and.b64 %t, %b, 15; neg.s64 %t, %t;",
           "and.b64 %t, %a, 15;", "sub.u64 %t, %b, %b;", narrow + "mul.wide.u32 %t, %w0, 4;",
           narrow + "sub.u32 %w0, %w0, %w1; mul.wide.u32 %t, %w0, 4;",
           narrow + "mad.lo.u32 %w0, %w0, %w1, %r1; mul.wide.u32 %t, %w0, 4;",
           "ld.global.u64 %t, [%c]; shl.b64 %t, %t, 2;",
           "ld.global.u64 %t, [%c]; sub.u64 %t, %t, 5; mul.lo.s64 %t, %t, 12;",
           "ld.global.u64 %s, [%c]; ld.global.u64 %t, [%c+8]; add.u64 %t, %s, %t;",
           narrow + "cvt.u64.u32 %s, %w1; ld.global.u64 %t, [%c+8]; sub.u64 %t, %t, %s;",
           "min.s32 %w0, %r1, %r0; max.s32 %w0, %w0, 0; cvt.u64.u32 %t, %w0;",
           "max.u64 %t, %b, %b; sub.u64 %t, %t, %b;",
           "ld.global.u64 %t, [%c]; max.s64 %t, 0, %t;"}) {
    EXPECT_EQ(verdict_of(body + "add.u64 %z, %b, %t;"), EdgeVerdict::kProven) << body;
  }
}

// With numbers that tell alignments, a kernel gets from a view to what lies beside it.
TEST(Laundering, AlignmentsLeadToNeighbours) {
  const auto verdict = [](const std::string& body, std::uint64_t between) {
    const std::string ends =
        "ld.global.u32 %r3, [%z]; griddepcontrol.wait; st.global.u32 [%c], %r3;";
    static const Footprint kProduces = footprint_of(
        "griddepcontrol.wait; griddepcontrol.launch_dependents; st.global.u32 [%a], %r1;");
    const Footprint victim = footprint_of(kRegisters + body + ends);
    const std::vector<GivenArgument> given = {
        GivenArgument::pointer(kWritten, 1024, 64),
        GivenArgument::pointer(kWritten, 1024 + 64 + between, 64), GivenArgument::pointer(kTable),
        GivenArgument::scalar(7)};
    const std::array<std::uint32_t, 3> block = {32, 1, 1}, grid = {1, 1, 1};
    const VariableNumber variable = [](std::string_view, bool) { return MemoryId{10}; };
    LaunchChain chain([](MemoryId) { return false; });
    chain.follow(overlap::bind(kProduces, given, block, grid, variable), false);
    return chain.judge(overlap::bind(victim, given, block, grid, variable)).kind;
  };
  const std::string rounds = "and.b64 %s, %b, -256; and.b64 %t, %a, 255; add.u64 %z, %s, %t;";
  EXPECT_EQ(verdict("mov.b64 %z, %b;", 0), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(rounds, 0), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict(rounds, 254), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict(rounds, 512), EdgeVerdict::kProven);
  EXPECT_EQ(verdict("and.b64 %s, %a, -256; sub.u64 %t, %a, %s; and.b64 %s, %b, -256;"
                    "add.u64 %z, %s, %t;",
                    0),
            EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict("or.b64 %s, %a, 255; sub.u64 %t, %s, %a; or.b64 %s, %b, 255;"
                    "sub.u64 %z, %s, %t;",
                    0),
            EdgeVerdict::kUnknown);
}

// Coordinates of a copy decide what it leaves in shared memory.
TEST(Laundering, CoordinatesAreStored) {
  const Footprint found = footprint_of(
      "cvt.u32.u64 %r3, %a; cp.async.bulk.tensor.1d.shared::cluster.global.tile."
      "mbarrier::complete_tx::bytes [shared], [%c, {%r3}], [shared+8];");
  ASSERT_EQ(found.stored.size(), 1u);
  EXPECT_EQ(text_of(found, found.stored[0]), "p0*");
}

}  // namespace
}  // namespace baton::overlap
