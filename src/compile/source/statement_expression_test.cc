#include "compile/source/statement_expression.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compile/source/macros.h"

namespace baton::compiler::statement_expression_test {
namespace {

std::string as_lambdas(std::string text) {
  const auto found =
      lambdas_for_statement_expressions(text, [](std::string_view word, bool may_be_statement) {
        return word == "LEAVE" || (word == "given" && may_be_statement);
      });
  std::size_t shift = 0;
  for (const Insertion& each : found) {
    text.insert(each.at + shift, each.text);
    shift += each.text.size();
  }
  return text;
}

TEST(StatementExpression, BecomesALambda) {
  EXPECT_EQ(as_lambdas("({ int a = (x); a < 2 ? a : 2; })"),
            "([&]{ int a = (x); return a < 2 ? a : 2; }())");
  EXPECT_EQ(as_lambdas("y = ({ if (x) { f(x); } x[0]; });"),
            "y = ([&]{ if (x) { f(x); } return x[0]; }());");
  EXPECT_EQ(as_lambdas("({ int s = 0; for (;;) { break; } s; })"),
            "([&]{ int s = 0; for (;;) { break; } return s; }())");
}

TEST(StatementExpression, WithoutAValueReturnsNothing) {
  EXPECT_EQ(as_lambdas("({ if (x) f(x); })"), "([&]{ if (x) f(x); }())");
  EXPECT_EQ(as_lambdas("({ if (x) f(x); else g(x); })"), "([&]{ if (x) f(x); else g(x); }())");
  EXPECT_EQ(as_lambdas("({ do f(x); while (x); })"), "([&]{ do f(x); while (x); }())");
}

TEST(StatementExpression, ThatMayLeaveTheFunctionStays) {
  for (const std::string text :
       {"({ if (x) return 1; x; })", "({ LEAVE(x); x; })", "({ given; 1; })"}) {
    EXPECT_EQ(as_lambdas(text), text);
  }
}

TEST(StatementExpression, WordsInBracketsAreNoStatements) {
  EXPECT_EQ(as_lambdas("({ int a = (given); a; })"), "([&]{ int a = (given); return a; }())");
}

TEST(StatementExpression, IsNoListOfInitialisers) {
  for (const std::string text : {"f({1, 2})", "f({a, {b, c}})", "f({}, 1)", "({ int x = 1;"}) {
    EXPECT_EQ(as_lambdas(text), text);
  }
}

TEST(Macros, Definitions) {
  EXPECT_EQ(macro_definition("#define MIN(a, b) ({ a; })").name, "MIN");
  EXPECT_EQ(macro_definition("#define MIN(a, b) ({ a; })").body, 17u);
  EXPECT_EQ(macro_definition("#define MIN(a, b) ({ a; })").parameters, "a, b");
  EXPECT_EQ(macro_definition("# define N 3").name, "N");
  EXPECT_EQ(macro_definition("#undef N").name, "");
  EXPECT_EQ(macro_definition("#").name, "");
}

TEST(Macros, WhatTheCompilerRefuses) {
  const std::string_view literal = "x = (T){1, 2}";
  const std::vector<TextRange> parts = compound_literals(literal);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(literal.substr(parts[0].begin, 1), "(");
  EXPECT_EQ(literal.substr(parts[1].begin, 1), ")");

  const std::string_view leaves = "if (x) throw bad(\"}\"); else { throw; } c ? throw 1 : 2;";
  std::vector<std::string_view> found;
  for (const TextRange& each : throw_statements(leaves)) {
    found.push_back(leaves.substr(each.begin, each.end - each.begin));
  }
  EXPECT_EQ(found, (std::vector<std::string_view>{"throw bad(\"}\");", "throw;"}));
  EXPECT_TRUE(throw_statements("throw bad( \\\n 1);").empty());
}

}  // namespace
}  // namespace baton::compiler::statement_expression_test
