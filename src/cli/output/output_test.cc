#include "cli/output/output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace baton::cli::output_test {
namespace {

TEST(Output, ProgressHasAShareAndTheTimeLeft) {
  EXPECT_EQ(progress_text(0, 10, true), "");
  EXPECT_EQ(progress_text(0.001, 10, false), "");
  EXPECT_EQ(progress_text(0.25, 0.1, false), ", 25 %");
  EXPECT_EQ(progress_text(0.25, 3, false), ", 25 %, 9.00 s left");
  EXPECT_EQ(progress_text(0.5, 2, true), "  [##########..........] 50 %, 2.00 s left");
  EXPECT_EQ(progress_text(1, 2, true), "  [####################] 100 %");
  EXPECT_EQ(progress_text(7, 2, false), ", 100 %");
}

// A longer line would stay when the next one replaces it.
TEST(Output, ProgressIsOneLineOfTheTerminal) {
  EXPECT_EQ(progress_line("compile k", ", 25 %", 80), "compile k, 25 % ...");
  EXPECT_EQ(progress_line("compile kernel", ", 25 %", 20), "compile k, 25 % ...");
  EXPECT_EQ(progress_line("\u00fcbersetze k", "", 12), "\u00fcberset ...");
  EXPECT_EQ(progress_line("compile", ", 25 %", 5), ", 25 % ...");
}

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
  EXPECT_EQ(output.result().dump(), R"({"version":1,"command":"run","status":null})");
  Output nameless(true, "");
  EXPECT_EQ(nameless.result().dump(), R"({"version":1,"command":null,"status":null})");
}

TEST(Output, ErrorsBecomeJson) {
  Output output(true, "run");
  testing::internal::CaptureStderr();
  output.report(Error(ErrorCode::kMismatch, "differs", {"p.toml", 2, 1}).note("a note"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: differs (p.toml:2:1)\na note\n");
  EXPECT_EQ(output.result()["error"].dump(),
            R"({"code":"mismatch","what":"differs","where":"p.toml:2:1","notes":["a note"]})");
}

// What standard output gets of a command.
template <typename Fill>
std::string standard_output_of(bool json, const Fill& fill) {
  testing::internal::CaptureStdout();
  {
    Output output(json, "run");
    fill(output);
    output.finish();
  }
  return testing::internal::GetCapturedStdout();
}

TEST(Output, TextIsDroppedWithJson) {
  const std::string text =
      standard_output_of(true, [](Output& output) { output.line("for {}", "people"); });
  EXPECT_EQ(nlohmann::json::parse(text)["command"], "run");
}

TEST(Output, WhatOthersPrintGoesToStandardErrorWithJson) {
  testing::internal::CaptureStderr();
  const std::string text = standard_output_of(true, [](Output&) {
    std::printf("by the library\n");
    std::fflush(stdout);
    EXPECT_EQ(write(STDOUT_FILENO, "by the driver\n", 14), 14);
  });
  EXPECT_TRUE(nlohmann::json::accept(text)) << text;
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "by the library\nby the driver\n");

  testing::internal::CaptureStdout();
  std::printf("afterwards");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "afterwards");
}

TEST(Output, WhatOthersPrintStaysWithoutJson) {
  EXPECT_EQ(standard_output_of(false, [](Output&) { std::printf("by the library\n"); }),
            "by the library\n");
}

TEST(Output, TheStatusSaysHowItEnded) {
  const auto status_of = [](const auto& fill) {
    testing::internal::CaptureStderr();
    const std::string text = standard_output_of(true, fill);
    testing::internal::GetCapturedStderr();
    return nlohmann::json::parse(text)["status"];
  };
  EXPECT_EQ(status_of([](Output&) {}), "ok");
  EXPECT_EQ(status_of([](Output& output) { output.warning("old"); }), "warnings");
  EXPECT_EQ(status_of([](Output& output) {
              output.diagnostic(Style::kWarning, "warning", "of the simulated GPU");
            }),
            "warnings");
  EXPECT_EQ(status_of([](Output& output) {
              output.warning("old");
              output.report_warnings();
            }),
            "failed");
  EXPECT_EQ(status_of([](Output& output) { output.report(Error(ErrorCode::kLimit, "x")); }),
            "failed");
}

TEST(Output, HeldWarningsFollowTheError) {
  const auto lines_of = [](const auto& fill) {
    testing::internal::CaptureStderr();
    const auto result = nlohmann::json::parse(standard_output_of(true, fill));
    EXPECT_EQ(result["warnings"], nlohmann::json({"held"}));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(lines_of([](Output& output) {
              output.hold_warning("held");
              output.report(Error(ErrorCode::kLimit, "x"));
            }),
            "error: x\nwarning: held\n");
  EXPECT_EQ(lines_of([](Output& output) {
              output.hold_warning("held");
              output.write_held();
              EXPECT_EQ(output.warnings(), 1u);
              output.report(Error(ErrorCode::kLimit, "x"));
            }),
            "warning: held\nerror: x\n");
  EXPECT_EQ(lines_of([](Output& output) { output.hold_warning("held"); }), "warning: held\n");
  EXPECT_EQ(lines_of([](Output& output) {
              output.hold_warning("held");
              EXPECT_EQ(output.warnings(), 1u);
              output.report_warnings();
            }),
            "warning: held\nerror: 1 warning, and --strict allows none\n");
}

TEST(Output, BytesThatAreNoUtf8DoNotBreakJson) {
  EXPECT_TRUE(nlohmann::json::accept(
      standard_output_of(true, [](Output& output) { output.result()["name"] = "\xff\xfe"; })));
}

}  // namespace
}  // namespace baton::cli::output_test
