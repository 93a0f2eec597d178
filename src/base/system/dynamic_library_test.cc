#include "base/system/dynamic_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/file/file.h"

namespace baton::dynamic_library_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::optional<DynamicLibrary> open_math(std::string* why = nullptr) {
  const std::vector<std::string> names = {"libbaton-no-such.so.1", "libm.so.6"};
  return DynamicLibrary::open(names, why);
}

TEST(DynamicLibraryTest, OpensTheFirstThatLoads) {
  const auto library = open_math();
  ASSERT_TRUE(library.has_value());
  EXPECT_EQ(library->name(), "libm.so.6");
  EXPECT_THAT(library->path(), EndsWith("/libm.so.6"));
}

TEST(DynamicLibraryTest, FindsSymbols) {
  const auto library = open_math();
  ASSERT_TRUE(library.has_value());
  const auto square_root = reinterpret_cast<double (*)(double)>(library->symbol("sqrt"));
  ASSERT_NE(square_root, nullptr);
  EXPECT_EQ(square_root(9.0), 3.0);
  EXPECT_EQ(library->symbol("no_such_symbol"), nullptr);
}

TEST(DynamicLibraryTest, SaysWhyEachNameFailed) {
  const TemporaryDirectory folder;
  const std::string text = folder.path() / "text.so";
  write_file_atomically(text, "this is no shared library, but it is long enough to look at\n");
  const std::vector<std::string> names = {"libbaton-no-such.so.1", text};
  std::string why;
  EXPECT_FALSE(DynamicLibrary::open(names, &why).has_value());
  EXPECT_THAT(why, HasSubstr("libbaton-no-such.so.1"));
  EXPECT_THAT(why, HasSubstr("; " + text));
  EXPECT_FALSE(DynamicLibrary::open(names).has_value());
  EXPECT_FALSE(DynamicLibrary::open({}, &why).has_value());
  EXPECT_EQ(why, "");
}

TEST(DynamicLibraryTest, MovesLeaveNothingBehind) {
  auto first = open_math();
  ASSERT_TRUE(first.has_value());
  DynamicLibrary second = std::move(*first);
  EXPECT_EQ(first->symbol("sqrt"), nullptr);
  EXPECT_EQ(first->path(), "");
  EXPECT_NE(second.symbol("sqrt"), nullptr);
  *first = std::move(second);
  EXPECT_NE(first->symbol("sqrt"), nullptr);
}

TEST(DynamicLibraryTest, ALeakedLibraryStaysUsable) {
  auto library = open_math();
  ASSERT_TRUE(library.has_value());
  library->leak();
  void* symbol = library->symbol("sqrt");
  ASSERT_NE(symbol, nullptr);
  library.reset();
  EXPECT_EQ(reinterpret_cast<double (*)(double)>(symbol)(4.0), 2.0);
}

}  // namespace
}  // namespace baton::dynamic_library_test
