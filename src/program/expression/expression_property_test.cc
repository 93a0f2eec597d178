#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <optional>
#include <string>
#include <vector>

#include "baton/program.h"
#include "program/expression/expression_code.h"

// Random expressions against the same arithmetic in 128 bits, where nothing overflows at one step.

namespace baton::expression_property_test {
namespace {

__extension__ using Wide = __int128;

const std::vector<std::string> kNames = {"A", "B", "C"};

// An expression as text with its value, or none where a step overflows or divides by zero.
struct Sample {
  std::string text;
  std::optional<Wide> value;
};

std::optional<Wide> fit(Wide value) {
  if (value > INT64_MAX || value < INT64_MIN) return std::nullopt;
  return value;
}

Wide floor_quotient(Wide a, Wide b) {
  const Wide quotient = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

std::optional<Wide> apply(int op, Wide a, Wide b) {
  switch (op) {
    case 0:
      return fit(a + b);
    case 1:
      return fit(a - b);
    case 2:
      return fit(a * b);
    case 3:
    case 4:
      if (b == 0) return std::nullopt;
      return fit(floor_quotient(a, b));
    case 5:
      if (b == 0) return std::nullopt;
      return fit(a - b * floor_quotient(a, b));
    case 6:
      if (b == 0) return std::nullopt;
      return fit(-floor_quotient(-a, b));
    case 7:
      return a < b ? a : b;
    default:
      return a > b ? a : b;
  }
}

std::string write(int op, const std::string& a, const std::string& b) {
  static const char* const kOperators[] = {" + ", " - ", "*", "/"};
  static const char* const kFunctions[] = {"floordiv", "", "ceildiv", "min", "max"};
  if (op < 4) return "(" + a + ")" + kOperators[op] + "(" + b + ")";
  if (op == 5) return "(" + a + ") % (" + b + ")";
  return std::string(kFunctions[op - 4]) + "(" + a + ", " + b + ")";
}

Sample sample(const std::vector<std::int64_t>& values, int depth) {
  const int choice = *rc::gen::inRange(0, depth > 0 ? 12 : 2);
  if (choice == 0) {
    const std::int64_t literal = *rc::gen::arbitrary<std::int64_t>();
    return {std::to_string(literal), literal};
  }
  if (choice == 1) {
    const auto index = *rc::gen::inRange<std::size_t>(0, kNames.size());
    return {kNames[index], values[index]};
  }
  const Sample a = sample(values, depth - 1);
  if (choice == 2) return {"-(" + a.text + ")", a.value ? fit(-*a.value) : std::nullopt};
  const Sample b = sample(values, depth - 1);
  const int op = choice - 3;
  return {write(op, a.text, b.text),
          a.value && b.value ? apply(op, *a.value, *b.value) : std::nullopt};
}

std::vector<std::int64_t> some_values() {
  // Small ones meet zero and divide evenly, large ones overflow.
  const auto value =
      rc::gen::oneOf(rc::gen::inRange<std::int64_t>(-5, 6), rc::gen::arbitrary<std::int64_t>(),
                     rc::gen::element<std::int64_t>(INT64_MIN, INT64_MAX, -1, 0, 1));
  return {*value, *value, *value};
}

std::vector<std::int64_t> values_for(const ExpressionCode& code,
                                     const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> result;
  for (const std::string& name : code.names) {
    result.push_back(values[static_cast<std::size_t>(name[0] - 'A')]);
  }
  return result;
}

void expect_property(const std::function<void()>& property) {
  EXPECT_TRUE(rc::check(property));
}

TEST(ExpressionProperty, MatchesWideArithmetic) {
  expect_property([] {
    const std::vector<std::int64_t> values = some_values();
    const Sample expected = sample(values, 4);
    const Expression expression(expected.text);
    std::optional<Wide> got;
    try {
      got = expression.code()->evaluate(values_for(*expression.code(), values));
    } catch (const Error& failure) {
      RC_ASSERT(failure.code() == ErrorCode::kInvalidInput);
    }
    RC_ASSERT(got.has_value() == expected.value.has_value());
    if (got) RC_ASSERT(*got == *expected.value);
  });
}

TEST(ExpressionProperty, SolutionsSolve) {
  expect_property([] {
    const std::vector<std::int64_t> values = some_values();
    const Sample chosen = sample(values, 3);
    const Expression expression(chosen.text);
    const ExpressionCode& code = *expression.code();
    if (code.names.empty()) return;
    std::vector<std::int64_t> known = values_for(code, values);
    const std::int64_t result = *rc::gen::inRange<std::int64_t>(-1000, 1000);
    const auto solution = solve_for(code, 0, known, result);
    if (!solution) return;
    known[0] = *solution;
    try {
      RC_ASSERT(code.evaluate(known) == result);
    } catch (const Error&) {
      // A linear form may hold where a step on the way overflows.
    }
  });
}

TEST(ExpressionProperty, TextComesBackThroughTheOperators) {
  expect_property([] {
    const std::vector<std::int64_t> values = some_values();
    const Expression a(sample(values, 2).text);
    const Expression b(sample(values, 2).text);
    RC_ASSERT((a + b) == Expression("(" + a.text() + ") + (" + b.text() + ")"));
    RC_ASSERT((a - b) == Expression("(" + a.text() + ") - (" + b.text() + ")"));
    RC_ASSERT((a * b) == Expression("(" + a.text() + ") * (" + b.text() + ")"));
    RC_ASSERT((a / b) == Expression("(" + a.text() + ") / (" + b.text() + ")"));
    RC_ASSERT((a % b) == Expression("(" + a.text() + ") % (" + b.text() + ")"));
  });
}

}  // namespace
}  // namespace baton::expression_property_test
