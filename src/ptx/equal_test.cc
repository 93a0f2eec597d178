#include "ptx/equal.h"

#include "ptx/testdata_test.h"

namespace baton::ptx::equal_test {
namespace {

TEST(PtxEqual, SeesEveryDifferenceButPositions) {
  const auto tree = [](std::string_view body) { return parse(kernel(body)); };
  EXPECT_TRUE(equal(*tree("mov.u32 %r1, 4;"), *tree("  /* x */ mov.u32 %r1 ,\n4 ;")));
  const char* const kDifferent[] = {
      "mov.u32 %r1, 5;",    "mov.u32 %r2, 4;",     "mov.s32 %r1, 4;",   "add.u32 %r1, 4;",
      "@p mov.u32 %r1, 4;", "@!p mov.u32 %r1, 4;", "mov.u32 %r1;",      "mov %r1, 4;",
      "mov.u32 %r1, [4];",  "mov.u32 %r1, x+4;",   "{mov.u32 %r1, 4;}", "x:",
      "mov.u32 %r1, !x;",   "mov.u32 %r1, -x;",    "mov.u32 %r1, x;",   ".reg .b32 x;",
      ".reg .b64 x;",       ".loc 1 2 3",          ".loc 1 2 4",        "",
  };
  for (const char* a : kDifferent) {
    for (const char* b : kDifferent) {
      EXPECT_EQ(equal(*tree(a), *tree(b)), std::string_view(a) == b) << a << " and " << b;
    }
  }
}

}  // namespace
}  // namespace baton::ptx::equal_test
