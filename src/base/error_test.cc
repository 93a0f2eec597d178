#include "base/error.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

namespace baton::error_test {
namespace {

// Copied where it is caught, and by std::exception_ptr.
static_assert(std::is_nothrow_copy_constructible_v<Error>);
static_assert(std::is_nothrow_copy_assignable_v<Error>);
static_assert(std::is_nothrow_move_constructible_v<Error>);

TEST(ErrorTest, ACopyKeepsWhatItSays) {
  Error first = error_at({"a.toml", 3, 4}, ErrorCode::kLimit, "too {}", "large");
  const Error copy = first;
  first.note("more").at({"b.toml"}).of_driver(7);
  EXPECT_STREQ(copy.what(), "a.toml:3:4: too large");
  EXPECT_EQ(copy.driver_result(), 0);
  EXPECT_STREQ(first.what(), "a.toml:3:4: too large\nmore");
  EXPECT_EQ(first.driver_result(), 7);
  const Error moved = std::move(first);
  EXPECT_EQ(first.message(), "too large");  // NOLINT: it always says something
  EXPECT_EQ(moved.notes().size(), 1u);
}

TEST(ErrorTest, CopiesOfAFileNameShareTheText) {
  const FileName name = std::string("a/rather/long/name/of/a/file.toml");
  const FileName copy = name;
  EXPECT_EQ(copy.text().data(), name.text().data());
  const std::string text = copy;
  EXPECT_EQ(name, text);
  EXPECT_EQ(name, FileName(std::string_view(text)));
  EXPECT_NE(name, "a");
  EXPECT_TRUE(FileName("").empty());
  EXPECT_EQ(FileName(), "");
  EXPECT_EQ(SourceLocation{}.to_string(), "");
}

TEST(ErrorTest, ExitStatusSaysWhoseFaultItIs) {
  const std::map<ErrorCode, int> expected = {
      {ErrorCode::kInvalidInput, 2}, {ErrorCode::kNotFound, 2},     {ErrorCode::kCompile, 2},
      {ErrorCode::kLimit, 2},        {ErrorCode::kMismatch, 1},     {ErrorCode::kFault, 1},
      {ErrorCode::kTimeout, 1},      {ErrorCode::kDamaged, 1},      {ErrorCode::kNoDevice, 3},
      {ErrorCode::kOutOfMemory, 3},  {ErrorCode::kDriver, 3},       {ErrorCode::kUnsupported, 3},
      {ErrorCode::kInternal, 3},     {ErrorCode::kInterrupted, 130}};
  std::set<std::string_view> names;
  for (const auto& [code, status] : expected) {
    EXPECT_EQ(exit_status(code), status) << to_string(code);
    names.insert(to_string(code));
  }
  EXPECT_EQ(names.size(), expected.size());
  EXPECT_EQ(to_string(ErrorCode::kOutOfMemory), "out_of_memory");
}

// "Status 2: `invalid_input`, `not_found`, … Status 1: …" in docs/cli-json.md.
TEST(ErrorTest, TheDocumentationNamesEachCodeWithItsStatus) {
  std::ifstream file(BATON_SOURCE_DIR "/docs/cli-json.md");
  std::string row;
  while (std::getline(file, row) && !row.starts_with("| `error.code` |")) {
  }
  ASSERT_TRUE(file.good());
  const std::regex part("([Ss]tatus ([0-9]+):)|`([a-z_]+)`");
  std::map<std::string, int> told;
  int status = 0;
  for (std::sregex_iterator at(row.begin(), row.end(), part), end; at != end; ++at) {
    if ((*at)[2].matched) {
      status = std::stoi((*at)[2]);
    } else if (status != 0) {
      told[(*at)[3]] = status;
    }
  }
#define BATON_ERROR_CODE(name, id, exit_status, meaning) EXPECT_EQ(told[id], exit_status) << id;
#include "base/error_codes.inc"
#undef BATON_ERROR_CODE
}

TEST(ErrorTest, ALocationLeavesOutWhatIsUnknown) {
  EXPECT_EQ((SourceLocation{"a.toml", 3, 7}).to_string(), "a.toml:3:7");
  EXPECT_EQ((SourceLocation{"a.toml", 3, 0}).to_string(), "a.toml:3");
  EXPECT_EQ((SourceLocation{"a.toml", 0, 7}).to_string(), "a.toml");
  EXPECT_FALSE(SourceLocation{}.known());
}

TEST(ErrorTest, WhatIsLocationMessageAndNotes) {
  Error failure =
      error_at({"a.toml", 3, 7}, ErrorCode::kLimit, "block is {}, at most {}", 2048, 1024);
  EXPECT_EQ(failure.code(), ErrorCode::kLimit);
  EXPECT_EQ(failure.message(), "block is 2048, at most 1024");
  EXPECT_STREQ(failure.what(), "a.toml:3:7: block is 2048, at most 1024");
  failure.note("first").note("second");
  EXPECT_STREQ(failure.what(), "a.toml:3:7: block is 2048, at most 1024\nfirst\nsecond");
  EXPECT_EQ(failure.notes().size(), 2u);
  EXPECT_STREQ(error(ErrorCode::kInternal, "plain {{}}").note("n").what(), "plain {}\nn");
}

TEST(ErrorTest, TheFirstKnownLocationStays) {
  Error failure = error(ErrorCode::kInvalidInput, "wrong");
  EXPECT_STREQ(failure.what(), "wrong");
  failure.at({"inner.cu", 1, 1}).at({"outer.toml", 2, 2});
  EXPECT_STREQ(failure.what(), "inner.cu:1:1: wrong");
  EXPECT_EQ(failure.where().file, "inner.cu");
}

TEST(ErrorTest, IsThrownAndCopiedAsAValue) {
  try {
    throw error(ErrorCode::kFault, "{}", "kernel trapped").note("at block 3");
  } catch (const std::exception& caught) {
    const Error copy = dynamic_cast<const Error&>(caught);
    EXPECT_STREQ(copy.what(), caught.what());
    EXPECT_STREQ(copy.what(), "kernel trapped\nat block 3");
  }
}

}  // namespace
}  // namespace baton::error_test
