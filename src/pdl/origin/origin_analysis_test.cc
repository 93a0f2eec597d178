#include "pdl/origin/origin_analysis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "pdl/test_support.h"

namespace baton::overlap::origin_analysis_test {
namespace {

// A part of an address is a number that tells its alignment, whatever the width.
TEST(OriginAnalysis, MasksOfEachWidthTellAlignments) {
  const auto tells = [](const std::string& body) {
    return !footprint_of("mov.b64 {%r3, %r4}, %a; " + body).aligned.empty();
  };
  EXPECT_FALSE(tells(""));
  for (const char* const body :
       {"and.b64 %d1, %a, 255;", "and.b64 %d1, %a, -256;", "and.b64 %d1, -16, %a;",
        "and.b64 %d1, %a, 0xffffffffffffff00;", "or.b64 %d1, %a, 255;", "xor.b64 %d1, 7, %a;",
        "and.b32 %r5, %r3, 255;", "and.b32 %r5, %r3, -256;", "and.b32 %r5, %r3, 0xffffff00;",
        "and.b32 %r5, 0xfffffff0, %r3;", "or.b32 %r5, %r3, 255;", "xor.b32 %r5, 7, %r3;"}) {
    EXPECT_TRUE(tells(body)) << body;
  }
  for (const char* const body :
       {"and.b64 %d1, %a, 256;", "and.b64 %d1, %a, -257;", "and.b64 %d1, %a, 0xffffff00;",
        "and.b64 %d1, %a, 0xfffffffffffffe00;", "or.b64 %d1, %a, 256;",
        "and.b32 %r5, %r3, 0xfffffe00;", "and.b32 %r5, %r3, 256;"}) {
    EXPECT_FALSE(tells(body)) << body;
  }
}

// Bits that a constant turns may be those of a negated address, as all of it may be.
TEST(OriginAnalysis, ConstantsTurnBitsOfEachWidth) {
  const auto ways = [](const std::string& body) {
    const Footprint found = footprint_of("ld.global.u64 %d1, [%a]; setp.ne.u64 %p1, %d1, 0; " +
                                         body + " add.s64 %d2, %b, %d2; st.global.u32 [%d2], 1;");
    for (const AccessGroup& access : found.accesses) {
      if (!access.writes || access.origins.size() != 1) continue;
      for (const AddressSource& source : access.origins[0].sources) {
        if (source.kind == SourceKind::kLoaded) return source.ways;
      }
    }
    return AddressSource::Ways{};
  };
  constexpr AddressSource::Ways kIndex = AddressSource::kWhole, kMixed = AddressSource::kMixed;
  const std::string votes = "vote.sync.ballot.b32 %r3, %p1, -1; cvt.u64.u32 %d2, %r3;";
  EXPECT_EQ(ways(votes), kIndex);
  EXPECT_EQ(ways("and.pred %p1, %p1, 1; " + votes), kMixed);
  EXPECT_EQ(ways("and.pred %p1, %p1, 0; " + votes), kIndex);
  EXPECT_EQ(ways("xor.b64 %d2, %d1, 0x7fffffffffffffff;"), kIndex);
  EXPECT_EQ(ways("xor.b64 %d2, %d1, 0x8000000000000000;"), kMixed);
  EXPECT_EQ(ways("mul.lo.s64 %d2, %d1, -8;"), kMixed);
  EXPECT_EQ(ways("mul.lo.s64 %d2, %d1, 8;"), kIndex);
}

// What is added to a parameter's address is an index, and no parameter that is read.
TEST(OriginAnalysis, AnAddressInAParameterIsOfThatParameter) {
  const auto origins = [](const std::string& index) {
    const auto module = ptx::ParsedModule::parse(
        R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p0, .param .align 8 .b8 s[64]) {
.reg .b64 %d<9>; .reg .b32 %r<9>; .shared .u64 shared;
ld.param.u64 %d0, [p0]; mov.u32 %r1, %tid.x; cvt.u64.u32 %d1, %r1;
mov.u64 %d2, s; )" +
            index + " ld.param.u64 %d3, [%d2]; st.global.u32 [%d3], 1; ret; }",
        "k.ptx");
    const Footprint found = read_footprint(module, *module->function("k"), {32, 1, 1});
    std::string text;
    for (const AccessGroup& access : found.accesses) {
      for (const Origin& origin : access.origins) text += text_of(found, origin) + " ";
    }
    return text;
  };
  EXPECT_EQ(origins(""), "p1 ");
  EXPECT_EQ(origins("add.s64 %d2, %d2, %d1;"), "p1 ");
  for (const char* const index :
       {"add.s64 %d2, %d2, %d0;", "mov.u64 %d4, shared; add.s64 %d2, %d2, %d4;"}) {
    const std::string found = origins(index);
    EXPECT_NE(found.find("p1 "), std::string::npos) << found;
    EXPECT_EQ(found.find('?'), std::string::npos) << found;
  }
}

TEST(OriginAnalysis, APlaceInAVariableIsOfThatVariable) {
  for (const char* const place : {"table", "table+64"}) {
    EXPECT_EQ(
        text_of(footprint_of("mov.u64 %d1, " + std::string(place) + "; ld.global.u32 %r3, [%d1];",
                             ".global .align 8 .b8 table[256];")),
        "early read table");
  }
}

}  // namespace
}  // namespace baton::overlap::origin_analysis_test
