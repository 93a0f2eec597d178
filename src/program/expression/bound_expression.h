#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "baton/program.h"
#include "program/expression/expression_code.h"

namespace baton {

// Where names live while a program runs: one slot for each symbol, then one for each open repeat.
class NameSlots {
 public:
  // Throws kInternal for a name that Program's checks would have refused.
  std::uint32_t slot(const std::string& name) const;
  std::uint32_t push(std::string name) {
    names_.push_back(std::move(name));
    return static_cast<std::uint32_t>(names_.size() - 1);
  }
  void pop() { names_.pop_back(); }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

// An expression with its names resolved to slots: what is evaluated again and again. Immutable.
class BoundExpression {
 public:
  BoundExpression() = default;
  BoundExpression(std::shared_ptr<const ExpressionCode> code, const NameSlots& names);

  // `slots` holds a value for each slot. Throw as ExpressionCode's own do.
  std::int64_t evaluate(std::span<const std::int64_t> slots) const {
    return code_->nodes.size() == 1 ? single(slots) : gather(slots, &ExpressionCode::evaluate);
  }
  double evaluate_float(std::span<const std::int64_t> slots) const {
    return gather(slots, &ExpressionCode::evaluate_float);
  }

  bool uses_slot(std::size_t slot) const;
  // " (N = 1024, K = 0)", or nothing where it has no names.
  std::string values_text(std::span<const std::int64_t> slots) const;
  const ExpressionCode& code() const { return *code_; }

 private:
  std::int64_t single(std::span<const std::int64_t> slots) const {
    const ExpressionCode::Node& node = code_->nodes[0];
    return node.op == ExpressionCode::Op::kName ? slots[slots_[0]] : node.value;
  }
  template <typename T>
  T gather(std::span<const std::int64_t> slots,
           T (ExpressionCode::*compute)(std::span<const std::int64_t>) const) const;

  std::shared_ptr<const ExpressionCode> code_;
  std::vector<std::uint32_t> slots_;  // of each of the code's names
};

}  // namespace baton
