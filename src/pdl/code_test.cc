#include "pdl/code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "baton/error.h"
#include "pdl/test_support.h"

namespace baton::overlap {
namespace {

// A kernel with so many more instructions than the shortest one.
Code code_of(std::size_t more, const std::string& before = "") {
  std::string body;
  body.reserve(more * 5);
  for (std::size_t k = 0; k < more; ++k) body += "ret;\n";
  const auto module = module_of(body, before);
  return read_code(module, *module->function("k"));
}

TEST(ReadCode, TakesNoMoreOperationsThanItSays) {
  const std::size_t shortest = code_of(0).operations.size();
  const std::size_t most = kMaxOperations - shortest;
  EXPECT_EQ(code_of(most).operations.size(), kMaxOperations);
  try {
    code_of(most + 1);
    FAIL() << "was not refused";
  } catch (const Error& refused) {
    EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(refused.message(),
                testing::StartsWith("k has more than 262144 instructions with all its calls"));
  }
}

}  // namespace
}  // namespace baton::overlap
