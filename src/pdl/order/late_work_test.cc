#include "pdl/order/late_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pdl/test_support.h"

namespace baton::overlap::late_work_test {
namespace {

using testing::ElementsAre;

const std::string kWait = "griddepcontrol.wait;\n";
const std::string kTrigger = "griddepcontrol.launch_dependents;\n";
const std::string kReadA = "ld.global.f32 %f1, [%a];\n";
const std::string kReadB = "ld.global.f32 %f2, [%b];\n";
const std::string kWriteC = "st.global.f32 [%c], %f1;\n";

bool at_its_end(const std::string& body) {
  return triggers_at_its_end(footprint_of(body));
}

TEST(LateWork, ATriggerBeforeTheLastAccessIsNotAtTheEnd) {
  EXPECT_TRUE(at_its_end(kWait + kReadA + kWriteC + kTrigger));
  EXPECT_TRUE(at_its_end(kWait + kReadA + kWriteC + kTrigger + "add.u32 %r1, %r1, 1;\n"));
  EXPECT_FALSE(at_its_end(kWait + kReadA + kTrigger + kWriteC));
  EXPECT_TRUE(at_its_end(kWait + kReadA + kWriteC + kTrigger +
                         "L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 64; @%p1 bra L;\n"))
      << "a loop of numbers";
  EXPECT_FALSE(at_its_end(kTrigger + kWait));
  EXPECT_FALSE(at_its_end(kWait + kReadA + kWriteC));
}

TEST(LateWork, EveryPathFromEachTriggerCounts) {
  const std::string branch = "setp.eq.u32 %p1, %r1, 0; @%p1 bra SKIP;\n" + kWriteC + "SKIP:\n";
  EXPECT_FALSE(at_its_end(kWait + kTrigger + branch));
  EXPECT_TRUE(at_its_end(kWait + branch + kTrigger));
  EXPECT_FALSE(at_its_end(kWait + kTrigger + branch + kTrigger));
  EXPECT_FALSE(at_its_end(kWait + "AGAIN:\n" + kReadA + kTrigger +
                          "setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;\n"));
}

TEST(LateWork, NamesParametersThatAreReadAfterTheWaitAlone) {
  const auto late = [](const std::string& body) { return params_read_late(footprint_of(body), 3); };
  EXPECT_THAT(late(kReadA + kWait + kReadB + kWriteC), ElementsAre(false, true, false));
  EXPECT_THAT(late(kReadA + kWait + kReadA + kReadB), ElementsAre(false, true, false));
  EXPECT_THAT(late(kWait + kReadA + kReadB), ElementsAre(true, true, false));
  EXPECT_THAT(late(kReadA + kReadB), ElementsAre(false, false, false));
}

// A row of a table, say: how much is read cannot be told.
TEST(LateWork, LeavesOutWhatLoadedValuesDecide) {
  const std::string gather =
      "ld.global.u64 %d1, [%a]; add.u64 %d2, %b, %d1; ld.global.f32 %f2, [%d2];\n";
  EXPECT_THAT(params_read_late(footprint_of(kWait + gather), 3), ElementsAre(true, false, false));
}

TEST(LateWork, SaysNothingOfAKernelThatPrefetches) {
  for (const char* prefetch : {"prefetch.global.L2 [%b];\n", "prefetch.global.L1 [%b];\n",
                               "cp.async.bulk.prefetch.L2.global [%b], 64;\n"}) {
    EXPECT_THAT(params_read_late(footprint_of(prefetch + kWait + kReadA), 3),
                ElementsAre(false, false, false))
        << prefetch;
  }
}

TEST(LateWork, SaysNothingOfAKernelThatCallsWhatIsNotSeen) {
  const auto late = [](const std::string& call) {
    return params_read_late(footprint_of(kWait + kReadA + call, ".extern .func elsewhere();\n"), 2);
  };
  EXPECT_THAT(late(""), ElementsAre(true, false));
  EXPECT_THAT(late("call elsewhere;\n"), ElementsAre(false, false));
}

TEST(LateWork, KnowsNothingOfMachineCode) {
  const Footprint unknown = unknown_footprint("k", true, true, {UnseenCause::kMachineCode, ""});
  EXPECT_FALSE(triggers_at_its_end(unknown));
  EXPECT_THAT(params_read_late(unknown, 2), ElementsAre(false, false));
}

}  // namespace
}  // namespace baton::overlap::late_work_test
