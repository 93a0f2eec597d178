// What the assembler (ptxas) says of a kernel, in terms of its source.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/compile.h"
#include "baton/error.h"
#include "compile/nvrtc/ptx_lines.h"

namespace baton::assembler_errors_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

Error refusal(const std::string& text) {
  try {
    compile(Source::from_text(text, "k.cu"), {.arch = "sm_90a", .use_cache = false});
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << text << " compiles";
  return Error(ErrorCode::kInternal, "");
}

TEST(AssemblerErrors, NameTheLineOfInlinePtx) {
  const Error error = refusal(
      "__global__ void k(int* p) {\n  p[1] = 2;\n"
      "  asm volatile(\"bogus.add %0;\" :: \"r\"(p[0]));\n}\n");
  EXPECT_EQ(error.code(), ErrorCode::kCompile);
  EXPECT_EQ(error.where().file, "k.cu");
  EXPECT_EQ(error.where().line, 3);
  EXPECT_THAT(error.notes(), SizeIs(1));  // and no message of having stopped
  EXPECT_THAT(error.what(), AllOf(HasSubstr("Not a name of any known instruction: 'bogus'"),
                                  HasSubstr("PTX line"), HasSubstr("bogus.add %r")));
}

TEST(AssemblerErrors, NameAnInstructionThatTheTargetLacks) {
  const Error error =
      refusal("__global__ void k() {\n  asm volatile(\"tcgen05.wait::ld.sync.aligned;\");\n}\n");
  EXPECT_EQ(error.where().to_string().substr(0, 7), "k.cu:2:");
  EXPECT_THAT(error.message(), HasSubstr("not supported on .target 'sm_90a'"));
}

// With its report asked for, ptxas leaves this one out of the log.
TEST(AssemblerErrors, SayHowMuchSharedMemoryThereIs) {
  const Error error = refusal(
      "__global__ void k(int* p) { __shared__ int s[100000]; s[threadIdx.x] = p[0]; "
      "__syncthreads(); p[1] = s[5]; }");
  EXPECT_THAT(error.message(), AllOf(HasSubstr("uses too much shared data"), HasSubstr("0x38c00")));
}

TEST(PtxLines, AreThoseOfTheLastLoc) {
  constexpr const char* kPtx =
      ".entry a()\n{\n\t.loc\t1 7 3\n\tret;\n}\n"
      ".entry b()\n{\n\tret;\n\t.loc\t2 9 1, function_name $x, inlined_at 1 5 2\n\tadd;\n}\n"
      "\t.file\t1 \"k.cu\"\n\t.file\t2 \"with blank/h.cuh\"\n";
  using compiler::source_of_ptx_line;
  EXPECT_EQ(source_of_ptx_line(kPtx, 4)->to_string(), "k.cu:7:3");
  EXPECT_FALSE(source_of_ptx_line(kPtx, 8));  // the function's own
  EXPECT_EQ(source_of_ptx_line(kPtx, 10)->to_string(), "with blank/h.cuh:9:1");
  EXPECT_EQ(compiler::ptx_line(kPtx, 10), "add;");
  for (const int line : {-1, 0, 1, 99}) EXPECT_FALSE(source_of_ptx_line(kPtx, line)) << line;
  EXPECT_FALSE(source_of_ptx_line(".loc 3 1 1\nadd;", 2));  // a file without a name
  EXPECT_FALSE(source_of_ptx_line(".loc", 1));
}

}  // namespace
}  // namespace baton::assembler_errors_test
