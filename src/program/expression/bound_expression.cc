#include "program/expression/bound_expression.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace baton {

std::uint32_t NameSlots::slot(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) throw error(ErrorCode::kInternal, "the name {} has no slot", name);
  return static_cast<std::uint32_t>(found - names_.begin());
}

BoundExpression::BoundExpression(std::shared_ptr<const ExpressionCode> code, const NameSlots& names)
    : code_(std::move(code)) {
  for (const std::string& name : code_->names) slots_.push_back(names.slot(name));
}

template <typename T>
T BoundExpression::gather(std::span<const std::int64_t> slots,
                          T (ExpressionCode::*compute)(std::span<const std::int64_t>) const) const {
  std::array<std::int64_t, 16> few;
  std::vector<std::int64_t> many;
  std::span<std::int64_t> values = few;
  if (slots_.size() > few.size()) {
    many.resize(slots_.size());
    values = many;
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) values[i] = slots[slots_[i]];
  return (*code_.*compute)(values.first(slots_.size()));
}

template std::int64_t BoundExpression::gather(
    std::span<const std::int64_t>,
    std::int64_t (ExpressionCode::*)(std::span<const std::int64_t>) const) const;
template double BoundExpression::gather(std::span<const std::int64_t>,
                                        double (ExpressionCode::*)(std::span<const std::int64_t>)
                                            const) const;

std::string BoundExpression::values_text(std::span<const std::int64_t> slots) const {
  std::vector<std::int64_t> values;
  for (const std::uint32_t slot : slots_) values.push_back(slots[slot]);
  return code_->values_in(code_->nodes.back(), values);
}

bool BoundExpression::uses_slot(std::size_t slot) const {
  return std::find(slots_.begin(), slots_.end(), slot) != slots_.end();
}

}  // namespace baton
