#include "compile/nvrtc/diagnostics.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::compiler::diagnostics_test {
namespace {

using testing::HasSubstr;
using Severity = Diagnostic::Severity;

std::vector<Diagnostic> parse(std::string_view log) {
  return parse_log(log, [](std::string_view file) { return fmt::format("<{}>", file); });
}

// As NVRTC 13.0 writes it.
constexpr char kLog[] =
    "e.cu(2): error: identifier \"missing\" is undefined\n"
    "  \to[0] = missing + 1;\n"
    "  \t       ^\n"
    "\n"
    "dir (1)/h.cuh(30): warning #177-D: variable \"q\" was declared but never referenced\n"
    "    float q = 1.0f\n"
    "          ^\n"
    "\n"
    "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n"
    "\n"
    "e.cu(9): error: more than one instance matches:\n"
    "            function \"f(int)\" (declared at line 3)\n"
    "            function \"f(float)\" (declared at line 4)\n"
    "    f(x);\n"
    "    ^\n"
    "          detected during instantiation of \"void k<T>()\"\n"
    "\n"
    "e.cu(11): catastrophic error: cannot open source file \"n.h\"\n"
    "  #include \"n.h\"\n"
    "                ^\n"
    "\n"
    "3 errors detected in the compilation of \"e.cu\".\n"
    "nvrtc: error: unrecognized option --foo found\n"
    "ptxas info    : Function properties for f\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas warning : Conflicting options\n"
    "ptxas fatal   : Unresolved extern function 'f'\n";

TEST(Diagnostics, AreReadWithTheirPlaces) {
  const std::vector<Diagnostic> found = parse(kLog);
  ASSERT_EQ(found.size(), 7u);
  EXPECT_EQ(found[0].severity, Severity::kError);
  EXPECT_EQ(found[0].where.to_string(), "<e.cu>:2:9");
  EXPECT_EQ(found[0].message, "identifier \"missing\" is undefined");
  EXPECT_EQ(found[0].excerpt, "  \to[0] = missing + 1;\n  \t       ^");
  EXPECT_EQ(found[1].severity, Severity::kWarning);
  EXPECT_EQ(found[1].where.to_string(), "<dir (1)/h.cuh>:30:9");
  EXPECT_THAT(found[1].message, HasSubstr("never referenced [#177-D]"));
  EXPECT_EQ(found[2].details.size(), 3u);
  EXPECT_EQ(found[2].where.column, 3);
  EXPECT_EQ(found[3].severity, Severity::kError);
  EXPECT_EQ(found[4].severity, Severity::kError);
  EXPECT_FALSE(found[4].where.known());
  EXPECT_EQ(found[5].severity, Severity::kWarning);
  EXPECT_EQ(found[6].severity, Severity::kError);
  EXPECT_THAT(found[6].message, HasSubstr("Unresolved extern"));
}

TEST(Diagnostics, NotesBelongToWhatTheyFollow) {
  const std::vector<Diagnostic> found = parse(
      "At end of source: error: expected a \"}\"\n"
      "e.cu(1): note #3196-D: to match this \"{\"\n"
      "  void k() {\n"
      "           ^\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, "expected a \"}\"");
  ASSERT_EQ(found[0].details.size(), 1u);
  EXPECT_THAT(found[0].details[0], HasSubstr("<e.cu>:1:10: note: to match this \"{\""));
  EXPECT_EQ(compile_error(found, "e.cu", "").where().file, "e.cu");
}

TEST(Diagnostics, ColumnsCountCharacters) {
  const std::vector<Diagnostic> found = parse(
      "a.cu(1): error: x\n"
      "  /* \xc3\xa9\xc3\xa9 */ y\n"
      "            ^\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].where.column, 9);
}

TEST(Diagnostics, TheErrorNamesTheFirstAndNotesAll) {
  const Error error = compile_error(parse(kLog), "e.cu", kLog);
  EXPECT_EQ(error.code(), ErrorCode::kCompile);
  EXPECT_EQ(error.where().to_string(), "<e.cu>:2:9");
  EXPECT_EQ(error.message(), "identifier \"missing\" is undefined (the first of 5 errors)");
  ASSERT_EQ(error.notes().size(), 5u);
  EXPECT_THAT(error.notes()[0], HasSubstr("<e.cu>:2:9: error: identifier"));
  EXPECT_THAT(error.notes()[1], HasSubstr("function \"f(float)\""));
}

TEST(Diagnostics, ALogThatIsNotUnderstoodIsGivenWhole) {
  const Error error = compile_error(parse("out of cheese\n"), "e.cu", "out of cheese\n");
  EXPECT_EQ(error.message(), "e.cu does not compile");
  EXPECT_EQ(error.notes(), std::vector<std::string>{"out of cheese"});
}

TEST(Diagnostics, WarningsAreTextOfTheirOwn) {
  EXPECT_THAT(warnings_text(parse(kLog)), HasSubstr("<dir (1)/h.cuh>:30:9: warning: variable"));
  EXPECT_EQ(warnings_text(parse("e.cu(2): error: x\n")), "");
}

}  // namespace
}  // namespace baton::compiler::diagnostics_test
