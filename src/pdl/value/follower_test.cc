#include "pdl/value/follower.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "pdl/code/code.h"
#include "pdl/origin/origin_analysis.h"
#include "pdl/test_support.h"

namespace baton::overlap::follower_test {
namespace {

// A kernel of so many stages, as a warp-specialised one has them: each waits for an mbarrier, and
// multiplies in a loop. Indexes go on from stage to stage, and so do the results.
Code stages(unsigned count) {
  std::string body = "mov.u32 %r3, 0;\nmov.f32 %f1, 0f00000000;\n";
  for (unsigned k = 0; k < count; ++k) {
    body += fmt::format(
        "AWAIT{0}: mbarrier.try_wait.parity.shared.b64 %p1, [shared], 0;\n@!%p1 bra AWAIT{0};\n"
        "mov.u32 %r4, 0;\n"
        "LOOP{0}: fma.rn.f32 %f1, %f1, %f2, %f3;\nfma.rn.f32 %f2, %f2, %f1, %f1;\n"
        "mul.wide.u32 %d1, %r4, 4;\nadd.u64 %d2, %a, %d1;\nld.global.f32 %f3, [%d2];\n"
        "add.u32 %r3, %r3, 1;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, %r0;\n"
        "@%p2 bra LOOP{0};\nst.global.f32 [%d2], %f1;\n",
        k);
  }
  const auto module = module_of(body);
  return read_code(module, *module->function("k"));
}

std::size_t deciding(const Code& code) {
  return static_cast<std::size_t>(std::ranges::count(code.deciding, true));
}

// What decides where threads go: a loop's index and its bound, not what the loop computes.
TEST(FollowerTest, ValuesThatDecideNothingAreNotFollowed) {
  const Code one = stages(1), two = stages(2);
  EXPECT_GT(deciding(two), deciding(one));
  const auto is_deciding = [&](std::string_view opcode) {
    for (const Operation& operation : one.operations) {
      if (operation.instruction == nullptr || operation.instruction->opcode != opcode) continue;
      return static_cast<bool>(one.deciding[operation.defines.at(0)]);
    }
    ADD_FAILURE() << opcode;
    return false;
  };
  EXPECT_TRUE(is_deciding("setp"));
  EXPECT_TRUE(is_deciding("mbarrier"));
  EXPECT_FALSE(is_deciding("fma"));
  EXPECT_FALSE(is_deciding("mul"));
  KnownThread thread;
  const Follower follower(one, thread);
  for (std::uint32_t id = 0; id < one.registers; ++id) {
    if (one.deciding[id]) continue;
    EXPECT_EQ(follower.values()[id].state, Value::State::kVaries) << id;
  }
}

// Twice the code takes twice the work, and no more: counted, as time depends on the machine.
TEST(FollowerTest, WorkGrowsWithTheCode) {
  const auto work = [](unsigned count) {
    const Code code = stages(count);
    KnownThread thread;
    thread.tid.reset();
    const std::uint64_t followed = Follower(code, thread).evaluations();
    const std::uint64_t traced = find_origins(code).evaluations;
    EXPECT_LT(followed, 40 * code.operations.size());
    EXPECT_LT(traced, 20 * code.operations.size());
    return std::pair(followed, traced);
  };
  const auto [followed, traced] = work(64);
  const auto [followed_twice, traced_twice] = work(128);
  EXPECT_LT(followed_twice, followed * 9 / 4);
  EXPECT_LT(traced_twice, traced * 9 / 4);
}

// What the last instruction writes, over all threads of a block of 512: "[0, 3]", or "varies".
std::string last_value(const std::string& body, const std::string& before = "") {
  const auto module = module_of(body, before);
  const Code code = read_code(module, *module->function("k"));
  KnownThread thread;
  thread.tid.reset();
  thread.block = {{512, 1, 1}};
  const auto last =
      std::find_if(code.operations.rbegin(), code.operations.rend(),
                   [](const Operation& each) { return each.kind == Operation::Kind::kCompute; });
  const Value found = find_values(code, thread).at(last->defines.at(0));
  return found.is_range() ? fmt::format("[{}, {}]", found.bits, found.most) : "varies";
}

// A comparison tells of the register that it compares, and of its bound alone.
TEST(FollowerTest, AComparisonTellsWhatIsChosen) {
  const auto chosen = [](const std::string& bound, const std::string& of,
                         const std::string& other) {
    return last_value("and.b32 %r6, %r1, 7; and.b32 %r4, %r1, 7; setp.eq.u32 %p1, %r4, " + bound +
                      "; selp.u32 %r5, " + other + ", " + of + ", %p1;");
  };
  EXPECT_EQ(chosen("7", "%r4", "3"), "[0, 6]");
  EXPECT_EQ(chosen("0", "%r4", "3"), "[1, 7]");
  EXPECT_EQ(chosen("5", "%r4", "3"), "[0, 7]");
  EXPECT_EQ(chosen("7", "%r6", "3"), "[0, 7]") << "another register";
  EXPECT_EQ(chosen("0", "%r6", "3"), "[0, 7]");
}

// What a call passes in fewer bits is cut.
TEST(FollowerTest, AnArgumentMayBeNarrow) {
  const auto passed = [](const std::string& type, unsigned mask) {
    return last_value(fmt::format("and.b32 %r4, %r1, {0}; {{ .param .b32 q; .param .b32 result;\n"
                                  "st.param.{1} [q], %r4; call.uni (result), same, (q);\n"
                                  "ld.param.b32 %r5, [result]; }} mov.u32 %r6, %r5;",
                                  mask, type),
                      fmt::format(".func (.param .b32 out) same(.param .b32 in) {{ .reg .b32 %x;\n"
                                  "ld.param.{} %x, [in]; st.param.b32 [out], %x; ret; }}\n",
                                  type));
  };
  EXPECT_EQ(passed("u32", 511), "[0, 511]");
  EXPECT_EQ(passed("u8", 127), "[0, 127]");
  EXPECT_EQ(passed("u8", 511), "varies");
  EXPECT_EQ(passed("s8", 127), "[0, 127]");
  EXPECT_EQ(passed("s8", 255), "varies");
}

}  // namespace
}  // namespace baton::overlap::follower_test
