#include "pdl/code/code.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "baton/error.h"
#include "pdl/test_support.h"

namespace baton::overlap::code_test {
namespace {

// A kernel with so many more instructions than the shortest one.
Code code_of(std::size_t more, const std::string& before = "", std::string body = "") {
  body.reserve(body.size() + more * 5);
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

// Calls nest as deep as that. What lies deeper is not followed.
TEST(ReadCode, FollowsCallsToADepth) {
  const auto is_followed = [](unsigned depth) {
    std::string functions = ".func f1() { ret; }\n";
    for (unsigned k = 2; k <= depth; ++k)
      functions += fmt::format(".func f{}() {{ call f{}; ret; }}\n", k, k - 1);
    const Code code = code_of(0, functions, fmt::format("call f{};", depth));
    return std::ranges::none_of(code.operations, [](const Operation& operation) {
      return operation.open == UnseenCause::kRecursion;
    });
  };
  EXPECT_TRUE(is_followed(1));
  EXPECT_TRUE(is_followed(64));
  EXPECT_FALSE(is_followed(65));
}

// Why a kernel with that body is not read.
std::string refusal(const std::string& body, const std::string& before = "") {
  const auto module = module_of(body, before);
  try {
    read_code(module, *module->function("k"));
  } catch (const Error& refused) {
    EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput);
    return refused.message();
  }
  return "";
}

// `branches` that each may go to all of as many labels.
std::string branches(unsigned count, unsigned labels) {
  std::string targets, body;
  for (unsigned k = 0; k < labels; ++k) targets += fmt::format("{}L{}", k == 0 ? "" : ", ", k);
  body = "T: .branchtargets " + targets + ";\n";
  for (unsigned k = 0; k < count; ++k) body += "brx.idx %r1, T;\n";
  for (unsigned k = 0; k < labels; ++k) body += fmt::format("L{}:\n", k) + "add.u32 %r3, %r1, 1;\n";
  return body + "ret;";
}

TEST(ReadCode, TakesNoMoreTargetsOfBranchesThanItSays) {
  EXPECT_EQ(refusal(branches(16, 16)), "");
  EXPECT_EQ(refusal(branches(1025, 1024)), "the branches of k have more than 1048576 targets");
}

// A function of many operands counts as often as it is called.
TEST(ReadCode, TakesNoMoreOperandsThanItSays) {
  const auto calls = [](unsigned count) {
    std::string registers = "%r0", function = ".func wide() {\n.reg .b32 %r<2>;\n", body;
    for (unsigned k = 1; k < 1024; ++k) registers += ", %r0";
    for (unsigned k = 0; k < 64; ++k) function += "mystery.b32 {" + registers + "};\n";
    for (unsigned k = 0; k < count; ++k) body += "call wide;\n";
    return refusal(body + "ret;", function + "ret;\n}\n");
  };
  EXPECT_EQ(calls(1), "");
  EXPECT_EQ(calls(65), "the instructions of k have more than 4194304 operands with all its calls");
}

}  // namespace
}  // namespace baton::overlap::code_test
