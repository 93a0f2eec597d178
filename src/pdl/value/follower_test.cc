#include "pdl/value/follower.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "pdl/code/code.h"
#include "pdl/origin/origin_analysis.h"
#include "pdl/test_support.h"

namespace baton::overlap {
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

}  // namespace
}  // namespace baton::overlap
