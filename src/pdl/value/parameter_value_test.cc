// What is known of arguments by value, and what follows from it: certain accesses and their ranges.

#include "pdl/value/parameter_value.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pdl/footprint/access_ranges.h"
#include "pdl/test_support.h"
#include "pdl/verdict/witnesses.h"

namespace baton::overlap::parameter_value_test {
namespace {

constexpr MemoryId kX = 1, kY = 2;
constexpr LaunchExtents kLaunch = {{32, 1, 1}, {1, 1, 1}};
const VariableNumber kVariable = [](std::string_view, bool) { return 9u; };

// struct { u32* x; u32 n; s16 m; u32* y; } with x at byte 64 of kX.
std::vector<GivenArgument> given() {
  return {{.kind = GivenArgument::Kind::kStruct,
           .fields = {{.position = 0, .memory = kX, .offset = 64},
                      {.position = 16, .memory = kY, .offset = 0},
                      {.position = 24, .memory = kY}},
           .numbers = {{.position = 8, .bytes = 4, .bits = 0x80000005},
                       {.position = 12, .bytes = 2, .bits = 0xfffe}}},
          GivenArgument::scalar(0x123456789),
          GivenArgument::scalar(std::nullopt),
          GivenArgument::pointer(kY, 12),
          GivenArgument::tensor_map(kX),
          GivenArgument::scalar(5),
          GivenArgument::scalar(6)};
}

Footprint footprint(const std::string& body) {
  const auto module = ptx::ParsedModule::parse(
      ".version 8.7\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .align 8 .b8 s[32], .param .u64 a, .param .u64 b, .param .u64 c,\n"
      ".param .align 64 .b8 t[128], .param .u32 n, .param .u32 m) {\n.reg .pred %p<3>; .reg .b32 "
      "%r<9>; .reg .b64 %d<9>;\n" +
          body + "ret;\n}\n",
      "k.ptx");
  return read_footprint(module, *module->function("k"), {});
}

// "1+64": an address; "5": a number; "unknown": of the element of the first load.
std::string value(const std::string& load, std::size_t element = 0) {
  const Footprint found = footprint(load + "\n");
  const auto known = parameter_value(*found.code, found.code->operations[0], element, given());
  if (!known) return "unknown";
  if (!known->memory) return std::to_string(static_cast<std::int64_t>(known->bits));
  return fmt::format("{}+{}", *known->memory, known->bits);
}

TEST(ParameterValue, OfWholeParameters) {
  EXPECT_EQ(value("ld.param.u64 %d1, [a];"), "4886718345");
  EXPECT_EQ(value("ld.param.u32 %r1, [a];"), "591751049") << "its lower half";
  EXPECT_EQ(value("ld.param.u32 %r1, [a+4];"), "unknown");
  EXPECT_EQ(value("ld.param.u64 %d1, [b];"), "unknown");
  EXPECT_EQ(value("ld.param.u64 %d1, [c];"), "2+12");
  EXPECT_EQ(value("ld.param.u32 %r1, [c];"), "unknown") << "half of an address";
  EXPECT_EQ(value("ld.param.u64 %d1, [t];"), "unknown");
  EXPECT_EQ(value("ld.global.u64 %d1, [a];"), "unknown");
}

// What lies after a parameter is the next one.
TEST(ParameterValue, EndsWithTheParameter) {
  EXPECT_EQ(value("ld.param.u32 %r1, [n];"), "5");
  EXPECT_EQ(value("ld.param.u16 %r1, [n];"), "5");
  EXPECT_EQ(value("ld.param.u64 %d1, [n];"), "unknown");
  EXPECT_EQ(value("ld.param.v2.u32 {%r1, %r2}, [n];", 0), "5");
  EXPECT_EQ(value("ld.param.v2.u32 {%r1, %r2}, [n];", 1), "unknown");
  EXPECT_EQ(value("ld.param.u32 %r1, [n-4];"), "unknown");
  EXPECT_EQ(value("ld.param.u64 %d1, [s+28];"), "unknown");
}

TEST(ParameterValue, OfFields) {
  EXPECT_EQ(value("ld.param.u64 %d1, [s];"), "1+64");
  EXPECT_EQ(value("ld.param.u64 %d1, [s+16];"), "2+0");
  EXPECT_EQ(value("ld.param.u64 %d1, [s+24];"), "unknown") << "its offset is not known";
  EXPECT_EQ(value("ld.param.u64 %d1, [s+4];"), "unknown") << "parts of two fields";
  EXPECT_EQ(value("ld.param.u32 %r1, [s];"), "unknown") << "half of an address";
  EXPECT_EQ(value("ld.param.u32 %r1, [s+8];"), "2147483653");
  EXPECT_EQ(value("ld.param.s32 %r1, [s+8];"), "-2147483643");
  EXPECT_EQ(value("ld.param.u8 %r1, [s+8];"), "5");
  EXPECT_EQ(value("ld.param.u64 %d1, [s+8];"), "unknown") << "it reads the next field too";
  EXPECT_EQ(value("ld.param.s16 %r1, [s+12];"), "-2");
  EXPECT_EQ(value("ld.param.u16 %r1, [s+12];"), "65534");
  EXPECT_EQ(value("ld.param.u32 %r1, [s+12];"), "unknown") << "it reads padding too";
  EXPECT_EQ(value("ld.param.u16 %r1, [s+14];"), "unknown");
}

TEST(ParameterValue, OfElements) {
  EXPECT_EQ(value("ld.param.v2.u64 {%d1, %d2}, [s+16];", 0), "2+0");
  EXPECT_EQ(value("ld.param.v2.u64 {%d1, %d2}, [s+16];", 1), "unknown");
  EXPECT_EQ(value("ld.param.v2.u64 {%d1, %d2}, [s+0];", 1), "unknown") << "two numbers";
  EXPECT_EQ(value("ld.param.v4.u16 {%r1, %r2, %r3, %r4}, [s+8];", 0), "5");
  EXPECT_EQ(value("ld.param.v4.u16 {%r1, %r2, %r3, %r4}, [s+8];", 1), "unknown");
  EXPECT_EQ(value("ld.param.v4.u16 {%r1, %r2, %r3, %r4}, [s+8];", 2), "65534");
}

TEST(ParameterValue, MakesAccessesOfStructsCertain) {
  const auto is_certain = [](const std::string& body, MemoryId memory) {
    const Footprint found = footprint(body);
    std::uint64_t steps = 1 << 20;
    const auto arguments = given();
    return Witnesses(found, arguments, kLaunch, kVariable, steps).has(found.accesses[0], memory);
  };
  EXPECT_TRUE(is_certain("ld.param.u64 %d1, [s]; ld.global.u32 %r1, [%d1];\n", kX));
  EXPECT_FALSE(is_certain("ld.param.u64 %d1, [s]; ld.global.u32 %r1, [%d1];\n", kY));
  EXPECT_FALSE(is_certain("ld.param.u64 %d1, [s+24]; ld.global.u32 %r1, [%d1];\n", kY));
  // The second element of a vector is followed as the first one.
  const std::string vector = "ld.param.v4.u16 {%r1, %r2, %r3, %r4}, [s+8];\n";
  for (const bool is_met : {true, false}) {
    EXPECT_EQ(is_certain(vector + "setp.eq.u32 %p1, %r3, " + (is_met ? "65534" : "65535") +
                             "; ld.param.u64 %d1, [s];\n@%p1 ld.global.u32 %r5, [%d1];\n",
                         kX),
              is_met);
  }
}

TEST(ParameterValue, BoundsAccessesOfStructs) {
  const auto reached = [](const std::string& field) {
    const Footprint found = footprint("ld.param.u64 %d1, [s+" + field +
                                      "]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;\n"
                                      "add.s64 %d1, %d1, %d2; ld.global.u32 %r2, [%d1];\n");
    const DefinitionGraph graph(*found.code);
    const auto arguments = given();
    const auto bytes =
        AccessRanges(found, graph, arguments, kLaunch, kVariable).of(found.accesses[0]);
    if (!bytes) return std::string("unknown");
    return fmt::format("{} [{}, {})", bytes->memory, static_cast<std::int64_t>(bytes->begin),
                       static_cast<std::int64_t>(bytes->end));
  };
  EXPECT_EQ(reached("0"), "1 [64, 192)");
  EXPECT_EQ(reached("16"), "2 [0, 128)");
  EXPECT_EQ(reached("24"), "unknown");
}

}  // namespace
}  // namespace baton::overlap::parameter_value_test
