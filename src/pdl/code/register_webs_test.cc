#include "pdl/code/register_webs.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "pdl/code/code.h"
#include "pdl/test_support.h"

namespace baton::overlap::register_webs_test {
namespace {

// The registers that PTX lines name, read back: "%r3" of line 2 of a body is "%r3@2" here, and two
// of those are one value or two.
class Webs {
 public:
  explicit Webs(std::string_view body, std::string_view before = "")
      : module_(module_of(body, before)), code_(read_code(module_, *module_->function("k"))) {
    EXPECT_EQ(code_.unset.size(), code_.registers);
    for (const Operation& operation : code_.operations) {
      for (std::uint32_t id : operation.defines) EXPECT_LT(id, code_.registers);
      for (const ValueSource& source : operation.sources) {
        EXPECT_TRUE(source.kind != ValueSource::Kind::kRegister || source.id < code_.registers);
      }
      EXPECT_EQ(operation.kept.size(), operation.guard == kNone ? 0 : operation.defines.size());
    }
  }

  // Of the instruction that begins a line of the body, the first being 0.
  const Operation& line(std::uint32_t number) const {
    for (const Operation& operation : code_.operations) {
      if (operation.instruction == nullptr) continue;
      if (operation.instruction->position.line == kFirstLine + number) return operation;
    }
    throw std::runtime_error("no instruction on that line");
  }
  std::uint32_t written(std::uint32_t number) const { return line(number).defines.at(0); }
  std::uint32_t read(std::uint32_t number, std::size_t source = 0) const {
    const ValueSource& found = line(number).sources.at(source);
    EXPECT_EQ(found.kind, ValueSource::Kind::kRegister);
    return found.id;
  }
  bool is_unset(std::uint32_t id) const { return code_.unset[id]; }
  const Code& code() const { return code_; }

 private:
  static constexpr std::uint32_t kFirstLine = 14;
  std::shared_ptr<const ptx::ParsedModule> module_;
  Code code_;
};

TEST(Webs, WhatIsWrittenAnewIsAnotherValue) {
  const Webs webs(R"(mov.u32 %r3, 1;
add.u32 %r4, %r3, 1;
mov.u32 %r3, 2;
add.u32 %r5, %r3, 1;
ret;)");
  EXPECT_EQ(webs.written(0), webs.read(1));
  EXPECT_EQ(webs.written(2), webs.read(3));
  EXPECT_NE(webs.written(0), webs.written(2));
  EXPECT_FALSE(webs.is_unset(webs.read(1)));
}

TEST(Webs, AnOperationReadsWhatStoodThereBefore) {
  const Webs webs(R"(mov.u32 %r3, 1;
add.u32 %r3, %r3, 1;
add.u32 %r4, %r3, 1;
ret;)");
  EXPECT_EQ(webs.written(0), webs.read(1));
  EXPECT_EQ(webs.written(1), webs.read(2));
  EXPECT_NE(webs.read(1), webs.written(1));
}

TEST(Webs, ALoopMakesOneValueOfItsRounds) {
  const Webs webs(R"(mov.u32 %r3, 1;
L: add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, 9;
@%p1 bra L;
mov.u32 %r3, 7;
add.u32 %r4, %r3, 1;
ret;)");
  EXPECT_EQ(webs.written(0), webs.read(1));
  EXPECT_EQ(webs.written(0), webs.written(1));
  EXPECT_EQ(webs.written(0), webs.read(2));
  EXPECT_NE(webs.written(0), webs.written(4));
  EXPECT_EQ(webs.written(4), webs.read(5));
}

TEST(Webs, WaysThatMeetMakeOneValue) {
  const Webs webs(R"(setp.lt.u32 %p1, %r1, 9;
@%p1 bra L;
mov.u32 %r3, 1;
bra M;
L: mov.u32 %r3, 2;
M: add.u32 %r4, %r3, 1;
mov.u32 %r3, 3;
add.u32 %r4, %r3, 1;
ret;)");
  EXPECT_EQ(webs.written(2), webs.read(5));
  EXPECT_EQ(webs.written(4), webs.read(5));
  EXPECT_FALSE(webs.is_unset(webs.read(5)));
  EXPECT_NE(webs.written(6), webs.read(5));
  EXPECT_NE(webs.written(5), webs.written(7));
}

TEST(Webs, AGuardKeepsWhatStoodThere) {
  const Webs webs(R"(mov.u32 %r3, 1;
setp.lt.u32 %p1, %r1, 9;
@%p1 mov.u32 %r3, 2;
add.u32 %r4, %r3, 1;
ret;)");
  EXPECT_EQ(webs.line(2).kept.at(0), webs.written(0));
  EXPECT_EQ(webs.written(2), webs.read(3));
  EXPECT_NE(webs.written(0), webs.written(2));
}

TEST(Webs, AnAddressIsReadWhereverItStands) {
  const Webs webs(R"(mov.b64 %d1, %a;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%d1];
add.u64 %d2, %d1, 8;
ret;)");
  EXPECT_EQ(webs.written(0), webs.read(1));
  EXPECT_EQ(webs.written(0), webs.read(2));
}

TEST(Webs, WhatMayBeReadFirstIsUnset) {
  const Webs webs(R"(add.u32 %r4, %r3, 1;
setp.lt.u32 %p1, %r1, 9;
@%p1 bra L;
mov.u32 %r3, 1;
mov.u32 %r5, 1;
L: add.u32 %r4, %r5, 1;
mov.u32 %r5, 2;
add.u32 %r4, %r5, 1;
ret;)");
  EXPECT_TRUE(webs.is_unset(webs.read(0)));
  EXPECT_NE(webs.read(0), webs.written(3));
  EXPECT_FALSE(webs.is_unset(webs.written(3)));
  EXPECT_TRUE(webs.is_unset(webs.read(5)));
  EXPECT_FALSE(webs.is_unset(webs.read(7)));
}

TEST(Webs, ALoopFromTheTopReadsWhatNothingWrote) {
  const auto module = ptx::ParsedModule::parse(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k() {
.reg .b32 %r<3>; .reg .pred %p;
L: add.u32 %r1, %r1, 1;
setp.lt.u32 %p, %r1, 9;
@%p bra L;
ret;
})",
                                               "k.ptx");
  const Code code = read_code(module, *module->function("k"));
  EXPECT_EQ(code.operations[0].defines[0], code.operations[0].sources[0].id);
  EXPECT_TRUE(code.unset[code.operations[0].defines[0]]);
  EXPECT_FALSE(code.unset[code.operations[1].defines[0]]);
}

// What goes into one half of an argument leaves the other as it was.
TEST(Webs, WhatIsPassedInPartsStaysWhole) {
  const Footprint found = footprint_of(R"({ .param .align 8 .b8 in[16]; .param .b64 out;
st.param.b64 [in], %a; st.param.b64 [in+8], %b;
call (out), f, (in);
ld.param.b64 %d1, [out]; }
st.global.u32 [%d1], 1;
ret;)",
                                       R"(
.func (.param .b64 out) f(.param .align 8 .b8 in[16]) {
.reg .b64 %x; ld.param.b64 %x, [in]; st.param.b64 [out], %x; ret; })");
  EXPECT_EQ(text_of(found), "early write p0 p1");
}

