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

// A parameter that is added may be a number, and the place one in memory of the block.
TEST(OriginAnalysis, AnAddedParameterDoesNotTellThePlace) {
  // Whether what is read at %d1 may be the address p1, or anything.
  const auto reads_p1 = [](const std::string& place) {
    const Footprint found = footprint_of(
        ".local .align 8 .b8 depot[16]; .reg .b64 %SP, %at; mov.u64 %SP, depot;"
        "st.local.u64 [%SP], %b; cvta.local.u64 %at, %SP; griddepcontrol.wait;" +
        place + "ld.u64 %d2, [%d1]; ld.global.f32 %f1, [%d2];");
    return std::ranges::any_of(found.accesses, [&](const AccessGroup& access) {
      return std::ranges::any_of(access.origins, [&](const Origin& origin) {
        const std::string text = text_of(found, origin);
        return text == "p1" || text == "?";
      });
    });
  };
  const std::string added = "add.s64 %d1, %d1, %a;";
  const std::string from_shared =
      "st.shared.u64 [shared], %at; ld.shared.u64 %d1, [shared];" + added;
  const std::string narrow =
      "cvt.u32.u64 %r3, %SP; st.shared.u32 [shared], %r3; ld.shared.u32 %r4, [shared];"
      "cvt.u64.u32 %d1, %r4;" +
      added + "cvta.local.u64 %d1, %d1;";
  const std::string told =
      "mov.u64 %d1, 0; shr.u64 %d3, %at, 20; setp.ne.u64 %p1, %d3, 7;"
      "@%p1 add.u64 %d1, %d1, 1048576;" +
      added;
  const std::string of_param =
      "mov.u64 %d3, p1; cvta.param.u64 %d3, %d3; st.shared.u64 [shared], %d3;"
      "ld.shared.u64 %d1, [shared];" +
      added;
  const std::string distance =
      "mov.u64 %d3, shared; cvta.shared.u64 %d3, %d3; sub.s64 %d4, %at, %d3;"
      "st.shared.u64 [shared], %d4; ld.shared.u64 %d1, [shared]; add.s64 %d1, %d1, %d3;";
  for (const std::string& place : {from_shared, narrow, told, of_param, distance}) {
    EXPECT_TRUE(reads_p1(place)) << place;
  }
  const std::string index = "ld.global.u32 %r3, [%c]; mul.wide.u32 %d1, %r3, 4;" + added;
  EXPECT_FALSE(reads_p1(index)) << "an index of 32 bits";
  EXPECT_FALSE(reads_p1("mov.u64 %d1, 64;" + added));
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
