// The part of AccessRanges that looks at more than one instruction: selections by the launch's
// numbers, and rests of divisions.

#include "pdl/footprint/access_ranges.h"
#include "pdl/footprint/followed_compute.h"

namespace baton::overlap {

// Of a selection, the operand that the launch's numbers choose.
std::optional<std::size_t> AccessRanges::chosen_operand(const Operation& operation) {
  const bool selects = is_plain_compute(operation) && operation.instruction->opcode == "selp" &&
                       operation.sources.size() == 3 && !has_negated_operand(operation) &&
                       operation.sources[2].kind == ValueSource::Kind::kRegister;
  if (!selects) return std::nullopt;
  const Register predicate = operation.sources[2].id;
  if (!graph_.is_single(predicate) || code_.unset[predicate]) return std::nullopt;
  const Place comparison = graph_.definitions(predicate)[0];
  const Operation& setp = code_.operations[comparison];
  const bool compares = is_plain_compute(setp) && setp.instruction->opcode == "setp" &&
                        setp.sources.size() == 2 && !has_negated_operand(setp);
  if (!compares) return std::nullopt;
  const Found left = source_at(setp.sources[0], comparison, comparison);
  const Found right = source_at(setp.sources[1], comparison, comparison);
  if (!left || !right || left->memory || right->memory) return std::nullopt;
  const auto is_possible = [&](bool holds) {
    const auto range = restricted(setp, holds, false, left->range, right->range);
    return !range || !range->is_empty();
  };
  if (!is_possible(false)) return 0;
  if (!is_possible(true)) return 1;
  return std::nullopt;
}

// x - (x + t & -2^k), as compilers write x % 2^k: let y be x + t, then it is (y & 2^k - 1) - t.
AccessRanges::Found AccessRanges::rest_of_power(const Operation& operation, Place at) {
  const auto computes = [](const Operation& each, std::string_view name) {
    return is_plain_compute(each) && each.instruction->opcode == name && each.sources.size() == 2 &&
           is_of_integers(each) && !has_negated_operand(each);
  };
  const auto definition_of = [&](const ValueSource& source) -> std::optional<Place> {
    const bool is_one = source.kind == ValueSource::Kind::kRegister &&
                        graph_.is_single(source.id) && !code_.unset[source.id];
    return is_one ? std::optional(graph_.definitions(source.id)[0]) : std::nullopt;
  };
  if (!computes(operation, "sub") || operation.width < 32) return std::nullopt;
  const ValueSource& x = operation.sources[0];
  const std::optional<Place> masked = definition_of(operation.sources[1]);
  if (!definition_of(x) || !masked) return std::nullopt;
  const Operation& mask = code_.operations[*masked];
  if (!computes(mask, "and") || mask.width != operation.width ||
      mask.sources[1].kind != ValueSource::Kind::kConstant) {
    return std::nullopt;
  }
  const std::uint64_t cleared =
      ~mask.sources[1].bits & (operation.width == 64 ? UINT64_MAX : std::uint64_t{UINT32_MAX});
  if ((cleared & (cleared + 1)) != 0 || cleared >= std::uint64_t{1} << 31) return std::nullopt;
  const std::optional<Place> added = definition_of(mask.sources[0]);
  const auto is_x = [&](const ValueSource& source) {
    return source.kind == ValueSource::Kind::kRegister && source.id == x.id;
  };
  NumberRange t = NumberRange::constant(0);
  if (is_x(mask.sources[0])) {
    if (!is_current(x.id, *masked, at)) return std::nullopt;
  } else {
    const bool is_of_now =
        added && is_current(mask.sources[0].id, *masked, at) && is_current(x.id, *added, at);
    if (!is_of_now) return std::nullopt;
    const Operation& sum = code_.operations[*added];
    if (!computes(sum, "add") || sum.width != operation.width) return std::nullopt;
    const bool is_first = is_x(sum.sources[0]);
    if (is_first == is_x(sum.sources[1])) return std::nullopt;
    const Found other = source_at(sum.sources[is_first ? 1 : 0], *added, *added);
    if (!other || other->memory) return std::nullopt;
    t = other->range;
  }
  return Located{std::nullopt, {-t.most, WideInteger{cleared} - t.least}};
}

}  // namespace baton::overlap