// By PTX a function has its arguments as copies, so what it writes to them its caller never sees.
TEST(Webs, ACalleesOwnNamesHideNothingOfItsCallers) {
  constexpr std::string_view kWrites = ".func g(.reg .b64 %x) { mov.b64 %x, 0; ret; }\n";
  const Footprint found = footprint_of(R"(mov.b64 %d1, %a;
call g, (%d1);
st.global.u32 [%d1], 1;
ret;)",
                                       kWrites);
  EXPECT_EQ(text_of(found), "early write p0 null");
}

// Registers that are alive in more places than anyone follows.
TEST(Webs, WhatIsTooMuchStaysWholeAndMayHoldAnything) {
  constexpr int kRegisters = 3000;
  std::string body = ".reg .b32 %q<" + std::to_string(kRegisters) + ">;\n";
  for (int k = 0; k < kRegisters; ++k) body += fmt::format("mov.u32 %q{}, {};\n", k, k);
  body += "setp.lt.u32 %p1, %r1, 9;\n";
  for (int k = 0; k < kRegisters; ++k) body += fmt::format("@%p1 bra L{};\nL{}:\n", k, k);
  for (int k = 0; k < kRegisters; ++k) body += fmt::format("add.u32 %q{}, %q{}, 1;\n", k, k);
  // One that is alive in a single block is followed still.
  body += ".reg .b32 %last; mov.u32 %last, 1; sub.u32 %last, %last, 1;\n";
  const auto module = module_of(body + "ret;");
  const Code code = read_code(module, *module->function("k"));
  int followed = 0, given_up = 0;
  for (const Operation& operation : code.operations) {
    if (operation.instruction == nullptr) continue;
    const std::string_view opcode = operation.instruction->opcode;
    if (opcode != "add" && opcode != "sub") continue;
    const std::uint32_t before = operation.sources[0].id, after = operation.defines[0];
    if (opcode == "sub") {
      EXPECT_NE(before, after);
      continue;
    }
    followed += before != after && !code.unset[before] ? 1 : 0;
    given_up += before == after && code.unset[before] ? 1 : 0;
  }
  EXPECT_GT(followed, 0);
  EXPECT_GT(given_up, 0);
  EXPECT_EQ(followed + given_up, kRegisters);
}

}  // namespace
}  // namespace baton::overlap::register_webs_test
