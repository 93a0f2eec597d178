#include "pdl/order/shuffles.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "pdl/test_support.h"

namespace baton::overlap::shuffles_test {
namespace {

// By shuffle, in order: "+" if it is a lone one.
std::string lone_ones(const std::shared_ptr<const ptx::ParsedModule>& module) {
  const Code code = read_code(module, *module->function("k"));
  const std::vector<bool> lone = find_lone_shuffles(code);
  std::string text;
  for (std::size_t at = 0; at < code.operations.size(); ++at) {
    if (code.operations[at].exchange == Exchange::kShuffled) text += lone[at] ? "+" : "-";
  }
  return text;
}
std::string lone_ones(const std::string& body) {
  return lone_ones(module_of(body));
}

std::string shuffle(const std::string& mode = "idx", const std::string& mask = "-1") {
  return "shfl.sync." + mode + ".b32 %r3, %r1, 0, 31, " + mask + ";\n";
}
const std::string kIf = "setp.lt.u32 %p1, %r1, 16; @!%p1 bra ELSE;\n";
const std::string kElse = "bra ON; ELSE:\n";

TEST(Shuffles, ThatAllLanesComeToOneAfterTheOther) {
  EXPECT_EQ(lone_ones(shuffle()), "+");
  EXPECT_EQ(lone_ones(shuffle() + shuffle() + shuffle()), "+++");
  EXPECT_EQ(lone_ones(shuffle() + "L:" + shuffle() + "@%p1 bra L;"), "++");
  EXPECT_EQ(lone_ones(shuffle() + "L:" + shuffle() + shuffle() + "@%p1 bra L;"), "+--");
}

TEST(Shuffles, OfTwoBranchesMeet) {
  EXPECT_EQ(lone_ones(kIf + shuffle() + kElse + shuffle() + "ON:"), "--");
  EXPECT_EQ(lone_ones(shuffle() + kIf + shuffle() + kElse + shuffle() + "ON:"), "+--");
  EXPECT_EQ(lone_ones(kIf + shuffle() + kElse + "ON:" + shuffle()), "--");
  EXPECT_EQ(lone_ones(shuffle() + "@%p1 " + shuffle() + shuffle()), "+--");
}

TEST(Shuffles, OfOtherQualifiersOrMasksDoNotMeet) {
  EXPECT_EQ(lone_ones(kIf + shuffle("idx") + kElse + shuffle("bfly") + "ON:"), "++");
  EXPECT_EQ(
      lone_ones(kIf + shuffle("idx", "0xffff") + kElse + shuffle("idx", "0xffff0000") + "ON:"),
      "++");
  EXPECT_EQ(lone_ones(kIf + shuffle("idx", "%r0") + kElse + shuffle("idx", "15") + "ON:"), "--");
  EXPECT_EQ(lone_ones(shuffle("idx", "%r0") + shuffle("idx", "15")), "--")
      << "what mask the first one has is not known";
  EXPECT_EQ(lone_ones(shuffle("idx", "15") + shuffle("idx", "%r0")), "--");
}

// Lanes meet by the number of shuffles of their kind that they have passed, and by nothing else.
TEST(Shuffles, OfTheirKindAloneCount) {
  EXPECT_EQ(
      lone_ones(kIf + "mov.u32 %r5, 1; mov.u32 %r6, 1;\n" + shuffle() + kElse + shuffle() + "ON:"),
      "--");
  EXPECT_EQ(lone_ones(kIf + shuffle("bfly") + shuffle() + kElse + shuffle() + "ON:"), "+--");
}

// A lane that leaves the second one out is at its third one when others are at theirs.
TEST(Shuffles, WithAGuardMayCount) {
  EXPECT_EQ(lone_ones(shuffle() + "@%p1 " + shuffle() + shuffle() + shuffle()), "+---");
}

TEST(Shuffles, OfManyMasksAreNotCounted) {
  std::string body;
  for (int mask = 1; mask <= 10; ++mask) {
    body += shuffle("idx", std::to_string(mask)) + shuffle("idx", std::to_string(mask));
  }
  EXPECT_EQ(lone_ones(body), std::string(16, '+') + "----");
}

TEST(Shuffles, TheFirstInstructionMayBeOne) {
  EXPECT_EQ(lone_ones(ptx::ParsedModule::parse(
                ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n"
                ".reg .b32 %r<4>; shfl.sync.idx.b32 %r3, %r1, 0, 31, -1; ret; }",
                "k.ptx")),
            "+");
}

// The lanes of one branch have 1, and those of the other one `other`. The first ones write to c
// where they get 5.
std::string written(const std::string& other, const std::string& mode) {
  return text_of(footprint_of(
      "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [shared], 1; bar.sync 0;\n"
      "and.b32 %r4, %r1, 31; setp.lt.u32 %p2, %r4, 16; @!%p2 bra ELSE;\n"
      "mov.u32 %r5, 1; shfl.sync.idx.b32 %r6, %r5, 16, 31, -1;\n"
      "setp.ne.u32 %p3, %r6, 5; @%p3 bra ON; st.global.u32 [%c], 1; bra ON;\n"
      "ELSE: mov.u32 %r7, " +
          other + "; shfl.sync." + mode +
          ".b32 %r8, %r7, 16, 31, -1;\n"
          "ON: griddepcontrol.wait;\n"
          "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p4, [shared], 0; @!%p4 bra AGAIN;",
      "", {64, 1, 1}));
}

TEST(Shuffles, GiveWhatLanesOfTheOtherBranchHave) {
  EXPECT_EQ(written("5", "idx"), "early write p2");
  EXPECT_EQ(written("1", "idx"), "write p2") << "no lane has another value";
  EXPECT_EQ(written("5", "up"), "write p2") << "lanes meet in shuffles of the same mode only";
}

}  // namespace
}  // namespace baton::overlap::shuffles_test
