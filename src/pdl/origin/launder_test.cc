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
#include <string>
#include <vector>

#include "pdl/footprint/bound.h"
#include "pdl/origin/launderer.h"
#include "pdl/test_support.h"
#include "pdl/verdict/chain.h"

namespace baton::overlap::launder_test {
namespace {

// The memories: p0 is what the launch before writes, p1 a weight, p2 a table in memory that holds
// both addresses and their difference.
constexpr MemoryId kWritten = 1, kWeight = 2, kTable = 3;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

constexpr const auto& kRegisters = Launderer::kRegisters;
constexpr const auto& kBefore = Launderer::kBefore;

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
           "mul.wide.u32 %s, %w1, 65536; sub.u64 %t, %t, %s;",
           // A table that is read at a place which such a difference decides.
           "ld.global.u64 %s, [%c]; ld.global.u64 %t, [%c+8]; sub.u64 %t, %s, %t;"
           "and.b64 %t, %t, 8; mov.u64 %s, shared; add.u64 %s, %s, %t; ld.shared.u64 %t, [%s];",
           // What is taken away from a loaded address is a number that conditions told.
           "and.b64 %s, %b, 1024; setp.ne.u64 %q0, %s, 0; mov.u64 %t, 0; @%q0 mov.u64 %t, 1024;"
           "ld.global.u64 %s, [%c]; sub.u64 %t, %s, %t;"}) {
    EXPECT_NE(verdict_of(body + "add.u64 %z, %b, %t;"), EdgeVerdict::kProven) << body;
  }
}

// Sums of 32 bits lose a carry, and so do halves of sums that are put together. What is lost tells
// how an address compares with a number.
TEST(Laundering, LostCarriesTellAddresses) {
  const auto of = [](const std::string& body) {
    return verdict_of(body + "sub.u64 %t, %t, %s; add.u64 %z, %b, %t;");
  };
  const std::string more = "add.u64 %t, %a, 0xffff0000;",
                    halves = "mov.b64 {%w0, %w1}, %t; mov.b64 {%w2, %w3}, %a;",
                    local = ".local .align 8 .b8 l[8];", pass = "{ .param .b32 q, r;",
                    call = "call.uni (r), same_word, (q);";
  for (const std::string& body : std::vector<std::string>{
           more + halves + "mov.b64 %t, {%w0, %w3}; mov.b64 %s, %a;",
           "mov.b64 {%w2, %w3}, %a; add.u32 %w2, %w2, 0xffff0000; mov.b64 %t, {%w2, %w3};"
           "mov.b64 %s, %a;",
           // Registers of 64 bits of which 32 or fewer are read.
           more + "cvt.u64.u32 %t, %t; cvt.u64.u32 %s, %a;",
           more + "cvt.u32.u32 %t, %t; cvt.u32.u32 %s, %a;", "cvt.u64.u32 %t, %a; mov.b64 %s, %a;",
           local + "st.local.u32 [l], %a; ld.local.u32 %t, [l]; mov.b64 %s, %a;",
           local + "st.local.u16 [l], %a; ld.local.u16 %t, [l]; mov.b64 %s, %a;",
           local + "mov.u64 %s, l; cvta.local.u64 %s, %s; st.u32 [%s], %a; ld.u32 %t, [%s];"
                   "mov.b64 %s, %a;",
           pass + "st.param.b32 [q], %a;" + call + "ld.param.b32 %t, [r]; } mov.b64 %s, %a;",
           // Words of a parameter.
           "ld.param.u32 %w0, [p0]; add.u32 %w1, %w0, 0xffff0000; cvt.u64.u32 %t, %w1;"
           "cvt.u64.u32 %s, %w0;",
           "ld.param.u32 %w0, [p0]; ld.param.u32 %w1, [p0+4]; add.u32 %w0, %w0, 0xffff0000;"
           "mov.b64 %t, {%w0, %w1}; ld.param.u64 %s, [p0];"}) {
    EXPECT_NE(of(body), EdgeVerdict::kProven) << body;
  }
  // A part of an address that is stored leads from any loaded value to anywhere.
  EXPECT_NE(verdict_of("st.shared.u32 [shared], %a; ld.shared.u32 %w0, [shared];"
                       "cvt.u64.u32 %t, %w0; add.u64 %z, %b, %t;"),
            EdgeVerdict::kProven);
}

