#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "baton/error.h"
#include "baton/export.h"

namespace baton {

class ExpressionCode;

// An integer expression over symbols and indexes, such as "ceildiv(N, 256)": 64-bit signed, checked
// for overflow. An immutable, cheap value. Thread-safe.
class BATON_API Expression {
 public:
  // A literal. Throws kInvalidInput for an unsigned value above 2^63 - 1.
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  Expression(T value)  // NOLINT: implicit by design
      : Expression(Literal{}, literal_of(value)) {}
  // Parses a text. `where` is the place of its first character, for messages. Throws kInvalidInput
  // with the place inside the text.
  Expression(std::string_view text, SourceLocation where = {});  // NOLINT: implicit by design
  Expression(const char* text) : Expression(std::string_view(text)) {}         // NOLINT
  Expression(const std::string& text) : Expression(std::string_view(text)) {}  // NOLINT

  const std::string& text() const;
  const SourceLocation& where() const;
  // The value if the expression is a literal number.
  std::optional<std::int64_t> literal() const;
  // The names in the expression, each once, in order of appearance.
  const std::vector<std::string>& names() const;

  const std::shared_ptr<const ExpressionCode>& code() const { return code_; }

  // Equal in structure: spaces and redundant parentheses do not count.
  BATON_API friend bool operator==(const Expression& a, const Expression& b);

  // In C++: ceildiv(symbol("N"), 256) * 2. `/` is floor division, `%` its remainder.
  BATON_API friend Expression operator+(const Expression& a, const Expression& b);
  BATON_API friend Expression operator-(const Expression& a, const Expression& b);
  BATON_API friend Expression operator*(const Expression& a, const Expression& b);
  BATON_API friend Expression operator/(const Expression& a, const Expression& b);
  BATON_API friend Expression operator%(const Expression& a, const Expression& b);
  BATON_API friend Expression operator-(const Expression& a);
  BATON_API friend Expression min(const Expression& a, const Expression& b);
  BATON_API friend Expression max(const Expression& a, const Expression& b);
  BATON_API friend Expression ceildiv(const Expression& a, const Expression& b);
  BATON_API friend Expression floordiv(const Expression& a, const Expression& b);

 private:
  struct Literal {};
  Expression(Literal, std::int64_t value);
  template <typename T>
  static std::int64_t literal_of(T value) {
    if constexpr (std::is_unsigned_v<T>) require_signed(value);
    return static_cast<std::int64_t>(value);
  }
  static void require_signed(std::uint64_t value);
  explicit Expression(std::shared_ptr<const ExpressionCode> code) : code_(std::move(code)) {}
  std::shared_ptr<const ExpressionCode> code_;
};

// Returns the expression that is the name of a symbol or an index.
BATON_API Expression symbol(std::string_view name);

// An argument expression in double precision, such as "1/sqrt(K)". `/` is division, and sqrt, exp,
// log and pow are available. An immutable, cheap value. Thread-safe.
class BATON_API FloatExpression {
 public:
  FloatExpression(std::string_view text, SourceLocation where = {});  // NOLINT: implicit by design

  const std::string& text() const;
  const SourceLocation& where() const;
  const std::vector<std::string>& names() const;
  const std::shared_ptr<const ExpressionCode>& code() const { return code_; }

  BATON_API friend bool operator==(const FloatExpression& a, const FloatExpression& b);

 private:
  std::shared_ptr<const ExpressionCode> code_;
};

}  // namespace baton
