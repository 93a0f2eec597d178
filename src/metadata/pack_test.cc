#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "metadata/test_support.h"

namespace baton::metadata::pack_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

FunctionMetadata with_parameters(std::vector<std::string> types) {
  FunctionMetadata::Parts parts{.symbol = "k"};
  for (const std::string& type : types) parts.parameters.push_back({*MetadataType::parse(type)});
  return FunctionMetadata(std::move(parts));
}

template <typename T>
T packed_as(const char* type, const Operand& operand) {
  const Operand operands[] = {operand};
  const PackedLaunch packed = with_parameters({type}).pack(operands);
  EXPECT_EQ(packed.arguments().size(), 1u);
  EXPECT_EQ(packed.arguments()[0].size, sizeof(T));
  T value;
  std::memcpy(&value, packed.arguments()[0].data, sizeof value);
  return value;
}

std::string refused(const char* type, const Operand& operand) {
  return refusal_of([&] {
    const Operand operands[] = {operand};
    with_parameters({type}).pack(operands);
  });
}

TEST(PackTest, ConvertsToTheDeclaredType) {
  EXPECT_EQ(packed_as<std::int64_t>("int64", std::numeric_limits<std::int64_t>::min()),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(packed_as<std::int32_t>("int32", -7), -7);
  EXPECT_EQ(packed_as<std::int32_t>("int32", 3.0), 3);
  EXPECT_EQ(packed_as<std::int8_t>("int8", -128), -128);
  EXPECT_EQ(packed_as<std::uint16_t>("uint16", 65535), 65535);
  EXPECT_EQ(packed_as<std::uint32_t>("uint32", std::int64_t{4294967295}), 4294967295u);
  EXPECT_EQ(packed_as<std::uint8_t>("bool", true), 1);
  EXPECT_EQ(packed_as<std::uint8_t>("uint1", 0), 0);
  EXPECT_EQ(packed_as<float>("float32", 0.1), 0.1f);
  EXPECT_EQ(packed_as<float>("float32", 3), 3.0f);
  EXPECT_EQ(packed_as<double>("float64", 0.1), 0.1);
  EXPECT_EQ(packed_as<std::uint16_t>("float16", 1.0), 0x3c00);
  EXPECT_EQ(packed_as<std::uint16_t>("bfloat16", 1.0), 0x3f80);
  EXPECT_EQ(packed_as<std::uint8_t>("float8_e4m3fn", 1.0), 0x38);
  EXPECT_TRUE(std::isinf(packed_as<float>("float32", std::numeric_limits<double>::infinity())));
  EXPECT_TRUE(std::isnan(packed_as<float>("float32", std::nan(""))));
  EXPECT_EQ(packed_as<std::uint64_t>("handle", DevicePointer<float>{0x7f0012345678}),
            0x7f0012345678u);
  EXPECT_EQ(packed_as<std::uint64_t>("handle", nullptr), 0u);
}

TEST(PackTest, ChecksRanges) {
  EXPECT_THAT(refused("int32", std::int64_t{1} << 40),
              AllOf(HasSubstr("argument 0 is 1099511627776"),
                    HasSubstr("from -2147483648 to 2147483647"), HasSubstr("int32")));
  EXPECT_THAT(refused("uint32", -1), HasSubstr("from 0 to 4294967295"));
  EXPECT_THAT(refused("uint64", -1), HasSubstr("is -1"));
  EXPECT_THAT(refused("int8", 128), HasSubstr("from -128 to 127"));
  EXPECT_THAT(refused("bool", 2), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refused("int32", 0.5), HasSubstr("is 0.5"));
  EXPECT_THAT(refused("int64", 9.3e18), HasSubstr("integer"));
  EXPECT_THAT(refused("int64", std::nan("")), HasSubstr("integer"));
  EXPECT_THAT(refused("float32", 1e300), HasSubstr("overflow"));
  EXPECT_THAT(refused("float16", 70000.0), HasSubstr("overflow"));
  EXPECT_THAT(refused("float8_e4m3fn", 500.0), HasSubstr("overflow"));
  EXPECT_THAT(refused("float32", 16777217), HasSubstr("exactly"));
  EXPECT_THAT(refused("float64", std::numeric_limits<std::int64_t>::max()), HasSubstr("exactly"));
  EXPECT_THAT(refusal_of([] { Operand(~0ull); }), HasSubstr("18446744073709551615"));
}

TEST(PackTest, ChecksKinds) {
  EXPECT_THAT(refused("handle", 4096), AllOf(HasSubstr("4096"), HasSubstr("DevicePointer")));
  EXPECT_THAT(refused("handle", 1.0), HasSubstr("an address"));
  EXPECT_THAT(refused("int32", nullptr), HasSubstr("the handle"));
  EXPECT_THAT(refused("float32", nullptr), HasSubstr("a number"));
  EXPECT_THAT(refused("float32x4", 1.0), HasSubstr("no single value"));
  EXPECT_THAT(refused("float8_e4m3fnuz", 1.0), HasSubstr("no single value"));
}

TEST(PackTest, ChecksTheCount) {
  const FunctionMetadata function(
      {.symbol = "k", .parameters = {{}}, .operands = {"grid.x", "block.x"}});
  const Operand two[] = {nullptr, 1};
  EXPECT_THAT(
      refusal_of([&] { function.pack(two); }),
      AllOf(HasSubstr("takes 3 values"), HasSubstr("grid.x, block.x"), HasSubstr("2 were given")));
}

TEST(PackTest, TensorMapsAreReadWhereTheyLie) {
  const FunctionMetadata function({.symbol = "k", .parameters = {{MetadataType{}, true}}});
  alignas(128) std::byte map[256] = {};
  const auto pack = [&](const Operand& operand) {
    const Operand operands[] = {operand};
    return function.pack(operands);
  };
  const PackedLaunch packed = pack(map);
  EXPECT_EQ(packed.arguments()[0].data, map);
  EXPECT_EQ(packed.arguments()[0].size, 128u);
  EXPECT_FALSE(packed.arguments()[0].pointer);
  EXPECT_EQ(pack(map + 64).arguments()[0].data, map + 64);
  EXPECT_THAT(refusal_of([&] { pack(map + 8); }), HasSubstr("a multiple of 64"));
  EXPECT_THAT(refusal_of([&] { pack(nullptr); }), HasSubstr("tensor map"));
  EXPECT_THAT(refusal_of([&] { pack(5); }), HasSubstr("tensor map"));
}

TEST(PackTest, TagsTakeAnExtentOfZeroForOne) {
  FunctionMetadata::Parts parts{.symbol = "k",
                                .operands = {"grid.x", "cluster.x", "dynamic_smem_bytes"},
                                .flags = {"cooperative", "required_block_size"},
                                .rules = OperandRules::kTags};
  const Operand zeros[] = {0, 0, 0};
  const auto values = [&](OperandRules rules) {
    parts.rules = rules;
    const PackedLaunch packed = FunctionMetadata(parts).pack(zeros);
    return std::vector<LaunchValue>(packed.values().begin(), packed.values().end());
  };
  EXPECT_THAT(
      values(OperandRules::kTags),
      ElementsAre(LaunchValue{"grid.x", std::int64_t{1}}, LaunchValue{"cluster.x", std::int64_t{1}},
                  LaunchValue{"dynamic_smem_bytes", std::int64_t{0}},
                  LaunchValue{"cooperative", std::int64_t{1}}));
  for (const OperandRules rules : {OperandRules::kStrict, OperandRules::kForkTags}) {
    EXPECT_EQ(values(rules)[0], (LaunchValue{"grid.x", std::int64_t{0}}));
  }
}

TEST(PackTest, LaunchValuesKeepTheirKinds) {
  const FunctionMetadata function(
      {.symbol = "k",
       .operands = {"grid.x", "stream", "access_policy_window.hit_ratio", "cooperative"}});
  const Operand operands[] = {7, reinterpret_cast<const void*>(0x40), 0.25, true};
  EXPECT_THAT(
      function.pack(operands).values(),
      ElementsAre(LaunchValue{"grid.x", std::int64_t{7}}, LaunchValue{"stream", std::int64_t{0x40}},
                  LaunchValue{"access_policy_window.hit_ratio", 0.25},
                  LaunchValue{"cooperative", std::int64_t{1}}));
  const Operand wrong[] = {nullptr, nullptr, 0.25, true};
  EXPECT_THAT(refusal_of([&] { function.pack(wrong); }), HasSubstr("grid.x is the handle"));
}

}  // namespace
}  // namespace baton::metadata::pack_test
