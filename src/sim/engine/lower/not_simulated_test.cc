// What the simulated GPU lacks is told by its name and its place.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ptx/isa.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim::not_simulated_test {
namespace {

using driver::FindingKind;

driver::Finding finding_of(const std::string& instruction) {
  TestDevice device(1, false, 100);
  const auto module = device.load(fmt::format(R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k() {{
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  .reg .f32 %f<8>;
  .reg .pred %p<8>;
  .loc 1 42 7
  {}
  ret;
}}
.file 1 "attention.cu"
)",
                                              instruction));
  const auto grid = device.run(module, "k", {1}, {32});
  auto found = device.engine.take_findings();
  if (found.size() != 1) throw std::runtime_error(instruction + " is executed");
  return found[0];
}

// Row by row of the table of instructions: tcgen05, cluster launch control and the others.
TEST(NotSimulated, EachRowOfTheTableIsNamedWithItsLine) {
  std::size_t rows = 0;
  for (const ptx::Form& form : ptx::forms()) {
    if (form.is_simulated()) continue;
    ++rows;
    const driver::Finding finding = finding_of(fmt::format("{} [%d1], %r1;", form.name));
    EXPECT_EQ(finding.kind, FindingKind::kUnsupportedInstruction) << form.name;
    EXPECT_EQ(finding.where, "attention.cu:42:7") << form.name;
    EXPECT_NE(finding.message.find(fmt::format("the simulated GPU does not execute {}", form.name)),
              std::string::npos)
        << finding.message;
    EXPECT_NE(finding.message.find("at PTX line 10"), std::string::npos) << finding.message;
  }
  EXPECT_GE(rows, 20u);
}

TEST(NotSimulated, MulticastSaysWhatToDo) {
  for (const char* name : {"multimem.ld_reduce", "multimem.st", "multimem.red",
                           "multimem.cp.async.bulk", "multimem.cp.reduce.async.bulk"}) {
    const driver::Finding finding = finding_of(fmt::format("{} [%d1], %r1;", name));
    EXPECT_NE(finding.message.find("load from and store to each device's memory"),
              std::string::npos)
        << finding.message;
  }
}

// Forms of compute capability 10 of instructions that are there otherwise (PTX ISA 8.6 to 9.0).
TEST(NotSimulated, FormsOfBlackwellAreNamed) {
  for (const char* instruction : {
           "add.rn.f32x2 %d1, %d2, %d3;",
           "fma.rn.f32x2 %d1, %d2, %d3, %d4;",
           "max.f32 %f1, %f2, %f3, %f4;",
           "cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;",
           "cvt.rn.satfinite.e2m1x2.f32 %r1, %f1, %f2;",
           "redux.sync.min.abs.NaN.f32 %f1, %f2, 0xffffffff;",
           "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r3];",
           "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {%f1, %f2, %f3, %f4}, "
           "{%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
           "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes."
           "cta_group::1 [%r1], [%d1, {%r2, %r3}], [%r4];",
           "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
           "[%r1], [%d1, {%r2, %r3}], [%r4];",
           "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %p1;",
           "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];",
           "tcgen05.something.new [%r1];",
           "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %d1;",
       }) {
    const std::string opcode(instruction, std::string_view(instruction).find_first_of(". "));
    const driver::Finding finding = finding_of(instruction);
    EXPECT_EQ(finding.kind, FindingKind::kUnsupportedInstruction) << instruction;
    EXPECT_EQ(finding.where, "attention.cu:42:7") << instruction;
    EXPECT_NE(finding.message.find(opcode), std::string::npos) << finding.message;
  }
}

}  // namespace
}  // namespace baton::sim::not_simulated_test
