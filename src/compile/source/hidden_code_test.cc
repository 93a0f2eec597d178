#include "compile/source/hidden_code.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace baton::compiler::hidden_code_test {
namespace {

constexpr char kFile[] = "k.cu";

Diagnostic error_at(int line, int column, std::string message) {
  Diagnostic out;
  out.where = {kFile, line, column};
  out.message = std::move(message);
  return out;
}

class Hidden : public testing::Test {
 protected:
  // Hides what an error at the first `@` of the text, which is not part of it, is about.
  void hide_at_mark(std::string text, const std::string& message = "wrong") {
    const std::size_t at = text.find('@');
    ASSERT_NE(at, std::string::npos);
    text.erase(at, 1);
    const auto line = static_cast<int>(std::count(text.begin(), text.begin() + at, '\n')) + 1;
    const std::size_t start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    hidden_ = HiddenCode();
    hidden_.add_file(kFile, "/folder/k.cu", text);
    worked_ = hidden_.hide(error_at(line, static_cast<int>(at - start) + 1, message));
    hidden_.next_round();
    lines_before_ = std::count(text.begin(), text.end(), '\n');
  }
  // What the compiler reads then, with blanks in a row as one.
  std::string after(std::string text, const std::string& message = "wrong") {
    hide_at_mark(std::move(text), message);
    const std::string& out = hidden_.text(kFile);
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), lines_before_);
    std::string short_text;
    for (const char c : out) {
      const bool is_blank = c == ' ' || c == '\n';
      if (is_blank && (short_text.empty() || short_text.back() == ' ')) continue;
      short_text += is_blank ? ' ' : c;
    }
    const std::string call = "::baton_hidden_host_code();";
    for (std::size_t at = 0; (at = short_text.find(call, at)) != std::string::npos; ++at) {
      short_text.replace(at, call.size(), "GONE;");
    }
    while (short_text.ends_with(' ')) short_text.pop_back();
    return short_text;
  }

  HiddenCode hidden_;
  bool worked_ = false;
  std::ptrdiff_t lines_before_ = 0;
};

TEST_F(Hidden, TheStatementThatIsWrongGoes) {
  EXPECT_EQ(after("void f() { a(); @b(1, 2); c(); }"), "void f() { a(); GONE; c(); }");
  EXPECT_EQ(after("void f() {\n  a();\n  b(\n @1);\n  c(); }"), "void f() { a(); GONE; c(); }");
  EXPECT_EQ(after("void f() { if (x) { a(); @b(); } else { c(); } }"),
            "void f() { if (x) { a(); GONE; } else { c(); } }");
  EXPECT_EQ(after("void f() { for (;;) { while (x) { @b(); c(); } } }"),
            "void f() { for (;;) { while (x) { GONE; c(); } } }");
  EXPECT_EQ(after("void f() { do { @b(); } while (x); c(); }"),
            "void f() { do { GONE; } while (x); c(); }");
  EXPECT_EQ(after("void f() { switch (x) { case 1: @a(); break; default: b(); } }"),
            "void f() { switch (x) { case 1: GONE; break; default: b(); } }");
}

TEST_F(Hidden, AStatementIsNotTakenApart) {
  EXPECT_EQ(after("void f() { if (x) @a(); else b(); c(); }"), "void f() { GONE; c(); }");
  EXPECT_EQ(after("void f() { if (@x) { a(); } else if (y) { b(); } c(); }"),
            "void f() { GONE; c(); }");
  EXPECT_EQ(after("void f() { run([&] { @a(); b(); }); c(); }"), "void f() { GONE; c(); }");
  EXPECT_EQ(after("void f() { auto g = [](int x) { return @x; }; c(); }"),
            "void f() { GONE; c(); }");
  EXPECT_EQ(after("void f() { T x = {1, @2}; c(); }"), "void f() { GONE; c(); }");
}