TEST(Laundering, HalvesOfAnAddressAsItWasGivenAreWhole) {
  for (const std::string& body : std::vector<std::string>{
           "mov.b64 {%w0, %w1}, %b; mov.b64 %z, {%w0, %w1};",
           "ld.param.u32 %w0, [p1]; ld.param.u32 %w1, [p1+4]; mov.b64 %z, {%w0, %w1};"}) {
    const std::string index = "ld.global.u64 %t, [%c]; add.u64 %z, %z, %t;";
    EXPECT_EQ(verdict_of(body + index), EdgeVerdict::kProven) << body;
    const std::string distance = "sub.u64 %t, %z, %b; add.u64 %z, %b, %t;";
    EXPECT_EQ(verdict_of(body + distance), EdgeVerdict::kProven) << body;
  }
  // With a number added it is an address of that memory.
  EXPECT_EQ(verdict_of("add.u64 %t, %b, 8; mov.b64 {%w0, %w1}, %t; mov.b64 %z, {%w0, %w1};"),
            EdgeVerdict::kProven);
}

// Operations that compute in memory with what they find there.
TEST(Laundering, MemoryComputesWithAddresses) {
  const std::string minus_b =
      "st.shared.u64 [shared], 0; red.shared.add.u64 [shared], %b; red.shared.xor.b64 [shared], "
      "-1;";
  const std::string reduces = "cp.reduce.async.bulk.global.shared::cta.bulk_group";
  for (const std::string& body : std::vector<std::string>{
           minus_b + "atom.shared.add.u64 %s, [shared], %a; ld.shared.u64 %t, [shared];",
           minus_b + "red.shared.add.u64 [shared], %a; ld.shared.u64 %t, [shared];",
           "ld.global.u64 %t, [%c]; atom.shared.cas.b64 %s, [shared], %a, 0;"
           "ld.shared.u64 %t, [shared];",
           "st.shared.u64 [shared], %a; " + reduces +
               ".add.u64 [%c], [shared], 16;"
               "ld.global.u64 %t, [%c];",
           "st.shared.u64 [shared], %b; " + reduces +
               ".xor.b64 [%c], [shared], 16;"
               "ld.global.u64 %t, [%c];"}) {
    EXPECT_NE(verdict_of(body + "add.u64 %z, %b, %t;"), EdgeVerdict::kProven) << body;
  }
  for (const std::string& body :
       std::vector<std::string>{"ld.global.u64 %s, [%c]; atom.shared.add.u64 %t, [shared], %s;",
                                "atom.shared.exch.b64 %t, [shared], 8; ld.global.u64 %t, [%c];",
                                "st.shared.u64 [shared], 8; " + reduces +
                                    ".add.u64 [%c], [shared], 16;"
                                    "ld.global.u64 %t, [%c];"}) {
    EXPECT_EQ(verdict_of(body + "add.u64 %z, %b, %t;"), EdgeVerdict::kProven) << body;
  }
}

// A kernel that stores two addresses and loads them finds their difference in ways that are not
// told from computing an index.
TEST(Laundering, StoredAddressesAreFoundOut) {
  const std::string stored = "st.shared.u64 [shared], %a; st.shared.u64 [shared+8], %b;";
  for (const std::string& body : std::vector<std::string>{
           // By counting, bit by bit, and by halves.
           stored + ".reg .b64 %n; ld.shared.u64 %s, [shared]; ld.shared.u64 %t, [shared+8];"
                    "mov.b64 %n, 0; Again: add.u64 %n, %n, 4; add.u64 %t, %t, 4;"
                    "setp.ne.u64 %q0, %s, %t; @%q0 bra Again; mov.b64 %t, %n;",
           stored + "ld.shared.u64 %s, [shared]; and.b64 %s, %s, 1024; setp.ne.u64 %q0, %s, 0;"
                    "mov.u64 %t, 0; @%q0 mov.u64 %t, 1024; ld.shared.u64 %s, [shared+8];"
                    "sub.u64 %t, %t, %s;",
           stored +
               "ld.shared.u32 %w0, [shared]; ld.shared.u32 %w1, [shared+8]; sub.u32 %w0, %w0, %w1;"
               "cvt.s64.s32 %t, %w0;",
           "atom.shared.exch.b64 %s, [shared], %a; atom.shared.cas.b64 %s, [shared+8], 0, %b;"
           "ld.shared.u32 %w0, [shared]; ld.shared.u32 %w1, [shared+8]; sub.u32 %w0, %w0, %w1;"
           "cvt.s64.s32 %t, %w0;"}) {
    EXPECT_NE(verdict_of(body + "add.u64 %z, %b, %t;"), EdgeVerdict::kProven) << body;
  }
  for (const std::string& body : std::vector<std::string>{
           // What is stored leads to no buffer, or cannot be loaded here.
           "mov.u64 %s, shared; st.shared.u64 [shared], %s; ld.global.u64 %t, [%c];",
           ".local .align 8 .b8 l[8]; st.local.u64 [l], %a; ld.global.u64 %t, [%c];",
           ".local .align 8 .b8 l[8]; mov.u64 %s, l; cvta.local.u64 %s, %s; st.u64 [%s], %a;"
           "ld.global.u64 %t, [%c];"}) {
    EXPECT_EQ(verdict_of(body + "add.u64 %z, %b, %t;"), EdgeVerdict::kProven) << body;
  }
}

