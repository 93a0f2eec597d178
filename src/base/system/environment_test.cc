#include "base/system/environment.h"

#include <gtest/gtest.h>

namespace baton::environment_test {
namespace {

TEST(Environment, EmptyIsUnset) {
  ::setenv("BATON_ENVIRONMENT_TEST", "value", 1);
  EXPECT_EQ(read_environment("BATON_ENVIRONMENT_TEST"), "value");
  ::setenv("BATON_ENVIRONMENT_TEST", "", 1);
  EXPECT_EQ(read_environment("BATON_ENVIRONMENT_TEST"), std::nullopt);
  ::unsetenv("BATON_ENVIRONMENT_TEST");
  EXPECT_EQ(read_environment("BATON_ENVIRONMENT_TEST"), std::nullopt);
}

}  // namespace
}  // namespace baton::environment_test