TEST_F(Hidden, FindsBodiesOfEveryForm) {
  EXPECT_EQ(after("template <typename T> std::vector<T> f(int (*g)(int) = nullptr) { @a(); }"),
            "template <typename T> std::vector<T> f(int (*g)(int) = nullptr) { GONE; }");
  EXPECT_EQ(after("struct A { int x; A() : x{1}, y(2) { @a(); } ~A(); };"),
            "struct A { int x; A() : x{1}, y(2) { GONE; } ~A(); };");
  EXPECT_EQ(after("A::A(int n) : x(n), y{n} { @a(); }"), "A::A(int n) : x(n), y{n} { GONE; }");
  EXPECT_EQ(after("struct __align__(16) A { void f() const { @a(); } };"),
            "struct __align__(16) A { void f() const { GONE; } };");
  EXPECT_EQ(after("namespace n { extern \"C\" { static int f() { @a(); return 1; } } }"),
            "namespace n { extern \"C\" { static int f() { GONE; return 1; } } }");
  EXPECT_EQ(after("bool operator()(int x) { @a(); } int g() { b(); }"),
            "bool operator()(int x) { GONE; } int g() { b(); }");
  EXPECT_EQ(after("struct A { bool operator==(const A&) const { @a(); } };"),
            "struct A { bool operator==(const A&) const { GONE; } };");
  EXPECT_EQ(after("struct P f(void) { @a(); }"), "struct P f(void) { GONE; }");
  EXPECT_EQ(after("auto f() -> std::pair<int, int> { @a(); }"),
            "auto f() -> std::pair<int, int> { GONE; }");
  // The constructor's initialisers have no statement: the body goes with them.
  EXPECT_EQ(after("A::A() : x(@wrong()) { a(); } int b;"), "A::A() ; int b;");
}

TEST_F(Hidden, WhatIsNoCodeIsNotReadAsSuch) {
  EXPECT_EQ(after("void f() { a(\"}\"); /* } */ b('}'); // }\n @c(); }"),
            "void f() { a(\"}\"); /* } */ b('}'); // } GONE; }");
  EXPECT_EQ(after("void f() { a(R\"x(}\")x\"); @c(); }"), "void f() { a(R\"x(}\")x\"); GONE; }");
  EXPECT_EQ(after("#define OPEN {\nvoid f() { @c(1'000, 1e-3, 0x1p+2); }"),
            "#define OPEN { void f() { GONE; }");
  EXPECT_EQ(after("#if 0\nit's {\n#endif\nvoid f() { @c(); }"),
            "#if 0 it's { #endif void f() { GONE; }");
  // Of two heads for one body one counts.
  EXPECT_EQ(after("#ifdef A\nvoid f(int) {\n#else\nvoid f() {\n#endif\n @c(); d(); } int g();"),
            "#ifdef A void f(int) { #else void f() { #endif GONE; d(); } int g();");
}

// Directives stay, or those that are left would not fit together; whichever branch is compiled must
// not be able to run.
TEST_F(Hidden, DirectivesStay) {
  EXPECT_EQ(after("void f() { @a(\n#ifdef X\n1\n#else\n2\n#endif\n); b(); }"),
            "void f() { GONE; #ifdef X GONE; #else GONE; #endif GONE; b(); }");
  EXPECT_EQ(after("void f() { @for (;;) {\n#pragma unroll\n#define N 2\n a(); } b(); }"),
            "void f() { GONE; #define N 2 GONE; b(); }");
}

TEST_F(Hidden, TryKeepsItsBlock) {
  const std::string message = "device code does not support exception handling";
  EXPECT_EQ(
      after("void f() { @try { a(); } catch (const E& e) { b(); } catch (...) { } c(); }", message),
      "void f() { {GONE; a(); } c(); }");
  EXPECT_EQ(after("void f() { if (x) @throw E(); c(); }", message), "void f() { GONE; c(); }");
  EXPECT_EQ(after("void f() @try { a(); } catch (...) { } int g();", message),
            "void f() ; int g();");
}

TEST_F(Hidden, DeclarationsForHostsGoAsAWhole) {
  EXPECT_EQ(after("int a; V @g(1.f); int b;"), "int a; int b;");
  EXPECT_EQ(after("int a; V v{@1}; int b;"), "int a; int b;");
  EXPECT_EQ(after("using P = std::@filesystem::path; int b;"), "int b;");
  EXPECT_EQ(after("void f(@path p) { a(); } int b;"), "int b;");
  EXPECT_EQ(after("template <typename T> struct A { @path p; int n; } x; int b;"), "int b;");
}

