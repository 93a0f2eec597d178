#include "metadata/data_type.h"

#include <gtest/gtest.h>

namespace baton::metadata::data_type_test {
namespace {

TEST(MetadataTypeTest, NamesReadBack) {
  for (const char* name : {"handle", "bool", "int8", "int32", "int64", "uint1", "uint16", "float16",
                           "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2",
                           "float4_e2m1fn", "int32x4", "float16x2", "float8_e4m3fnx16"}) {
    const auto type = MetadataType::parse(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(type->name(), name);
    const auto again = make_type(static_cast<std::uint8_t>(type->code), type->bits, type->lanes);
    EXPECT_EQ(again, type) << name;
  }
}

TEST(MetadataTypeTest, ShorthandsStandForTheWholeName) {
  EXPECT_EQ(MetadataType::parse("i32")->name(), "int32");
  EXPECT_EQ(MetadataType::parse("u8")->name(), "uint8");
  EXPECT_EQ(MetadataType::parse("f16x2")->name(), "float16x2");
  EXPECT_EQ(MetadataType::parse("bf16")->name(), "bfloat16");
  EXPECT_EQ(MetadataType::parse("fp8_e4m3fn")->name(), "float8_e4m3fn");
}

TEST(MetadataTypeTest, WhatIsNoTypeIsNone) {
  for (const char* name :
       {"", "void", "int", "int0", "int33", "int032", "float8", "int32x", "int32x0", "int32x65536",
        "x4", "handle4", "complex64", "int-8", "int32 ", "Int32", "float99999999999999999999"}) {
    EXPECT_FALSE(MetadataType::parse(name)) << name;
  }
  EXPECT_FALSE(make_type(3, 0, 0));  // void
  EXPECT_FALSE(make_type(0, 33, 1));
  EXPECT_FALSE(make_type(5, 64, 1));
  EXPECT_FALSE(make_type(0, 32, 0));
  EXPECT_FALSE(make_type(2, 0, 1));  // 0 ends a family's list, it is not a width
}

TEST(MetadataTypeTest, KnowsSizesAndDtypes) {
  EXPECT_EQ(MetadataType::parse("float16x2")->size(), 4u);
  EXPECT_EQ(MetadataType::parse("uint1")->size(), 1u);
  EXPECT_EQ(MetadataType::parse("uint1")->dtype(), DType::kBool);
  EXPECT_EQ(MetadataType::parse("bool")->dtype(), DType::kBool);
  EXPECT_EQ(MetadataType::parse("float8_e4m3fn")->dtype(), DType::kF8E4M3);
  EXPECT_EQ(MetadataType::parse("float8_e4m3fnuz")->dtype(), std::nullopt);
  EXPECT_EQ(MetadataType::parse("int32x2")->dtype(), std::nullopt);
}

TEST(MetadataTypeTest, EachDtypeHasItsType) {
  for (const std::string_view name : dtype_names()) {
    const DType dtype = *parse_dtype(name);
    EXPECT_EQ(MetadataType::of(dtype).dtype(), dtype) << name;
    EXPECT_EQ(MetadataType::of(dtype).size(), size_of(dtype)) << name;
  }
  EXPECT_EQ(MetadataType::of(DType::kBF16).name(), "bfloat16");
  EXPECT_EQ(MetadataType::of(DType::kBool).name(), "bool");
}

}  // namespace
}  // namespace baton::metadata::data_type_test
