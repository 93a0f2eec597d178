#include "ptx/inlining.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/flat.h"

namespace baton::ptx::inlining_test {
namespace {

// The lines at which the last instruction of `k` was inlined, from the inside out.
std::vector<std::uint32_t> lines(const std::string& body) {
  const auto module = ParsedModule::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n"
      ".func first() {\n.loc 1 5 3, function_name $f, inlined_at 1 99 3\nret; }\n"
      ".visible .entry k() {\n.reg .b32 %r<3>;\n" +
          body + "mov.u32 %r1, 0;\n}\n",
      "a.ptx");
  const FlatFunction flat(*module->function("k"));
  std::vector<std::uint32_t> found;
  for (const Loc::Inlined& at : inlined_places(*module, *flat.instructions().back().loc)) {
    found.push_back(at.line);
  }
  return found;
}

TEST(Inlining, FollowsTheCallsOutwards) {
  const std::string outer = ".loc 1 5 3, function_name $f, inlined_at 1 9 3\n";
  const std::string inner = ".loc 1 2 3, function_name $g, inlined_at 1 5 3\n";
  EXPECT_THAT(lines(".loc 1 9 3\n"), testing::IsEmpty());
  EXPECT_THAT(lines(".loc 1 9 3\n" + outer), testing::ElementsAre(9));
  EXPECT_THAT(lines(".loc 1 9 3\n" + outer + inner), testing::ElementsAre(5, 9));
  EXPECT_THAT(lines(".loc 1 9 3\n" + outer + "mov.u32 %r2, 1;\n{\n" + inner + "}\n" + inner),
              testing::ElementsAre(5, 9));
}

// The same function, inlined at two calls: the nearest one before is meant.
TEST(Inlining, TakesTheLastCallBefore) {
  const std::string inner = ".loc 1 2 3, function_name $g, inlined_at 1 5 3\n";
  const auto at = [](int line) {
    return ".loc 1 " + std::to_string(line) + " 3\n.loc 1 5 3, function_name $f, inlined_at 1 " +
           std::to_string(line) + " 3\n";
  };
  EXPECT_THAT(lines(at(9) + inner + at(10) + inner), testing::ElementsAre(5, 10));
  EXPECT_THAT(lines(inner + at(9)), testing::ElementsAre(9));
  EXPECT_THAT(lines(at(10) + inner + ".loc 1 5 3\n" + inner), testing::ElementsAre(5));
}

// Text that calls itself its own place ends.
TEST(Inlining, EndsWhereAPlaceNamesItself) {
  const std::string self = ".loc 1 5 3, function_name $f, inlined_at 1 5 3\n";
  EXPECT_THAT(lines(self + self), testing::ElementsAre(5, 5));
}

}  // namespace
}  // namespace baton::ptx::inlining_test
