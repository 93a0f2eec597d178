#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "baton/program.h"
#include "program/expression/expression_code.h"

namespace baton::expression_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::int64_t evaluate(const Expression& expression, std::vector<std::int64_t> values = {}) {
  return expression.code()->evaluate(values);
}

double evaluate(const FloatExpression& expression, std::vector<std::int64_t> values = {}) {
  return expression.code()->evaluate_float(values);
}

// What an expression is refused with, and where.
Error refusal(const std::string& text, std::vector<std::int64_t> values = {}) {
  try {
    evaluate(Expression(text, {"p.toml", 3, 10}), std::move(values));
  } catch (const Error& failure) {
    return failure;
  }
  ADD_FAILURE() << text << " was not refused";
  return Error(ErrorCode::kInternal, "");
}

TEST(Expression, NumbersAreSigned) {
  EXPECT_EQ(Expression(std::uint64_t{9223372036854775807u}).literal(), 9223372036854775807);
  try {
    const Expression expression(std::uint64_t{9223372036854775808u});
    FAIL() << *expression.literal();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(failure.what(), HasSubstr("the number 9223372036854775808 is greater than "
                                          "9223372036854775807"));
  }
}

TEST(Expression, Precedence) {
  EXPECT_EQ(evaluate("2 + 3 * 4"), 14);
  EXPECT_EQ(evaluate("(2 + 3) * 4"), 20);
  EXPECT_EQ(evaluate("20 - 3 - 4"), 13);
  EXPECT_EQ(evaluate("100 / 7 / 2"), 7);
  EXPECT_EQ(evaluate("100 / (7 / 2)"), 33);
  EXPECT_EQ(evaluate("7 % 4 * 2"), 6);
  EXPECT_EQ(evaluate("-2 * -3"), 6);
  EXPECT_EQ(evaluate("- - 5"), 5);
  EXPECT_EQ(evaluate("2 - -3"), 5);
  EXPECT_EQ(evaluate(" \t\n7\r\n "), 7);
}

TEST(Expression, DivisionRoundsDownAndTheRemainderTakesTheDivisorsSign) {
  EXPECT_EQ(evaluate("-7 / 2"), -4);
  EXPECT_EQ(evaluate("-7 % 2"), 1);
  EXPECT_EQ(evaluate("7 / -2"), -4);
  EXPECT_EQ(evaluate("7 % -2"), -1);
  EXPECT_EQ(evaluate("floordiv(-7, 2)"), -4);
  EXPECT_EQ(evaluate("ceildiv(-7, 2)"), -3);
  EXPECT_EQ(evaluate("ceildiv(7, 2)"), 4);
  EXPECT_EQ(evaluate("ceildiv(8, 2)"), 4);
  EXPECT_EQ(evaluate("ceildiv(7, -2)"), -3);
}

TEST(Expression, MinAndMaxTakeTwoOrMore) {
  EXPECT_EQ(evaluate("min(3, 1, 2)"), 1);
  EXPECT_EQ(evaluate("max(3, 1, 2, 9)"), 9);
  EXPECT_EQ(evaluate("min(max(1, 2), 5 * 3)"), 2);
}

TEST(Expression, NamesAreListedOnceInOrder) {
  const Expression expression("N * K + N - layer_2");
  EXPECT_THAT(expression.names(), ElementsAre("N", "K", "layer_2"));
  EXPECT_EQ(evaluate(expression, {2, 3, 4}), 4);
}

