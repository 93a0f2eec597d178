#include "cli/output.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace baton::cli {
namespace {

TEST(ErrorLine, WithoutAPlace) {
  EXPECT_EQ(error_line(Error(ErrorCode::kNotFound, "there is no file x; create it")),
            "error: there is no file x; create it");
}

TEST(ErrorLine, ThePlaceStandsBeforeTheAdvice) {
  const SourceLocation where{"p.toml", 3, 9};
  EXPECT_EQ(
      error_line(Error(ErrorCode::kInvalidInput, "unknown key; did you mean \"grid\"?", where)),
      "error: unknown key (p.toml:3:9); did you mean \"grid\"?");
  EXPECT_EQ(error_line(Error(ErrorCode::kInvalidInput, "5 is not 6", where)),
            "error: 5 is not 6 (p.toml:3:9)");
}

TEST(ErrorLine, QuotedSemicolonsAreNoAdvice) {
  const SourceLocation where{"p.toml", 3, 0};
  EXPECT_EQ(error_line(Error(ErrorCode::kInvalidInput, "unknown key \"a; b\"; drop it", where)),
            "error: unknown key \"a; b\" (p.toml:3); drop it");
}

// As in the list of who waits for what in a deadlock.
TEST(ErrorLine, ListsInParenthesesAreNoAdvice) {
  const SourceLocation where{"k.cu", 3, 9};
  EXPECT_EQ(error_line(Error(ErrorCode::kFault,
                             "none goes on (block (0, 0, 0) waits; block (1, 0, 0) waits)", where)),
            "error: none goes on (block (0, 0, 0) waits; block (1, 0, 0) waits) (k.cu:3:9)");
  EXPECT_EQ(error_line(Error(ErrorCode::kFault, "none (a; b) goes on; wait", where)),
            "error: none (a; b) goes on (k.cu:3:9); wait");
}

TEST(ErrorLine, IsOneLine) {
  const SourceLocation where{"a\nb.toml", 3, 0};
  EXPECT_EQ(error_line(Error(ErrorCode::kInvalidInput, "no \"x\ny\"; ä", where)),
            "error: no \"x\\x0ay\" (a\\x0ab.toml:3); ä");
}

template <typename T>
Error caught(T thrown) {
  try {
    throw thrown;
  } catch (...) {
    return current_error();
  }
}

TEST(CurrentError, MapsWhatOthersThrow) {
  EXPECT_EQ(caught(Error(ErrorCode::kLimit, "x")).code(), ErrorCode::kLimit);
  EXPECT_EQ(exit_status(caught(std::bad_alloc()).code()), 3);
  const Error file = caught(std::filesystem::filesystem_error(
      "cannot create", "/some/path", std::make_error_code(std::errc::permission_denied)));
  EXPECT_EQ(exit_status(file.code()), 2);
  EXPECT_NE(file.message().find("/some/path"), std::string::npos);
  EXPECT_EQ(caught(std::logic_error("oops")).code(), ErrorCode::kInternal);
  EXPECT_EQ(caught(5).code(), ErrorCode::kInternal);
}

TEST(Output, JsonStartsWithVersionAndCommand) {
  Output output(true, "run");
  EXPECT_EQ(output.result().dump(), R"({"version":1,"command":"run"})");
  Output nameless(true, "");
  EXPECT_EQ(nameless.result().dump(), R"({"version":1,"command":null})");
}

TEST(Output, ErrorsBecomeJson) {
  Output output(true, "run");
  testing::internal::CaptureStderr();
  output.report(Error(ErrorCode::kMismatch, "differs", {"p.toml", 2, 1}).note("a note"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: differs (p.toml:2:1)\na note\n");
  EXPECT_EQ(output.result()["error"].dump(),
            R"({"code":"mismatch","what":"differs","where":"p.toml:2:1","notes":["a note"]})");
}

TEST(Output, TextIsDroppedWithJson) {
  Output output(true, "run");
  output.line("for {}", "people");
  testing::internal::CaptureStdout();
  output.finish();
  EXPECT_EQ(nlohmann::json::parse(testing::internal::GetCapturedStdout())["command"], "run");
}

TEST(Output, BytesThatAreNoUtf8DoNotBreakJson) {
  Output output(true, "run");
  output.result()["name"] = "\xff\xfe";
  testing::internal::CaptureStdout();
  output.finish();
  EXPECT_TRUE(nlohmann::json::accept(testing::internal::GetCapturedStdout()));
}

}  // namespace
}  // namespace baton::cli
