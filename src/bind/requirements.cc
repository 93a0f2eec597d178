#include "bind/requirements.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/text/text.h"

namespace baton::bind {
namespace {

bool holds(Relation relation, std::int64_t left, std::int64_t right) {
  switch (relation) {
    case Relation::kEqual:
      return left == right;
    case Relation::kNotEqual:
      return left != right;
    case Relation::kLess:
      return left < right;
    case Relation::kLessOrEqual:
      return left <= right;
    case Relation::kGreater:
      return left > right;
    case Relation::kGreaterOrEqual:
      return left >= right;
  }
  return false;
}

// " and POS + STEPS is 70"; nothing for a number, which the requirement shows.
std::string side_text(const BoundExpression& side, std::int64_t value, std::string_view before) {
  if (side.code().literal()) return {};
  return fmt::format("{}{} is {}", before, printable(side.code().text), value);
}

}  // namespace

Requirements::Requirements(const Program& program) {
  NameSlots names;
  for (const ProgramSymbol& symbol : program.symbols()) names.push(symbol.name);
  for (const Requirement& requirement : program.requirements()) {
    all_.push_back(
        {requirement, {requirement.left.code(), names}, {requirement.right.code(), names}});
  }
}

void Requirements::check(std::span<const std::int64_t> symbols) const {
  for (const auto& [requirement, left, right] : all_) {
    const std::int64_t got = left.evaluate(symbols);
    const std::int64_t bound = right.evaluate(symbols);
    if (holds(requirement.relation, got, bound)) continue;
    const std::string first = side_text(left, got, "");
    const std::string second = side_text(right, bound, first.empty() ? "" : " and ");
    std::string values;
    for (const BoundExpression* side : {&left, &right}) {
      if (side->code().nodes.size() == 1) continue;  // a name has its value already
      const std::string part = side->values_text(symbols);
      if (values.find(part) == std::string::npos) values += part;
    }
    throw error_at(requirement.where, ErrorCode::kInvalidInput,
                   "the program requires {}{}{}{}{}{}; give its symbols other values",
                   printable(requirement.text()),
                   requirement.name.empty() ? "" : " (" + printable(requirement.name) + ")",
                   first.empty() && second.empty() ? "" : ", but ", first, second, values);
  }
}

}  // namespace baton::bind
