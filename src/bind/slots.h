#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "program/expression/bound_expression.h"

namespace baton::bind {

// The values of the symbols, then of the indexes of the open groups, by slot.
using Slots = std::span<const std::int64_t>;

// Throws kInvalidInput at an expression, with the values of its names.
template <typename... Args>
[[noreturn]] void fail_at(const BoundExpression& expression, Slots slots,
                          fmt::format_string<Args...> format, Args&&... args) {
  const ExpressionCode& code = expression.code();
  throw error_at(code.where, ErrorCode::kInvalidInput, "{}{}",
                 fmt::format(format, std::forward<Args>(args)...), expression.values_text(slots));
}

inline std::optional<BoundExpression> bind_expression(const std::optional<Expression>& expression,
                                                      const NameSlots& names) {
  if (!expression) return std::nullopt;
  return BoundExpression(expression->code(), names);
}

inline bool uses_slot(const std::optional<BoundExpression>& expression, std::size_t slot) {
  return expression && expression->uses_slot(slot);
}

inline bool uses_slot(const std::vector<BoundExpression>& expressions, std::size_t slot) {
  for (const BoundExpression& expression : expressions) {
    if (expression.uses_slot(slot)) return true;
  }
  return false;
}

}  // namespace baton::bind
