#include "baton/races.h"

#include <gtest/gtest.h>

#include "baton/error.h"

namespace baton::races_test {
namespace {

TEST(Races, HaveNames) {
  for (const Races races : {Races::kUsual, Races::kGlobal, Races::kModel}) {
    EXPECT_EQ(parse_races(to_string(races)), races);
  }
  EXPECT_EQ(to_string(Races::kModel), "model");
}

TEST(Races, OtherNamesAreRefused) {
  try {
    parse_races("globl");
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_EQ(failure.message(), "there are no races called \"globl\"; did you mean \"global\"?");
  }
}

}  // namespace
}  // namespace baton::races_test
