#include "ptx/printer.h"

#include "ptx/equal.h"
#include "ptx/testdata_test.h"

namespace baton::ptx::printer_test {
namespace {

TEST(PtxPrinter, PrintsStatementsAsTheyAreWritten) {
  const char* const kLines[] = {
      "ret;",
      "@!%p1 bra $L__BB0_2;",
      "setp.gt.and.s32 %p1|%p2, %r1, 0x10, !%p3;",
      "ld.global.nc.L2::128B.v4.f32 {%f1, _, %f3, %f4}, [%rd1+-8];",
      "cp.async.bulk.tensor.2d.global [%rd1, {%r1, %r2}], [%r3];",
      "call (retval0), %rd1, (p0, p1), prototype_1;",
      "vmad.s32.u32.u32 %r1, -%r2.b0, %r3, %r4;",
      "mov.f32 %f1, 0f3F800000;",
      "mov.u32 %r1, (1 + 2) * 4;",
      "label:",
      "ts: .branchtargets a, b;",
      "fs: .calltargets f, g;",
      "p: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16]) .noreturn;",
      ".pragma \"nounroll\";",
      ".reg .b32 %r<10>;",
      ".local .align 8 .b8 depot[40];",
      ".loc 1 20 3, function_name $L__info_string0+4, inlined_at 2 9 5",
      "{\n\tret;\n}",
  };
  for (const char* line : kLines) {
    const auto module = parse(kernel(line));
    EXPECT_EQ(print(module->function("k")->body().statements.at(0)), line);
  }
}

TEST(PtxPrinter, PrintsATopLevelOfEveryKind) {
  const std::string text = std::string(kHeader) +
                           R"(
.file 1 "a.cu", 3, 4
.visible .global .attribute(.managed, .unified(1, 2)) .align 4 .v2 .f32 m[2][3] = {{1.5, 2}, {}};
.extern .shared .align 16 .b8 smem[];
.global .samplerref s = {addr_mode_0 = clamp_to_edge, filter_mode = nearest};
.global .u64 p = generic(m)+16;
.extern .func (.param .b32 r) f(.param .b64 a, .reg .u32 b) .noreturn;
.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .b8 q[]) .maxntid 128, 1, 1 .pragma "x";
{
	.reg .pred %p<3>;
loop:
	@%p1 bra loop;
	{
	loop:
		bra.uni loop;
	}
}
.alias g, f;
.section .debug_abbrev { .b8 1 }
)";
  const auto first = parse(text);
  const auto second = parse(print(*first));
  EXPECT_TRUE(equal(*first, *second));
  EXPECT_NE(print(*first).find(".attribute(.managed, .unified(1, 2))"), std::string::npos);
  EXPECT_NE(print(*first).find(".ptr .global .align 16 p"), std::string::npos);
}

TEST(PtxPrinter, WritesLiteralsOfTreesThatWereMade) {
  InstructionOperand integer;
  integer.kind = InstructionOperand::Kind::kInteger;
  integer.bits = static_cast<std::uint64_t>(-7);
  EXPECT_EQ(print(integer), "-7");
  InstructionOperand single;
  single.kind = InstructionOperand::Kind::kFloat;
  single.is_single = true;
  single.bits = 0x3F800000;
  EXPECT_EQ(print(single), "0f3F800000");
  single.is_single = false;
  single.bits = 0x3FF0000000000000;
  EXPECT_EQ(print(single), "0d3FF0000000000000");
}

}  // namespace
}  // namespace baton::ptx::printer_test