TEST(Expression, LiteralsCoverSixtyFourBits) {
  EXPECT_EQ(evaluate("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(evaluate("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(evaluate("9223372036854775807 + -9223372036854775808"), -1);
  EXPECT_EQ(Expression(INT64_MIN).literal(), INT64_MIN);
  EXPECT_EQ(Expression("(42)").literal(), 42);
  EXPECT_EQ(Expression("-42").literal(), -42);
  EXPECT_EQ(Expression("N").literal(), std::nullopt);
  EXPECT_EQ(Expression("1 + 1").literal(), std::nullopt);
}

struct Refused {
  const char* text;
  int column;  // the text starts at 10
  const char* message;
};

void PrintTo(const Refused& refused, std::ostream* out) {
  *out << '"' << refused.text << '"';
}

class ExpressionSyntax : public ::testing::TestWithParam<Refused> {};

TEST_P(ExpressionSyntax, IsRefusedAtTheCharacter) {
  const Refused& expected = GetParam();
  const Error failure = refusal(expected.text);
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(failure.message(), HasSubstr(expected.message));
  EXPECT_EQ(failure.where().line, 3);
  EXPECT_EQ(failure.where().column, expected.column) << failure.what();
}

INSTANTIATE_TEST_SUITE_P(
    All, ExpressionSyntax,
    ::testing::Values(
        Refused{"", 10, "the expression is empty"}, Refused{"  ", 10, "the expression is empty"},
        Refused{"1 +", 13, "expected a number, a name or \"(\", found the end"},
        Refused{"N * * K", 14, "found \"*\""}, Refused{"(N", 12, "expected \")\", found the end"},
        Refused{"N)", 11, "expected an operator or the end, found \")\""},
        Refused{"N K", 12, "expected an operator or the end, found \"K\""},
        Refused{"2N", 11, "found \"N\""}, Refused{"N $ 2", 12, "found \"$\""},
        Refused{"N × 2", 12, "found \"×\""}, Refused{"1.5", 10, "1.5 is not an integer"},
        Refused{"N + 1e3", 14, "1e3 is not an integer"},
        Refused{"9223372036854775808", 10, "does not fit 64 bits"},
        Refused{"-9223372036854775809", 10, "does not fit 64 bits"},
        Refused{"min(1)", 10, "min takes two or more arguments, 1 was given"},
        Refused{"ceildiv(1)", 10, "ceildiv takes 2 arguments, 1 was given"},
        Refused{"ceildiv(1, 2, 3)", 10, "ceildiv takes 2 arguments, 3 were given"},
        Refused{"cieldiv(1, 2)", 10, "did you mean \"ceildiv\"?"},
        Refused{"sqrt(4)", 10, "sqrt is known in float expressions only"},
        Refused{"min", 10, "the function min has no arguments"},
        Refused{"min(1, 2", 18, "expected \",\" or \")\", found the end"}));

TEST(Expression, EvaluationErrorsNameThePartAndItsValues) {
  Error failure = refusal("1 + N / K", {1024, 0});
  EXPECT_EQ(failure.message(), "N / K: division by zero (N = 1024, K = 0)");
  EXPECT_EQ(failure.where().to_string(), "p.toml:3:14");
  EXPECT_THAT(refusal("N % (K - K)", {1, 5}).message(),
              HasSubstr("N % (K - K): division by zero (N = 1, K = 5)"));
  EXPECT_THAT(refusal("ceildiv(N, 0)", {1}).message(), HasSubstr("division by zero (N = 1)"));
  EXPECT_THAT(refusal("N * N", {INT64_C(1) << 32}).message(),
              HasSubstr("N * N: the result does not fit 64 bits (N = 4294967296)"));
  EXPECT_THAT(refusal("-N", {INT64_MIN}).message(), HasSubstr("does not fit"));
  EXPECT_THAT(refusal("N / -1", {INT64_MIN}).message(), HasSubstr("does not fit"));
  EXPECT_THAT(refusal("N + 1", {INT64_MAX}).message(), HasSubstr("does not fit"));
  EXPECT_THAT(refusal("N - 1", {INT64_MIN}).message(), HasSubstr("does not fit"));
  EXPECT_EQ(evaluate("N % -1", {INT64_MIN}), 0);
}

TEST(Expression, NestingAndLengthAreBounded) {
  const auto nested = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '(') + '1' +
           std::string(static_cast<std::size_t>(levels), ')');
  };
  EXPECT_EQ(evaluate(nested(60)), 1);
  EXPECT_THAT(refusal(nested(61)).message(), HasSubstr("nested deeper than 60"));
  // The most values that can wait at 60 levels.
  std::string widest;
  for (int i = 0; i < 60; ++i) widest += "1+1*min(1,";
  EXPECT_EQ(evaluate(widest + "1" + std::string(60, ')')), 2);
  std::string sum = "0";
  while (sum.size() < 4000) sum += "+1";
  EXPECT_EQ(evaluate(sum), static_cast<std::int64_t>(sum.size() / 2));
  EXPECT_THAT(refusal(std::string(5000, '1')).message(), HasSubstr("longer than the limit"));
}

TEST(Expression, EqualityIsThatOfStructure) {
  EXPECT_EQ(Expression("N*(K)"), Expression(" N * K "));
  EXPECT_EQ(Expression("(N + 1) * 2"), Expression("(N+1)*2"));
  EXPECT_FALSE(Expression("N + K") == Expression("K + N"));
  EXPECT_FALSE(Expression("N + 1 * 2") == Expression("(N + 1) * 2"));
  EXPECT_EQ(Expression(5), Expression("5"));
}

