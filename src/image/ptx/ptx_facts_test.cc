#include <gtest/gtest.h>

#include "baton/error.h"
#include "baton/image.h"

namespace baton::ptx_facts_test {
namespace {

constexpr std::string_view kHeader = ".version 9.0\n.target sm_90\n.address_size 64\n";

ImageFacts facts_of(std::string_view text) {
  return read_facts(Image::from_bytes(std::string(kHeader) + std::string(text), "<ptx>"));
}

ParamFacts only_param(std::string_view declaration, std::string_view body) {
  const ImageFacts facts = facts_of(".visible .entry k(.param " + std::string(declaration) +
                                    " p)\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %rs<9>;\n"
                                    ".reg .f32 %f<9>; .reg .pred %p<9>;\n" +
                                    std::string(body) + "\nret;\n}\n");
  EXPECT_TRUE(facts.remarks.empty()) << facts.remarks[0];
  return facts.kernels.at(0).params.value().at(0);
}

TEST(PtxFacts, ReadsParametersInNaturalAlignment) {
  const ImageFacts facts = facts_of(R"(
.entry k(.param .u8 a, .param .u32 b, .param .u64 c, .param .align 8 .b8 d[16], .param .u8 e,
         .param .align 64 .b8 f[128])
{ ret; }
)");
  const auto& params = facts.kernels.at(0).params.value();
  ASSERT_EQ(params.size(), 6u);
  const std::uint32_t expected[][2] = {{0, 1}, {4, 4}, {8, 8}, {16, 16}, {32, 1}, {64, 128}};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(params[i].offset, expected[i][0]) << i;
    EXPECT_EQ(params[i].size, expected[i][1]) << i;
  }
  EXPECT_EQ(params[3].kind, ParamKind::kBytes);
  EXPECT_EQ(params[3].type, "16 bytes");
  EXPECT_EQ(facts.arch, "sm_90");
}

TEST(PtxFacts, ReadsClusterAndOccupancyDirectives) {
  const ImageFacts facts = facts_of(R"(
.entry a() .maxntid 128 .minnctapersm 2 .maxclusterrank 8 { ret; }
.entry b() .reqntid 128, 2 .reqnctapercluster 2, 1, 1 .blocksareclusters { ret; }
)");
  const KernelFacts& a = facts.kernels.at(0);
  EXPECT_EQ(a.max_threads, 128u);
  EXPECT_EQ(a.min_blocks, 2u);
  EXPECT_EQ(a.max_cluster, 8u);
  EXPECT_EQ(a.grid_in_clusters, false);
  const KernelFacts& b = facts.kernels.at(1);
  EXPECT_EQ(b.required_block, (std::array<std::uint32_t, 3>{128, 2, 1}));
  EXPECT_EQ(b.required_cluster, (std::array<std::uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(b.grid_in_clusters, true);
  EXPECT_FALSE(b.max_cluster || b.min_blocks);
}

TEST(PtxFacts, SaysItsVersionAndWhatDebuggersFind) {
  EXPECT_EQ(facts_of("").ptx_version, "9.0");
  EXPECT_EQ(facts_of("").debug, DebugInfo::kNone);
  EXPECT_EQ(facts_of(".file 1 \"k.cu\"\n").debug, DebugInfo::kLines);
  EXPECT_EQ(facts_of(".file 1 \"k.cu\"\n.section .debug_info { .b8 1 }\n").debug, DebugInfo::kFull);
}

TEST(PtxFacts, InfersAPointerFromItsUse) {
  EXPECT_EQ(only_param(".u64", "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;").kind,
            ParamKind::kPointer);
  EXPECT_EQ(
      only_param(".u64", "ld.param.u64 %rd1, [p]; mov.u64 %rd2, %rd1; ld.global.f32 %f1, [%rd2+4];")
          .kind,
      ParamKind::kPointer);
  EXPECT_EQ(
      only_param(".u64",
                 "ld.param.u64 %rd1, [p]; mul.wide.s32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;"
                 "st.f32 [%rd4], %f1;")
          .kind,
      ParamKind::kPointer);
  EXPECT_EQ(only_param(".u64 .ptr .global .align 16", "").kind, ParamKind::kPointer);
}

TEST(PtxFacts, TellsAnOffsetFromAPointer) {
  const ParamFacts offset = only_param(".u64",
                                       "mov.u64 %rd5, table; ld.param.u64 %rd1, [p]; add.s64 %rd2, "
                                       "%rd5, %rd1; ld.global.u8 %rs1, [%rd2];");
  EXPECT_EQ(offset.kind, ParamKind::kInteger);
  EXPECT_EQ(
      only_param(".u64", "ld.param.u64 %rd1, [p]; add.s64 %rd2, %rd1, 8; shl.b64 %rd3, %rd2, 2;")
          .kind,
      ParamKind::kInteger);
  EXPECT_EQ(only_param(".u64", "").kind, ParamKind::kUnknown);
}

TEST(PtxFacts, InfersTheSign) {
  const auto dtype = [](std::string_view type, std::string_view use) {
    return only_param(type, "ld.param.u32 %r1, [p];" + std::string(use)).dtype;
  };
  EXPECT_EQ(dtype(".u32", "setp.lt.s32 %p1, %r2, %r1;"), DType::kI32);
  EXPECT_EQ(dtype(".u32", "setp.lt.u32 %p1, %r2, %r1;"), DType::kU32);
  EXPECT_EQ(dtype(".u32", "mov.u32 %r3, %r1; cvt.s64.s32 %rd1, %r3;"), DType::kI32);
  EXPECT_EQ(dtype(".u32", "cvt.rn.f32.u32 %f1, %r1;"), DType::kU32);
  EXPECT_EQ(dtype(".u32", "mul.wide.s32 %rd1, %r1, 4;"), DType::kI32);
  // The same low bits for both signs; and what compilers make of a signed range check.
  EXPECT_EQ(dtype(".u32", "add.s32 %r2, %r1, 1; mul.lo.s32 %r3, %r1, 5;"), std::nullopt);
  EXPECT_EQ(dtype(".u32", "setp.lt.u32 %p1, %r1, 6; mul.wide.u32 %rd1, %r1, 4;"), std::nullopt);
  EXPECT_EQ(dtype(".u32", "setp.lt.s32 %p1, %r1, 1; mul.wide.u32 %rd1, %r1, 4;"), std::nullopt);
  EXPECT_EQ(only_param(".u32", "").kind, ParamKind::kInteger);
}

TEST(PtxFacts, InfersFloats) {
  EXPECT_EQ(only_param(".f32", "").dtype, DType::kF32);
  EXPECT_EQ(only_param(".f64", "").dtype, DType::kF64);
  EXPECT_EQ(only_param(".b32", "ld.param.b32 %r1, [p]; add.f32 %r2, %r1, %r3;").dtype, DType::kF32);
  EXPECT_EQ(only_param(".b32", "").kind, ParamKind::kUnknown);
}

TEST(PtxFacts, InfersHalfAndBfloat16FromTwoByteStructs) {
  const auto half = [](std::string_view use) {
    const ImageFacts facts = facts_of(
        ".entry k(.param .align 2 .b8 p[2]) {.reg .b16 %rs<5>; .reg .f32 "
        "%f<5>;\nld.param.u16 %rs1, [p];" +
        std::string(use) + "\nret; }");
    return facts.kernels.at(0).params.value().at(0);
  };
  EXPECT_EQ(half("{ cvt.f32.f16 %f1, %rs1;}").dtype, DType::kF16);
  EXPECT_EQ(half("{ cvt.f32.bf16 %f1, %rs1;}").dtype, DType::kBF16);
  EXPECT_EQ(half("").kind, ParamKind::kBytes);
}

TEST(PtxFacts, InnerScopesHideRegisters) {
  const ParamFacts param = only_param(".u32",
                                      "ld.param.u32 %r1, [p]; { .reg .b32 %r1; cvt.rn.f32.u32 %f1, "
                                      "%r1; } cvt.rn.f32.s32 %f2, %r1;");
  EXPECT_EQ(param.dtype, DType::kI32);
}

TEST(PtxFacts, TheDemangledNameIsTrustedFirst) {
  const ImageFacts facts = facts_of(R"(
.entry _Z1kPKfj6__halfN2ns1PE(.param .u64 a, .param .u32 b, .param .align 2 .b8 c[2],
                              .param .align 4 .b8 d[12])
{ .reg .b32 %r<3>; .reg .pred %p<3>; ld.param.u32 %r1, [b]; setp.lt.s32 %p1, %r2, %r1; ret; }
)");
  const auto& params = facts.kernels.at(0).params.value();
  EXPECT_EQ(facts.kernels[0].demangled, "k(float const*, unsigned int, __half, ns::P)");
  EXPECT_EQ(params[0].kind, ParamKind::kPointer);
  EXPECT_TRUE(params[0].read_only);
  EXPECT_EQ(params[0].dtype, DType::kF32);
  EXPECT_EQ(params[1].dtype, DType::kU32);
  EXPECT_EQ(params[2].dtype, DType::kF16);
  EXPECT_EQ(params[3].kind, ParamKind::kBytes);
  EXPECT_EQ(params[3].type, "ns::P");
}

TEST(PtxFacts, ANameThatDisagreesIsNotBelieved) {
  const ImageFacts facts = facts_of(".entry _Z1kif(.param .u64 a, .param .f32 b) { ret; }");
  EXPECT_EQ(facts.kernels.at(0).params.value().at(0).kind, ParamKind::kUnknown);
}

TEST(PtxFacts, ReadsDirectives) {
  const ImageFacts facts = facts_of(R"(
.entry a() .maxntid 16, 8, 2 .maxnreg 40 { ret; }
.entry b() .reqntid 64, 2 .reqnctapercluster 4, 2, 1 .explicitcluster { ret; }
.entry c() { ret; }
)");
  EXPECT_EQ(facts.kernel("a")->max_threads, 256u);
  EXPECT_EQ(facts.kernel("a")->max_registers, 40u);
  EXPECT_FALSE(facts.kernel("a")->required_block);
  EXPECT_EQ(facts.kernel("b")->required_block, (std::array<std::uint32_t, 3>{64, 2, 1}));
  EXPECT_EQ(facts.kernel("b")->max_threads, 128u);
  EXPECT_EQ(facts.kernel("b")->required_cluster, (std::array<std::uint32_t, 3>{4, 2, 1}));
  EXPECT_FALSE(facts.kernel("c")->max_threads);
}

TEST(PtxFacts, CountsStaticSharedMemoryThatTheKernelReaches) {
  const ImageFacts facts = facts_of(R"(
.shared .align 4 .b8 used[100];
.shared .align 4 .b8 unused[1000];
.extern .shared .align 16 .b8 dynamic[];
.func f() { .shared .align 8 .b8 inner[16]; .reg .b32 %r<3>; mov.u32 %r1, inner; ret; }
.entry a() { .reg .b32 %r<3>; mov.u32 %r1, used; mov.u32 %r2, dynamic; ret; }
.entry b() { call f, (); .shared .b8 own[3]; ret; }
.entry c() { ret; }
)");
  EXPECT_EQ(facts.kernel("a")->static_shared, 100u);
  EXPECT_EQ(facts.kernel("b")->static_shared, 24u);
  EXPECT_EQ(facts.kernel("c")->static_shared, 0u);
}

TEST(PtxFacts, FollowsCallsToWaitsAndTriggers) {
  const ImageFacts facts = facts_of(R"(
.extern .func unknown ();
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.func waiter() { griddepcontrol.wait; ret; }
.func twice() { call waiter, (); call twice, (); ret; }
.entry direct() { griddepcontrol.launch_dependents; ret; }
.entry through() { call twice, (); ret; }
.entry none() { ret; }
.entry outside() { call unknown, (); ret; }
.entry indirect() { .reg .b64 %rd<3>; proto: .callprototype _ (); call %rd1, (), proto; ret; }
.entry listed() { .reg .b64 %rd<3>; list: .calltargets waiter; call %rd1, (), list; ret; }
)");
  EXPECT_EQ(facts.kernel("direct")->waits, false);
  EXPECT_EQ(facts.kernel("direct")->triggers, true);
  EXPECT_EQ(facts.kernel("through")->waits, true);
  EXPECT_EQ(facts.kernel("none")->waits, false);
  EXPECT_EQ(facts.kernel("outside")->waits, std::nullopt);
  EXPECT_EQ(facts.kernel("indirect")->waits, std::nullopt);
  EXPECT_EQ(facts.kernel("listed")->waits, true);
}

TEST(PtxFacts, GridSyncIsReadingTheWorkspace) {
  const ImageFacts facts = facts_of(R"(
.extern .func unknown ();
.func meets() { .reg .b32 %r<3>; mov.u32 %r1, %envreg2; mov.u32 %r2, %envreg1; ret; }
.entry through() { call meets, (); ret; }
.entry none() { .reg .b32 %r<2>; mov.u32 %r1, %envreg3; ret; }
.entry outside() { call unknown, (); ret; }
)");
  EXPECT_EQ(facts.kernel("through")->grid_sync, true);
  EXPECT_EQ(facts.kernel("none")->grid_sync, false);
  EXPECT_EQ(facts.kernel("outside")->grid_sync, std::nullopt);
}

TEST(PtxFacts, ListsVariables) {
  const ImageFacts facts = facts_of(R"(
.global .align 4 .b8 gdat[28];
.const .align 4 .b8 ctab[20];
.visible .global .u32 counter = 42;
.global .align 1 .b8 $str[4] = {1, 2, 3, 0};
.extern .global .u32 elsewhere;
)");
  ASSERT_EQ(facts.variables.size(), 3u);
  EXPECT_EQ(facts.variables[0].name, "gdat");
  EXPECT_EQ(facts.variables[0].size, 28u);
  EXPECT_TRUE(facts.variables[1].constant);
  EXPECT_EQ(facts.variables[2].size, 4u);
  EXPECT_TRUE(facts.kernels.empty());
}

TEST(PtxFacts, ABodyThatDoesNotParseCostsOnlyItsOwnFacts) {
  const ImageFacts facts =
      facts_of(".entry good() { ret; }\n.entry bad(.param .u32 n) { ld.param.u32 [[ ; }\n");
  EXPECT_EQ(facts.kernel("good")->waits, false);
  EXPECT_EQ(facts.kernel("bad")->waits, std::nullopt);
  EXPECT_EQ(facts.kernel("bad")->params.value().size(), 1u);
  ASSERT_EQ(facts.remarks.size(), 1u);
}

}  // namespace
}  // namespace baton::ptx_facts_test
