// Ranges of numbers, by the elements that a kernel reads.

#include "pdl/value/number_range.h"

#include <gtest/gtest.h>

#include <string>

#include "pdl/footprint/range_launch.h"

namespace baton::overlap::number_range_test {
namespace {

// Reads element %i of %a.
std::string reads(const std::string& computes) {
  return ".reg .b32 %i; .reg .b64 %e; .reg .pred %q;\n" + computes +
         "\nmul.wide.u32 %e, %i, 4; add.s64 %e, %a, %e; ld.global.u32 %r3, [%e];\nEND:";
}

TEST(NumberRanges, OfBitsOfTwoConstants) {
  EXPECT_EQ(reach(reads("mov.u32 %r4, 9; mov.u32 %r5, 0; xor.b32 %i, %r4, %r5;")), "1 [292, 296)");
  EXPECT_EQ(reach(reads("mov.u32 %r4, 9; xor.b32 %i, %r4, 1;")), "1 [288, 296)");
}

// A comparison with a sign that holds for all numbers says nothing of one without a sign.
TEST(NumberRanges, OfAComparisonThatAlwaysHolds) {
  EXPECT_EQ(reach(reads("mov.u32 %r4, %clock; rem.u32 %i, %r4, 3000000000;\n"
                        "setp.gt.s32 %q, %i, 2147483647; @%q bra END;")),
            "1 [256, 12000000256)");
}

}  // namespace
}  // namespace baton::overlap::number_range_test
