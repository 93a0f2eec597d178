#include "baton/dtype.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace baton::dtype_test {
namespace {

TEST(DTypeTest, EveryNameNamesItsOwnType) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < dtype_names().size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(to_string(dtype), dtype_names()[i]);
    EXPECT_EQ(parse_dtype(dtype_names()[i]), dtype);
    names.insert(dtype_names()[i]);
  }
  EXPECT_EQ(names.size(), 15u);
}

TEST(DTypeTest, TheNameTellsSizeAndKind) {
  for (std::size_t i = 0; i < dtype_names().size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::string name(dtype_names()[i]);
    SCOPED_TRACE(name);
    if (dtype == DType::kBool) {
      EXPECT_EQ(size_of(dtype), 1u);
      EXPECT_FALSE(is_float(dtype));
      EXPECT_FALSE(is_signed_integer(dtype));
      continue;
    }
    // f8e4m3 has its bits after the first letter, bf16 after the second.
    EXPECT_EQ(size_of(dtype), std::stoul(name.substr(name[0] == 'b' ? 2 : 1)) / 8);
    EXPECT_EQ(is_float(dtype), name[0] == 'f' || name[0] == 'b');
    EXPECT_EQ(is_signed_integer(dtype), name[0] == 'i');
  }
}

TEST(DTypeTest, RefusesOtherNames) {
  for (const char* name : {"", "F32", "f32 ", "float", "i128", "f8"}) {
    EXPECT_EQ(parse_dtype(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace baton::dtype_test
