#include "program/frozen_rows.h"

#include <fmt/core.h>

#include <array>
#include <charconv>

#include "base/error.h"
#include "base/text/text.h"
#include "program/expression/expression_code.h"
#include "program/expression/scope.h"
#include "program/writer/toml_table.h"

namespace baton {

FrozenRows FrozenRows::from_text(std::string_view text, SourceLocation where) {
  FrozenRows rows;
  rows.where = where;
  const std::string_view trimmed = trim(text);
  rows.counter = leading_word(trimmed);
  const std::string_view rest = trimmed.substr(rows.counter.size());
  const char* const end = rest.data() + rest.size();
  bool is_right = !rows.counter.empty() && rest.size() >= 3 && rest.front() == '[';
  if (is_right) {
    const auto [after, failure] = std::from_chars(rest.data() + 1, end, rows.element);
    is_right = failure == std::errc() && rows.element >= 0 && after + 1 == end && *after == ']';
  }
  if (is_right) return rows;
  throw error_at(where, ErrorCode::kInvalidInput,
                 "frozen is \"{}\"; write an element of a buffer, as \"pos[0]\"", printable(text));
}

std::string FrozenRows::text() const {
  return fmt::format("{}[{}]", counter, element);
}

std::optional<FrozenRows> read_frozen_rows(const TableReader& buffer) {
  const DocumentNode* node = buffer.find("frozen");
  if (node == nullptr) return std::nullopt;
  const SourceLocation place = buffer.document().place(*node);
  if (node->kind != DocumentNode::Kind::kTable) {
    return FrozenRows::from_text(*buffer.string("frozen"), place);
  }
  static constexpr std::array<std::string_view, 2> kKeys = {"count", "axis"};
  const TableReader table(buffer.document(), *node, "frozen of " + buffer.what(), kKeys);
  FrozenRows rows = FrozenRows::from_text(table.required_string("count"), place);
  const auto axis = table.expression("axis");
  const auto literal = axis ? axis->literal() : std::optional<std::int64_t>(0);
  if (!literal || *literal < 0) {
    throw error_at(place, ErrorCode::kInvalidInput,
                   "axis of {} must be a number of at least 0, not {}", table.what(), axis->text());
  }
  rows.axis = static_cast<std::size_t>(*literal);
  return rows;
}

std::string toml_frozen_rows(const FrozenRows& rows) {
  if (rows.axis == 0) return toml_string(rows.text());
  TomlTable table;
  table.add("count", toml_string(rows.text()));
  table.add("axis", std::to_string(rows.axis));
  return table.as_value();
}

void check_frozen_rows(const ProgramBuffer& buffer, const ProgramScope& scope) {
  const bool is_cache = buffer.role == BufferRole::kCache;
  if (!buffer.frozen) {
    if (!is_cache) return;
    throw error_at(buffer.where, ErrorCode::kInvalidInput,
                   "buffer {} has the role cache and no frozen rows; give it frozen = \"pos[0]\", "
                   "where pos[0] counts the rows that are written, or make it a state",
                   buffer.name);
  }
  if (!is_cache) {
    throw error_at(buffer.frozen->where, ErrorCode::kInvalidInput,
                   "buffer {} has frozen = \"{}\" and the role {}; only a cache has frozen rows",
                   buffer.name, buffer.frozen->text(), to_string(buffer.role));
  }
  const ProgramBuffer& counter = scope.buffer(buffer.frozen->counter, buffer.frozen->where);
  if (is_float(counter.dtype) || counter.dtype == DType::kBool) {
    throw error_at(buffer.frozen->where, ErrorCode::kInvalidInput,
                   "the rows of {} are counted by {}, which is {}; a counter is an integer",
                   buffer.name, counter.name, to_string(counter.dtype));
  }
  if (counter.role == BufferRole::kCache || counter.variable || buffer.variable) {
    throw error_at(buffer.frozen->where, ErrorCode::kInvalidInput,
                   "the rows of {} are counted by {}; neither of the two may be a variable of a "
                   "kernel, nor the counter a cache",
                   buffer.name, counter.name);
  }
  if (buffer.frozen->axis >= buffer.shape.size()) {
    throw error_at(buffer.frozen->where, ErrorCode::kInvalidInput,
                   "the rows of {} are counted along axis {}, and it has {} dimension{}",
                   buffer.name, buffer.frozen->axis, buffer.shape.size(),
                   buffer.shape.size() == 1 ? "" : "s");
  }
}

}  // namespace baton
