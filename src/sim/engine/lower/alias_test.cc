// A copy makes the written register stand for what it copies (Lowering::alias). Whatever the order
// of the blocks in the text is, every use must see the value.

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "sim/engine/run/test_device.h"

namespace baton::sim::alias_test {
namespace {

struct AliasCase {
  const char* name;
  const char* body;
  std::uint64_t right;
};

void PrintTo(const AliasCase& one, std::ostream* stream) {
  *stream << one.name;
}

// Each body leaves its result in %rd8. %out is the address of the result.
constexpr AliasCase kCases[] = {
    {"Constant", R"(
  bra.uni B2;
B1: add.u64 %rd8, %rd1, 5; bra.uni END;
B2: mov.u64 %rd1, 42; bra.uni B1;
END:)",
     47},
    {"RegisterThatIsWrittenOnce", R"(
  ld.param.u32 %r5, [number];
  cvt.u64.u32 %rd5, %r5;
  bra.uni B2;
B1: add.u64 %rd8, %rd1, 5; bra.uni END;
B2: mov.u64 %rd1, %rd5; bra.uni B1;
END:)",
     12},
    {"Parameter", R"(
  bra.uni B2;
B1: add.u32 %r8, %r1, 5; cvt.u64.u32 %rd8, %r8; bra.uni END;
B2: ld.param.u32 %r1, [number]; bra.uni B1;
END:)",
     12},
    {"CopyOfAParameter", R"(
  bra.uni B2;
B1: add.u32 %r8, %r2, 5; cvt.u64.u32 %rd8, %r8; bra.uni END;
B2: ld.param.u32 %r1, [number]; mov.u32 %r2, %r1; bra.uni B1;
END:)",
     12},
    {"SpecialRegister", R"(
  bra.uni B2;
B1: add.u32 %r8, %r1, 5; cvt.u64.u32 %rd8, %r8; bra.uni END;
B2: mov.u32 %r1, %ntid.y; bra.uni B1;
END:)",
     8},
    {"GlobalAddress", R"(
  bra.uni B2;
B1: ld.global.u64 %rd8, [%rd1]; bra.uni END;
B2: cvta.to.global.u64 %rd1, %out; bra.uni B1;
END:)",
     99},
    {"AddressOfAVariable", R"(
  bra.uni B2;
B1: ld.global.u64 %rd8, [%rd1]; bra.uni END;
B2: mov.u64 %rd1, table; bra.uni B1;
END:)",
     31},
    {"LoopBodyBeforeItsHeader", R"(
  mov.u32 %r3, 0;
  bra.uni B2;
B1: add.u32 %r2, %r1, 2; add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 3; @%p1 bra B2;
  cvt.u64.u32 %rd8, %r2; bra.uni END;
B2: mov.u32 %r1, 40; bra.uni B1;
END:)",
     42},
    {"UseInALoopThatStandsAboveTheCopy", R"(
  mov.u32 %r3, 0; mov.u32 %r2, 0;
  bra.uni ENTER;
LOOP: add.u32 %r2, %r2, %r1; add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 3; @%p1 bra LOOP;
  cvt.u64.u32 %rd8, %r2; bra.uni END;
ENTER: mov.u32 %r1, 14; bra.uni LOOP;
END:)",
     42},
    // The original stands below the copy, the use of the copy below both.
    {"ChainOfCopies", R"(
  bra.uni B2;
B1: mov.u64 %rd2, %rd1; bra.uni B3;
B2: mov.u64 %rd1, 37; bra.uni B1;
B3: add.u64 %rd8, %rd2, 5;)",
     42},
    {"UseOfTheOriginalAboveAndOfTheCopyBelow", R"(
  bra.uni B2;
B1: add.u64 %rd3, %rd1, 1; mov.u64 %rd2, %rd1; bra.uni B3;
B2: mov.u64 %rd1, 20; bra.uni B1;
B3: add.u64 %rd8, %rd2, %rd3;)",
     41},
    // As numba's debug code has it: the value is made last and copied in the block before.
    {"CopiesThroughSeveralBlocks", R"(
  bra.uni B4;
B1: add.u64 %rd8, %rd3, 1; bra.uni END;
B2: mov.u64 %rd3, %rd2; bra.uni B1;
B3: mov.u64 %rd2, %rd1; bra.uni B2;
B4: ld.param.u32 %r1, [number]; mul.wide.u32 %rd1, %r1, 6; bra.uni B3;
END:)",
     43},
    {"UseUnderAGuard", R"(
  mov.u64 %rd8, 1;
  setp.ne.u64 %p1, %rd8, 0;
  bra.uni B2;
B1: @%p1 add.u64 %rd8, %rd1, 5; bra.uni END;
B2: mov.u64 %rd1, 42; bra.uni B1;
END:)",
     47},
    {"MemberMask", R"(
  mov.u32 %r3, %tid.y;
  setp.eq.u32 %p1, %r3, 0;
  bra.uni B2;
B1: vote.sync.ballot.b32 %r2, %p1, %r1; cvt.u64.u32 %rd8, %r2; bra.uni END;
B2: mov.u32 %r1, -1; bra.uni B1;
END:)",
     1},
};

std::string kernel(const AliasCase& one) {
  return std::string(R"(.version 8.0
.target sm_90
.address_size 64
.global .u64 table = 31;
.visible .entry k(.param .u64 out, .param .u32 number) {
  .reg .pred %p<4>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<10>;
  .reg .b64 %out;
  ld.param.u64 %out, [out];)") +
         one.body + "\n  st.global.u64 [%out], %rd8;\n  ret;\n}\n";
}

class Alias : public testing::TestWithParam<AliasCase> {};

TEST_P(Alias, HasItsValueInBlocksThatStandAboveTheCopy) {
  TestDevice device;
  const auto module = device.load(kernel(GetParam()));
  const std::uint64_t out = device.upload(std::vector<std::uint64_t>{99});
  const auto grid = device.run(module, "k", {1}, {1, 3}, out, std::uint32_t{7});
  EXPECT_EQ(grid->state(), Grid::State::kFinished);
  for (const driver::Finding& finding : device.engine.findings()) ADD_FAILURE() << finding.message;
  EXPECT_EQ(device.download<std::uint64_t>(out, 1)[0], GetParam().right);
}

INSTANTIATE_TEST_SUITE_P(Blocks, Alias, testing::ValuesIn(kCases),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace baton::sim::alias_test
