#include "pdl/order/meetings.h"

#include <gtest/gtest.h>

#include "pdl/test_support.h"

namespace baton::overlap::meetings_test {
namespace {

TEST(Meetings, TheFirstInstructionMayBeOne) {
  const auto module = ptx::ParsedModule::parse(
      ".version 8.7\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k() { bar.sync 0; bar.sync 0; ret; }",
      "k.ptx");
  const Code code = read_code(module, *module->function("k"));
  const std::vector<Passed> passed = count_meetings(code, Meeting::kBlock);
  ASSERT_GE(passed.size(), 3u);
  for (std::uint32_t at = 0; at < 3; ++at) {
    EXPECT_EQ(passed[at].least, at);
    EXPECT_EQ(passed[at].most, at);
  }
}

}  // namespace
}  // namespace baton::overlap::meetings_test
