#include "pdl/order/equalities.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pdl/code/code.h"
#include "ptx/ast.h"

namespace baton::overlap::equalities_test {
namespace {

// "eq 2", "ne 3": in the order of their numbers.
std::vector<std::string> equalities(const std::string& body) {
  const auto module = ptx::ParsedModule::parse(
      fmt::format(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {{\n"
                  ".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<9>;\n{}\nret;\n}}",
                  body),
      "k.ptx");
  const Code code = read_code(module, *module->function("k"));
  std::vector<std::string> found;
  for (const auto& [predicate, equality] : find_equalities(code)) {
    found.push_back(fmt::format("{} {}", equality.holds_if_equal ? "eq" : "ne", equality.bits));
  }
  std::ranges::sort(found);
  return found;
}
using Texts = std::vector<std::string>;

TEST(Equalities, AComparisonFollowsEachWrite) {
  const std::string step = "mov.u32 %r1, %tid.x; add.u32 %r3, %r1, 1;";
  EXPECT_EQ(equalities(step + "setp.eq.u32 %p1, %r3, 2;"), Texts{"eq 2"});
  EXPECT_EQ(equalities(step + "setp.ne.s32 %p1, %r3, 3;"), Texts{"ne 3"});
  EXPECT_EQ(equalities(step + "mov.u32 %r5, 7; setp.eq.u32 %p1, %r3, 2;"), Texts{"eq 2"});
  EXPECT_EQ(equalities(step + "setp.eq.u32 %p1, %r3, 2; setp.ne.u32 %p2, %r3, 5;"),
            (Texts{"eq 2", "ne 5"}));
  EXPECT_EQ(equalities(step + "setp.lt.u32 %p1, %r3, 2;"), Texts{});
  EXPECT_EQ(equalities(step + "setp.eq.u32 %p1, %r3, %r1;"), Texts{}) << "no constant";
  EXPECT_EQ(equalities(step + "setp.eq.s32 %p1, -%r3, 2;"), Texts{}) << "another number";
  EXPECT_EQ(equalities(step + "@%p3 bra L; setp.eq.u32 %p1, %r3, 2; L:"), Texts{});
  EXPECT_EQ(equalities(step + "@%p3 mov.u32 %r5, 7; setp.eq.u32 %p1, %r3, 2;"), Texts{});
  EXPECT_EQ(equalities(step + "@%p3 setp.eq.u32 %p1, %r3, 2;"), Texts{});
}

// Different bits may be equal floats, and parts of a register say nothing of the rest.
TEST(Equalities, AreOfWholeIntegers) {
  EXPECT_EQ(equalities("add.f32 %f2, %f1, %f1; setp.eq.f32 %p1, %f2, 0f00000000;"), Texts{});
  EXPECT_EQ(equalities("mov.u32 %r1, %tid.x; add.u32 %r3, %r1, 1; setp.eq.u16 %p1, %r3, 2;"),
            Texts{});
}

// The first instruction of a kernel writes what a loop goes on with.
TEST(Equalities, NoneIsToldOfTwoWrites) {
  EXPECT_EQ(equalities("mov.u32 %r3, 0;\n"
                       "L: add.u32 %r3, %r3, 1; setp.eq.u32 %p1, %r3, 2; @!%p1 bra L;"),
            Texts{});
}

// A predicate that is read between the two tells of the value before.
TEST(Equalities, ThePredicateIsNotReadBeforeItsComparison) {
  const auto of = [](const std::string& between) {
    return equalities("mov.u32 %r1, %tid.x;\nL: add.u32 %r3, %r1, 1;" + between +
                      "setp.eq.u32 %p1, %r3, 2; @!%p1 bra L;");
  };
  EXPECT_EQ(of(""), Texts{"eq 2"});
  EXPECT_EQ(of("not.pred %p2, %p3;"), Texts{"eq 2"});
  EXPECT_EQ(of("selp.u32 %r5, 1, 0, %p1;"), Texts{});
}

}  // namespace
}  // namespace baton::overlap::equalities_test
