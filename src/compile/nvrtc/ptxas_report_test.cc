#include "compile/nvrtc/ptxas_report.h"

#include <gtest/gtest.h>

namespace baton::compiler::ptxas_report_test {
namespace {

TEST(PtxasReport, GivesEachKernelAndLeavesTheOtherLines) {
  // As NVRTC 13.0 writes it; the second function is not a kernel.
  std::string log = R"(k.cu(1): warning #177-D: variable "unused" was declared but never referenced

ptxas info    : 2048 bytes gmem, 16 bytes cmem[3]
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized
ptxas info    : Compiling entry function '_Z1tIfEvPT_' for 'sm_90a'
ptxas info    : Function properties for _Z1tIfEvPT_
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 256 bytes smem
ptxas info    : Compile time = 2.263 ms
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for _Z6helperi
    16 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Function properties for k
ptxas         .     768 bytes stack frame, 800 bytes spill stores, 936 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 768 bytes cumulative stack size
ptxas info    : Compile time = 35.081 ms
)";
  const std::vector<CompiledKernel> kernels = take_ptxas_report(log);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].symbol, "_Z1tIfEvPT_");
  EXPECT_EQ(kernels[0].registers, 10u);
  EXPECT_EQ(kernels[0].static_shared, 256u);
  EXPECT_EQ(kernels[0].spill_store_bytes, 0u);
  EXPECT_DOUBLE_EQ(kernels[0].seconds, 2.263e-3);
  EXPECT_EQ(kernels[1].symbol, "k");
  EXPECT_EQ(kernels[1].registers, 32u);
  EXPECT_EQ(kernels[1].stack_bytes, 768u);
  EXPECT_EQ(kernels[1].spill_store_bytes, 800u);
  EXPECT_EQ(kernels[1].spill_load_bytes, 936u);
  EXPECT_EQ(kernels[1].static_shared, 0u);
  EXPECT_EQ(log,
            "k.cu(1): warning #177-D: variable \"unused\" was declared but never referenced\n\n"
            "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
            "serialized\n");
}

TEST(PtxasReport, TakesAnyText) {
  for (std::string text :
       {"", "ptxas info", "ptxas info    : Used registers", "ptxas info : Compile time = ",
        " bytes stack frame bytes spill stores bytes stack frame, bytes spill stores\n",
        "ptxas info    : Compiling entry function '\nptxas info    : Used 99999999999 registers"}) {
    take_ptxas_report(text);
  }
}

}  // namespace
}  // namespace baton::compiler::ptxas_report_test
