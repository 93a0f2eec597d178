#include "baton/attempt.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace baton::attempt_test {
namespace {

TEST(Attempt, GivesTheValueOrTheError) {
  auto given = attempt([] { return std::make_unique<int>(3); });
  ASSERT_TRUE(given);
  EXPECT_EQ(given.error(), nullptr);
  EXPECT_EQ(**given, 3);
  const std::unique_ptr<int> taken = std::move(given).value();
  EXPECT_EQ(*taken, 3);

  const Attempted<std::string> failed =
      attempt([]() -> std::string { throw Error(ErrorCode::kNotFound, "nothing here"); });
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.error()->code(), ErrorCode::kNotFound);
  EXPECT_THROW(failed.value(), Error);
  EXPECT_THROW(failed->size(), Error);
}

TEST(Attempt, TakesWorkWithoutAValue) {
  EXPECT_TRUE(attempt([] {}).ok());
  const auto failed = attempt([] { throw Error(ErrorCode::kLimit, "too much"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error()->message(), "too much");
}

TEST(Attempt, PassesOtherExceptions) {
  EXPECT_THROW(attempt([] { throw std::runtime_error("other"); }), std::runtime_error);
}

}  // namespace
}  // namespace baton::attempt_test