TEST_F(Hidden, WhatIsForTheDeviceStays) {
  for (const char* text :
       {"__device__ void f() { @a(); }", "__global__ void f() { @a(); }",
        "template <int n> __global__ void __launch_bounds__(n) f() { @a(); }",
        "__constant__ int x = @a();", "constexpr int f() { return @a(); }",
        "struct A { __device__ void f(); int @x; };", "struct A { __device__ void f() { @a(); } };",
        "template <> struct A<int> { wrong @x; };", "#line 7\nvoid f() { @a(); }", "int b; @}"}) {
    hide_at_mark(text);
    EXPECT_FALSE(worked_) << text;
    EXPECT_FALSE(hidden_.is_changed(kFile)) << text;
  }
  // One for both sides is called by kernels or not: the linker tells.
  EXPECT_EQ(after("__host__ __device__ int f() { @a(); return 1; }"),
            "__host__ __device__ int f() { GONE; return 1; }");
}

TEST_F(Hidden, WhatIsUndefinedGoesWhereverItIsNamed) {
  EXPECT_EQ(after("void f() { @a(n); b(); if (x) { c[n] = 1; d(); } p.n = 2; }",
                  "identifier \"n\" is undefined"),
            "void f() { GONE; b(); if (x) { GONE; d(); } p.n = 2; }");
}

TEST_F(Hidden, WhatFailsAgainGoesInLargerParts) {
  const std::string text = "void f() { a(); b(); c(); d(); }\nint g;";
  hidden_.add_file(kFile, "/folder/k.cu", text);
  // Columns are those of the text that the compiler read last.
  const auto column_of = [&](std::string_view what) {
    return static_cast<int>(hidden_.text(kFile).find(what)) + 1;
  };
  for (const char* what : {"a()", "b()", "c()"}) {
    EXPECT_TRUE(hidden_.hide(error_at(1, column_of(what), "wrong")));
    hidden_.next_round();
    EXPECT_EQ(hidden_.text(kFile).find(what), std::string::npos) << what;
  }
  EXPECT_NE(hidden_.text(kFile).find("d()"), std::string::npos);
  EXPECT_TRUE(hidden_.hide(error_at(1, column_of("d()"), "wrong")));
  hidden_.next_round();
  EXPECT_EQ(hidden_.text(kFile).find('{'), std::string::npos);
  EXPECT_TRUE(hidden_.touches({kFile, 1, 2}));
  EXPECT_FALSE(hidden_.touches({kFile, 2, 1}));
  // What is gone and still wrong is wrong for another reason.
  EXPECT_FALSE(hidden_.hide(error_at(1, 12, "wrong")));
}

TEST_F(Hidden, InstantiationsAreHiddenWhereTheyBegin) {
  hidden_.add_file(kFile, "/folder/k.cu", "void f() {\n  a();\n  b();\n}\n");
  Diagnostic error = error_at(9, 1, "wrong");
  error.where.file = "vector";
  error.details = {
      "          detected during instantiation of \"T<X>\" at line 3 of \"/folder/k.cu\""};
  EXPECT_TRUE(hidden_.hide(error));
  hidden_.next_round();
  EXPECT_NE(hidden_.text(kFile).find("a()"), std::string::npos);
  EXPECT_EQ(hidden_.text(kFile).find("b()"), std::string::npos);
  error.details.clear();
  EXPECT_FALSE(hidden_.hide(error));
}

TEST_F(Hidden, CompoundLiteralsBecomeCastsOfCpp) {
  const std::string message = "expected an expression";
  EXPECT_EQ(after("__device__ void f() { x = (T2)@{a, b}; }", message),
            "__device__ void f() { x = T2 {a, b}; }");
  EXPECT_EQ(after("__device__ void f() { x = (struct n::V<int>)@{2}; }", message),
            "__device__ void f() { x = n::V<int> {2}; }");
  hide_at_mark("__device__ void f() { x = (unsigned char)@{a}; }", message);
  EXPECT_FALSE(worked_);
}

TEST_F(Hidden, HostFunctionsBecomeInline) {
  hidden_.add_file(kFile, kFile,
                   "void f() {}\nextern \"C\" int g() {}\ntemplate <> void h<int>() {}\n"
                   "__global__ void k() {}\nconstexpr int c() {}\nstruct A { void m() {} };\n"
                   "namespace n { int i() {} }\n");
  hidden_.make_host_functions_inline(false);
  hidden_.next_round();
  EXPECT_EQ(
      hidden_.text(kFile),
      "inline void f() {}\nextern \"C\" inline int g() {}\ntemplate <> inline void h<int>() {}"
      "\n__global__ void k() {}\nconstexpr int c() {}\nstruct A { void m() {} };\n"
      "namespace n { inline int i() {} }\n");
}

}  // namespace
}  // namespace baton::compiler::hidden_code_test