TEST(Expression, BuiltInCpp) {
  const Expression n = symbol("N");
  const Expression k = symbol("K");
  EXPECT_EQ((n + 1) * k, Expression("(N + 1) * K"));
  EXPECT_EQ(n - (k - 1), Expression("N - (K - 1)"));
  EXPECT_EQ(n - k - 1, Expression("N - K - 1"));
  EXPECT_EQ(n / (k * 2), Expression("N / (K * 2)"));
  EXPECT_EQ(n % k / 2, Expression("N % K / 2"));
  EXPECT_EQ(-(n + k), Expression("-(N + K)"));
  EXPECT_EQ(-n * 2, Expression("-N * 2"));
  EXPECT_EQ(2 - Expression(-3), Expression("2 - -3"));
  EXPECT_EQ(min(n, max(k, 2)), Expression("min(N, max(K, 2))"));
  EXPECT_EQ(ceildiv(n, 256) + floordiv(k, 2), Expression("ceildiv(N, 256) + floordiv(K, 2)"));
  EXPECT_EQ(((n + 1) * k).text(), "(N + 1) * K");
}

TEST(FloatExpression, ComputesInDouble) {
  EXPECT_EQ(evaluate(FloatExpression("1/sqrt(K)"), {64}), 0.125);
  EXPECT_EQ(evaluate(FloatExpression("1 / 3")), 1.0 / 3.0);
  EXPECT_EQ(evaluate(FloatExpression("2.5e-1 + .5")), 0.75);
  EXPECT_EQ(evaluate(FloatExpression("exp(0) + log(1) + pow(2, 10)")), 1025.0);
  EXPECT_EQ(evaluate(FloatExpression("-7 % 2")), 1.0);
  EXPECT_EQ(evaluate(FloatExpression("floordiv(7, 2) + ceildiv(7, 2)")), 7.0);
  EXPECT_EQ(evaluate(FloatExpression("min(1.5, K)"), {2}), 1.5);
  EXPECT_EQ(evaluate(FloatExpression("-1e-5")), -1e-5);
}

TEST(FloatExpression, RefusesWhatIsNoNumber) {
  const auto message = [](const char* text, std::vector<std::int64_t> values) -> std::string {
    try {
      evaluate(FloatExpression(text), std::move(values));
    } catch (const Error& failure) {
      return failure.message();
    }
    return "none";
  };
  EXPECT_THAT(message("1/K", {0}), HasSubstr("1/K: division by zero (K = 0)"));
  EXPECT_THAT(message("sqrt(K)", {-1}), HasSubstr("not a number (K = -1)"));
  EXPECT_THAT(message("log(K)", {0}), HasSubstr("not a number"));
  EXPECT_THAT(message("exp(K)", {1000}), HasSubstr("not a number"));
  EXPECT_THAT(message("1e400", {}), HasSubstr("does not fit a double"));
}

TEST(SolveFor, LinearExpressions) {
  const auto solve = [](const char* text, std::vector<std::int64_t> values, std::int64_t result) {
    return solve_for(*Expression(text).code(), 0, values, result);
  };
  EXPECT_EQ(solve("K", {0}, 7), 7);
  EXPECT_EQ(solve("2*K", {0}, 14), 7);
  EXPECT_EQ(solve("K*2 + 1", {0}, 15), 7);
  EXPECT_EQ(solve("K*N + N", {0, 3}, 24), 7);
  EXPECT_EQ(solve("10 - K", {0}, 3), 7);
  EXPECT_EQ(solve("-K", {0}, -7), 7);
  EXPECT_EQ(solve("2*K", {0}, 15), std::nullopt);
  EXPECT_EQ(solve("K*K", {0}, 49), std::nullopt);
  EXPECT_EQ(solve("K/2", {0}, 3), std::nullopt);
  EXPECT_EQ(solve("K - K", {0}, 0), std::nullopt);
  EXPECT_EQ(solve("K*N", {0, 0}, 0), std::nullopt);
  EXPECT_EQ(solve("K * 9223372036854775807 * 9223372036854775807", {0}, 1), std::nullopt);
  // Sums of products that do not fit, which a sanitizer sees overflow.
  EXPECT_EQ(solve("K + A*A + A*A", {0, INT64_MIN}, 1), std::nullopt);
  EXPECT_EQ(solve("K - A*A - A*A - A*A", {0, INT64_MIN}, 1), std::nullopt);
}

TEST(Names, Identifiers) {
  EXPECT_TRUE(is_identifier("layer_2"));
  EXPECT_TRUE(is_identifier("_x"));
  EXPECT_TRUE(is_identifier("expand"));
  EXPECT_FALSE(is_identifier("exp"));
  EXPECT_FALSE(is_identifier("2x"));
  EXPECT_FALSE(is_identifier("a-b"));
  EXPECT_FALSE(is_identifier(""));
  EXPECT_EQ(leading_word("exp_data + 4"), "exp_data");
}

}  // namespace
}  // namespace baton::expression_test
