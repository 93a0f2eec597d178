#include "program/check/argument_check.h"

#include <fmt/core.h>

#include "base/overloaded.h"
#include "base/text/text.h"
#include "launch/tensor_map_limits.h"
#include "program/expression/expression_code.h"

namespace baton {
namespace {

void check(const TypedValue& typed, const ProgramScope& scope) {
  std::visit(Overloaded{[&](const Expression& value) { scope.check_names(*value.code()); },
                        [&](const FloatExpression& value) { scope.check_names(*value.code()); },
                        [](double) {}},
             typed.value);
}

// Limits that depend on the values of symbols are checked when these are bound.
void check(const TensorMapArgument& map, const ProgramScope& scope) {
  const ProgramBuffer& target = scope.check(map.buffer);
  const std::size_t rank = map.shape.empty() ? target.shape.size() : map.shape.size();
  if (rank < 1 || rank > launch::kMaxTensorMapRank) {
    throw error(ErrorCode::kInvalidInput,
                "the tensor map of {} has {} dimensions, it must have 1 to {}; give it a shape",
                target.name, rank, launch::kMaxTensorMapRank);
  }
  const auto check_list = [&](const std::vector<Expression>& list, std::string_view what,
                              std::int64_t least, bool optional) {
    if (list.size() != rank && !(optional && list.empty())) {
      throw error(ErrorCode::kInvalidInput,
                  "the tensor map of {} has {} dimensions and {} extents in {}", target.name, rank,
                  list.size(), what);
    }
    for (const Expression& extent : list) {
      scope.check(
          extent, [&] { return fmt::format("an extent in {} of the tensor map", what); }, least);
    }
  };
  check_list(map.shape, "shape", 1, true);
  check_list(map.strides, "strides", 0, true);
  check_list(map.box, "box", 1, false);
  check_list(map.element_strides, "element_strides", 1, true);
  if (map.type && size_of(*map.type) != size_of(target.dtype)) {
    throw error(ErrorCode::kInvalidInput,
                "the tensor map of {} has the type {} of {} bytes, the buffer {} of {} bytes",
                target.name, to_string(*map.type), size_of(*map.type), to_string(target.dtype),
                size_of(target.dtype));
  }
}

}  // namespace

void check_argument(LaunchArgument& argument, const ProgramScope& scope) {
  if (const auto* text = std::get_if<std::string>(&argument.value)) {
    if (scope.is_buffer(leading_word(trim(*text)))) {
      argument.value = BufferOffset(*text, argument.where);
    } else {
      argument.value = Expression(*text, argument.where);
    }
  }
  std::visit(
      Overloaded{[&](const BufferOffset& place) { scope.check(place); },
                 [&](const Expression& integer) { scope.check_argument_names(*integer.code()); },
                 [&](const TypedValue& typed) { check(typed, scope); },
                 [&](const TensorMapArgument& map) { check(map, scope); },
                 [&](const BufferView& view) {
                   const ProgramBuffer& target = scope.check(view.place);
                   if (!view.count) return;
                   scope.check(
                       *view.count, [&] { return fmt::format("the count of {}", target.name); }, 0);
                 },
                 [&](StructArgument& fields) {
                   for (LaunchArgument& field : fields.fields) {
                     located(field, [&] { check_argument(field, scope); });
                   }
                 },
                 [](double) {}, [](const RawBytes&) {},
                 [](const std::string&) {}},  // resolved above
      argument.value);
}

}  // namespace baton
