#include "pdl/code/runtime_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pdl/test_support.h"

namespace baton::overlap::runtime_calls_test {
namespace {

using testing::HasSubstr;

constexpr char kFormats[] = R"(
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 number[8] = {37, 45, 53, 100, 37, 37, 115, 0};  // "%-5d%%s"
.global .align 1 .b8 string[5] = {37, 45, 56, 115, 0};  // "%-8s"
.global .u64 wide[2] = {126603290764325, 0};  // "%d, %s"
.global .align 1 .b8 empty[8];
.const .align 1 .b8 constant[3] = {37, 100, 0};  // "%d"
)";

// What is not seen of a kernel that prints by the format in %d1.
std::string unseen(const std::string& format, const std::string& given = "%d1") {
  const Footprint found =
      footprint_of(format + "call (%r3), vprintf, (" + given + ", %d2); ret;", kFormats);
  return found.unseen ? describe(*found.unseen) : "";
}

TEST(RuntimeCalls, FormatsOfTheModuleThatPrintNumbers) {
  for (const std::string& format : std::vector<std::string>{
           "mov.u64 %d1, number;", "mov.u64 %d1, number; cvta.global.u64 %d1, %d1;",
           "mov.u64 %d1, constant; cvta.const.u64 %d1, %d1;",
           "mov.u64 %d1, number; mov.u64 %d3, constant; selp.b64 %d1, %d1, %d3, %p1;",
           "{ .param .b64 q; mov.u64 %d1, number; st.param.b64 [q], %d1; ld.param.b64 %d1, [q]; "
           "}"}) {
    EXPECT_EQ(unseen(format), "") << format;
  }
}

// %s reads what its argument points to. Any format that is not known may have one.
TEST(RuntimeCalls, OtherFormatsMayReadAnything) {
  for (const char* const format :
       {"mov.u64 %d1, string;", "mov.u64 %d1, wide;", "mov.u64 %d1, empty;",
        "mov.u64 %d1, number; mov.u64 %d3, string; selp.b64 %d1, %d1, %d3, %p1;",
        "mov.u64 %d1, number; add.u64 %d1, %d1, 4;", "mov.u64 %d1, %a;", "ld.global.u64 %d1, [%a];",
        "cvt.u64.u32 %d1, %r0;", ""}) {
    EXPECT_THAT(unseen(format), HasSubstr("whose body is elsewhere")) << format;
  }
  EXPECT_THAT(unseen("", "0"), HasSubstr("whose body is elsewhere"));
}

TEST(RuntimeCalls, ACallThatIsNeverMadeReadsNothing) {
  EXPECT_EQ(unseen("mov.u64 %d1, %a; ret;"), "");
}

}  // namespace
}  // namespace baton::overlap::runtime_calls_test