// Threads exchange values where each of them may be at an instruction of its own.
TEST(Laundering, ThreadsMeetInTwoBranches) {
  const auto branches = [](const std::string& here, const std::string& there) {
    return "cvt.u32.u64 %w1, %a; setp.lt.s32 %q1, %w1, 0; setp.lt.s32 %q2, %r1, 0;"
           "setp.ne.u32 %q0, %r1, 0; mov.u32 %w0, 0; @%q0 bra Other;" +
           here + "bra Met; Other:" + there + "Met: cvt.u64.u32 %t, %w0;";
  };
  for (const auto& [here, there] : std::vector<std::pair<std::string, std::string>>{
           {"bar.red.popc.u32 %w0, 0, %q2;", "bar.red.popc.u32 %w2, 0, %q1;"},
           {"shfl.sync.bfly.b32 %w0, %r1, 16, 31, -1;", "shfl.sync.bfly.b32 %w2, %w1, 16, 31, -1;"},
           {"vote.sync.ballot.b32 %w0, %q2, -1;", "vote.sync.ballot.b32 %w2, %q1, -1;"},
           {"match.any.sync.b32 %w0, %r1, -1;", "match.any.sync.b32 %w2, %w1, -1;"},
           {"redux.sync.or.b32 %w0, %r1, -1;", "redux.sync.or.b32 %w2, %w1, -1;"}}) {
    EXPECT_NE(verdict_of(branches(here, there) + "add.u64 %z, %b, %t;"), EdgeVerdict::kProven)
        << here;
    EXPECT_EQ(verdict_of(branches(here, here) + "add.u64 %z, %b, %t;"), EdgeVerdict::kProven)
        << here;
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

// Callers may give buffers of one allocation, which are close to each other.
TEST(Laundering, AlignmentsLeadToCloseMemory) {
  const auto verdict = [](const std::string& body, bool is_close) {
    static const Footprint kProduces = footprint_of(
        "griddepcontrol.wait; griddepcontrol.launch_dependents; st.global.u32 [%a], %r1;");
    const Footprint victim =
        footprint_of(kRegisters + body +
                     "ld.global.u32 %r3, [%z]; griddepcontrol.wait; st.global.u32 [%c], %r3;");
    std::vector<GivenArgument> given = {GivenArgument::pointer(kWritten),
                                        GivenArgument::pointer(kWeight),
                                        GivenArgument::pointer(kTable), GivenArgument::scalar(7)};
    given[0].has_neighbours = given[1].has_neighbours = is_close;
    const std::array<std::uint32_t, 3> block = {32, 1, 1}, grid = {1, 1, 1};
    const VariableNumber variable = [](std::string_view, bool) { return MemoryId{10}; };
    LaunchChain chain([](MemoryId) { return false; });
    chain.follow(overlap::bind(kProduces, given, block, grid, variable), false);
    return chain.judge(overlap::bind(victim, given, block, grid, variable)).kind;
  };
  const std::string rounds = "and.b64 %s, %b, -256; and.b64 %t, %a, 255; add.u64 %z, %s, %t;";
  EXPECT_EQ(verdict(rounds, false), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(rounds, true), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict("mov.b64 %z, %b;", true), EdgeVerdict::kProven);
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
}  // namespace baton::overlap::launder_test
