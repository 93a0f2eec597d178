// Malformed modules, and the place and the words with which each is refused.

#include "ptx/testdata_test.h"

namespace baton::ptx::syntax_error_test {
namespace {

struct Malformed {
  std::string text;
  int line;
  int column;
  const char* message;  // a part of it
};

// After the header, on line 4.
std::string top(std::string_view text) {
  return std::string(kHeader) + std::string(text);
}

std::vector<Malformed> malformed() {
  return {
      // the header
      {"", 1, 1, "expected \".version\", which begins a module of PTX, but found the end"},
      {"__global__ void f();", 1, 1, "expected \".version\""},
      {"\xEF\xBB\xBF.version 9.0", 1, 1, "byte order mark"},
      {".version nine", 1, 10, "expected a version such as 9.0, but found \"nine\""},
      {".version 9", 1, 10, "expected a version"},
      {".version 9.x", 1, 10, "\"9.x\" is not a number"},
      {".version 1e5\n", 1, 10, "expected a version"},
      {".version 9.6\n.target sm_90", 1, 10,
       "PTX of version 9.6 is newer than 9.5, the newest that is known; compile with an older CUDA "
       "toolkit, or take a newer version of Baton"},
      {".version 10.0\n.target sm_90", 1, 10, "PTX of version 10.0 is newer than 9.5"},
      {".version 9.0\n.visible", 2, 1, "expected \".target\" after the version"},
      {".version 9.0\n.target 90", 2, 9, "expected a target such as sm_90, but found \"90\""},
      {".version 9.0\n.target sm_90,\n.address_size 64", 3, 1, "expected a target"},
      {".version 9.0 .target sm_90 .address_size 48", 1, 42, "an address size is 32 or 64, not 48"},
      {".version 9.0 .target sm_90 .address_size x", 1, 42, "expected an address size"},
      {top(".version 9.0"), 4, 1, "one module"},
      {top(".target sm_80"), 4, 1, "one module"},
      // the top level
      {top("garbage"), 4, 1, "expected a directive, such as \".entry\""},
      {top("}"), 4, 1, "expected a directive"},
      {top("#include <x>"), 4, 1, "preprocessor"},
      {top("\x01"), 4, 1, "\"\\x01\" begins no token"},
      {top("/* open\n\n"), 4, 1, "never closed"},
      {top(".visible garbage"), 4, 10, "expected \".entry\", \".func\" or a state space"},
      {top(".global .u32 x"), 4, 15, "expected \";\" after the declaration, but found the end"},
      {top(".global x;"), 4, 9, "expected a type such as \".b32\", but found \"x\""},
      {top(".global .u32 .f32 x;"), 4, 14, "expected a name, but found \".f32\""},
      {top(".global .align 3 .u32 x;"), 4, 16, "power of two, not 3"},
      {top(".global .align .u32 x;"), 4, 16, "expected an alignment, but found \".u32\""},
      {top(".global .u32 x[-1];"), 4, 16, "must not be negative"},
      {top(".global .u32 x[4;"), 4, 17, "expected \"]\" after the array's size, but found \";\""},
      {top(".global .u32 x[2] = {1, 2;"), 4, 26, "expected \",\" or \"}\""},
      {top(".global .u32 x[2] = {1,, 2};"), 4, 24, "expected an operand, but found \",\""},
      {top(".global .u32 x = ;"), 4, 18, "expected an operand, but found \";\""},
      {top(".global .u32 x;\n.global .u32 x;"), 5, 14,
       "\"x\" is defined twice; the first is at 4:14"},
      {top(".global .attribute(managed) .u32 x;"), 4, 20, "expected an attribute"},
      {top(".global .u32 x<99999999999>;"), 4, 16, "does not fit 32 bits"},
      {top(".file 1 name"), 4, 9, "expected a file name in quotes"},
      {top(".file 1 \"a\n\""), 4, 9, "not closed on its line"},
      {top(".section debug {"), 4, 10, "expected a section name"},
      {top(".section .debug_str\n{ {"), 5, 1, "this \"{\" is never closed"},
      // heads of functions
      {top(".entry 5() {}"), 4, 8, "expected the name of a function, but found \"5\""},
      {top(".entry k(.global .u32 x) {}"), 4, 10, "a parameter must be in .param or .reg"},
      {top(".entry k(.param .u32 x<4>) {}"), 4, 22, "without a count"},
      {top(".entry k(.param .u32 x,) {}"), 4, 24, "expected a state space"},
      {top(".entry k(.param .u32 x {}"), 4, 24,
       "expected \")\" after the parameters, but found \"{\""},
      {top(".entry k() x {}"), 4, 12, "expected \"{\" or \";\" after the function's head"},
      {top(".entry k() .maxntid x {}"), 4, 21, "takes integers that are not negative"},
      {top(".entry k() .maxntid 1,2,3,4 {}"), 4, 12, "takes 1 to 3 integers, but has 4"},
      {top(".entry k() .maxnreg {}"), 4, 12, "takes 1 integers, but has 0"},
      {top(".entry k() .maxnreg -1 {}"), 4, 21, "not negative"},
      {top(".entry k() .noreturn 1 {}"), 4, 12, "takes 0 integers, but has 1"},
      {top(".entry k() {"), 4, 12, "this \"{\" is never closed; expected \"}\""},
      {top(".entry k() { // }"), 4, 12, "never closed"},
      {top(".entry k() { \" }"), 4, 14, "not closed"},
      {top(".func f() {}\n.func f() {}"), 5, 7, "\"f\" is defined twice; the first is at 4:7"},
      // bodies
      {kernel("ret"), 7, 1, "expected \";\" or an operand after \"ret\", but found \"}\""},
      {kernel(";"), 6, 1, "expected an instruction, a label or a directive, but found \";\""},
      {kernel("  5;"), 6, 3, "expected an instruction"},
      {kernel("mov.u32 %r1 %r2;"), 6, 13,
       "expected \";\" after the instruction, but found \"%r2\""},
      {kernel("mov.u32 %r1,;"), 6, 13, "expected an operand, but found \";\""},
      {kernel("mov.u32 ., 1;"), 6, 9, "\".\" begins no token"},
      {kernel("mov.u32 %r1, .x;"), 6, 14, "expected an operand, but found \".x\""},
      {kernel("@ ret;"), 6, 6, "expected an instruction after the guard, but found \";\""},
      {kernel("@!5 ret;"), 6, 3, "expected a predicate register"},
      {kernel("@%p1 { ret; }"), 6, 6, "expected an instruction after the guard"},
      {kernel("ld.u32 %r1, [%rd1+%rd2];"), 6, 19, "expected a constant offset, but found \"%rd2\""},
      {kernel("ld.u32 %r1, [%rd1;"), 6, 18, "expected \",\" or \"]\""},
      {kernel("ld.u32 %r1, [];"), 6, 13, "expected an address"},
      {kernel("ld.u32 %r1, [{a}];"), 6, 14, "as the address"},
      {kernel("ld.u32 {%r1, %r2, [a];"), 5, 1, "this \"{\" is never closed"},
      {kernel("setp.x %p1|5, a, b;"), 6, 12, "expected a register or \"_\" after \"|\""},
      {kernel("mov.u32 a, 0f3F8;"), 6, 12, "expected 8 hexadecimal digits after \"0f\""},
      {kernel("mov.u32 a, 0d3FF00000000000000;"), 6, 12, "expected 16 hexadecimal digits"},
      {kernel("mov.u32 a, 08;"), 6, 12, "\"08\" is not a number"},
      {kernel("mov.u32 a, 0b12;"), 6, 12, "\"0b12\" is not a number"},
      {kernel("mov.u32 a, 12ab;"), 6, 12, "\"12ab\" is not a number"},
      {kernel("mov.u32 a, 0x;"), 6, 12, "\"0x\" is not a number"},
      {kernel("mov.u32 a, 18446744073709551616;"), 6, 12, "does not fit 64 bits"},
      {kernel("mov.f64 a, 1e999;"), 6, 12, "does not fit a double"},
      {kernel("mov.f64 a, 1e+;"), 6, 12, "is not a number"},
      {kernel("mov.u32 a, 4/0;"), 6, 13, "divides by zero"},
      {kernel("mov.u32 a, (4;"), 6, 14, "expected \")\" after the constant expression"},
      {kernel("mov.u32 a, 1 ? 2;"), 6, 17, "expected \":\""},
      {kernel("mov.u32 a, generic(b);"), 6, 19, "expected \";\" after the instruction"},
      {kernel("\xC3\xA9;"), 6, 1, "begins no token"},
      {kernel("/* \xC3\xA9 */ ;"), 6, 9, "expected an instruction"},
      {kernel("x: .branchtargets 5;"), 6, 19, "expected a label, but found \"5\""},
      {kernel("x: .callprototype f;"), 6, 19, "expected \"_\" in place of a name"},
      {kernel(".loc 1 2"), 7, 1, "expected a column, but found \"}\""},
      {kernel(".loc 1 2 3, inlined_at 1 2 3"), 6, 13, "expected \"function_name\""},
      {kernel(".loc 1 2 3, function_name x, here"), 6, 30, "expected \"inlined_at\""},
      {kernel(".loc 1 2 5000000000"), 6, 10, "does not fit 32 bits"},
      {kernel(".branchtargets a;\nret;]"), 7, 5, "expected an instruction"},
      {kernel(".reg .b32 %r<2;"), 6, 15, "expected \">\" after the number of registers"},
      {kernel(".reg .b32 1;"), 6, 11, "expected a name, but found \"1\""},
      {kernel(".reg .b32 a b;"), 6, 13, "expected \";\" after the declaration"},
      {kernel("call (r, f, (a);"), 6, 16, "expected \",\" or \")\""},
  };
}

TEST(PtxSyntaxError, NamesThePlaceAndWhatWasExpected) {
  const std::vector<Malformed> cases = malformed();
  EXPECT_GE(cases.size(), 40u);
  for (const Malformed& bad : cases) {
    try {
      parse_all(*parse(bad.text));
      ADD_FAILURE() << "accepted: " << bad.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidInput) << bad.text;
      EXPECT_EQ(error.where().file, "test.ptx") << bad.text;
      EXPECT_EQ(error.where().line, bad.line) << bad.text << "\n" << error.what();
      EXPECT_EQ(error.where().column, bad.column) << bad.text << "\n" << error.what();
      EXPECT_NE(error.message().find(bad.message), std::string::npos) << bad.text << "\n"
                                                                      << error.message();
    }
  }
}

TEST(PtxSyntaxError, ShowsTheLine) {
  try {
    parse_all(*parse(kernel("\tmov.u32 %r1, [;")));
    FAIL();
  } catch (const Error& error) {
    ASSERT_EQ(error.notes().size(), 1u);
    EXPECT_NE(error.notes()[0].find("mov.u32 %r1, [;"), std::string::npos);
    EXPECT_NE(error.notes()[0].find('^'), std::string::npos);
  }
}

}  // namespace
}  // namespace baton::ptx::syntax_error_test
