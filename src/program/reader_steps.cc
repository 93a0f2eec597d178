#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "launch/tensor_map_limits.h"
#include "program/attributes.h"
#include "program/names.h"
#include "program/reader.h"

namespace baton {
namespace {

using Kind = DocumentNode::Kind;

constexpr std::array<std::string_view, 4> kActions = {"launch", "copy", "fill", "repeat"};
constexpr std::array<std::string_view, 3> kCopyKeys = {"from", "to", "count"};
constexpr std::array<std::string_view, 2> kFillKeys = {"buffer", "value"};
constexpr std::array<std::string_view, 10> kTensorMapKeys = {
    "buffer", "shape",      "strides", "box",          "element_strides",
    "type",   "interleave", "swizzle", "l2_promotion", "oob_fill"};
constexpr std::array<std::string_view, 1> kCopyStepKeys = {"copy"};
constexpr std::array<std::string_view, 1> kFillStepKeys = {"fill"};
constexpr std::array<std::string_view, 3> kRepeatKeys = {"repeat", "index", "steps"};

// What a launch step may have: its own keys and every attribute.
std::span<const std::string_view> launch_keys() {
  static const std::vector<std::string_view> keys = [] {
    std::vector<std::string_view> all = {"launch", "grid", "block", "args"};
    all.insert(all.end(), attribute_keys().begin(), attribute_keys().end());
    return all;
  }();
  return keys;
}

// One value of an attribute: only tables and arrays have no meaning in it.
AttributeValue read_attribute_value(const Document& document, const DocumentNode& node,
                                    const std::string& field, const std::string& what) {
  switch (node.kind) {
    case Kind::kString:
      return {field, node.string, document.content_place(node)};
    case Kind::kInteger:
      return {field, Expression(std::to_string(node.integer), document.place(node)),
              document.place(node)};
    case Kind::kFloat:
      return {field, node.real, document.place(node)};
    case Kind::kBool:
      return {field, node.integer != 0, document.place(node)};
    default:
      throw error_at(document.place(node), ErrorCode::kInvalidInput,
                     "{} must be a string, a number or a boolean, not {}", what,
                     describe(node.kind));
  }
}

// cluster = [2, 1], mem_sync_domain_map = { default = 0, remote = 1 }, cooperative = true: extents
// are an array, other attributes of several fields a table.
ProgramAttribute read_attribute(const Document& document, const DocumentNode::Member& member,
                                const launch::AttributeRow& row, const std::string& owner) {
  ProgramAttribute attribute{.name = member.key, .values = {}, .where = document.place(member)};
  const DocumentNode& node = member.value;
  const std::string what = fmt::format("{} of {}", member.key, owner);
  const bool extents = row.fields.size() == 3 && row.fields[0].name == "x";
  const auto refuse = [&](std::string_view wanted) {
    throw error_at(document.place(node), ErrorCode::kInvalidInput, "{} must be {}, not {}", what,
                   wanted, describe(node.kind));
  };
  if (row.fields.size() == 1) {
    attribute.values.push_back(read_attribute_value(document, node, "", what));
  } else if (extents) {
    if (node.kind == Kind::kInteger || node.kind == Kind::kString) {
      attribute.values.push_back(read_attribute_value(document, node, "", what));
      return attribute;
    }
    if (node.kind != Kind::kArray) refuse("an expression or an array of expressions");
    if (node.items.empty() || node.items.size() > row.fields.size()) {
      throw error_at(document.place(node), ErrorCode::kInvalidInput,
                     "{} must have 1 to {} extents, not {}", what, row.fields.size(),
                     node.items.size());
    }
    for (const DocumentNode& item : node.items) {
      attribute.values.push_back(read_attribute_value(document, item, "", what));
    }
  } else {
    if (node.kind != Kind::kTable) refuse("a table of its fields");
    for (const auto& [key, line, column, value] : node.members) {
      const std::string field = fmt::format("{}.{}", member.key, key);
      attribute.values.push_back(read_attribute_value(document, value, key, field));
    }
  }
  return attribute;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

BufferOffset read_place(const TableReader& table, std::string_view key) {
  const std::string text = table.required_string(key);
  return {text, table.document().content_place(*table.find(key))};
}

template <typename Enum>
void read_choice(const TableReader& table, std::string_view key,
                 std::span<const std::string_view> words, Enum& target) {
  if (const auto found = table.choice(key, words)) target = static_cast<Enum>(*found);
}

TensorMapArgument read_tensor_map(const TableReader& table) {
  const auto extents = [&](std::string_view key) {
    return table.expressions(key, 1, launch::kMaxTensorMapRank);
  };
  TensorMapArgument map;
  map.buffer = read_place(table, "buffer");
  table.require("box");
  map.shape = extents("shape");
  map.strides = extents("strides");
  map.box = extents("box");
  map.element_strides = extents("element_strides");
  if (const auto type = table.choice("type", launch::tensor_map_types())) {
    map.type = static_cast<TensorMapType>(*type);
  }
  read_choice(table, "interleave", launch::tensor_map_interleaves(), map.interleave);
  read_choice(table, "swizzle", launch::tensor_map_swizzles(), map.swizzle);
  read_choice(table, "l2_promotion", launch::tensor_map_l2_promotions(), map.l2_promotion);
  read_choice(table, "oob_fill", launch::tensor_map_fills(), map.oob_fill);
  return map;
}

class ArgumentReader {
 public:
  ArgumentReader(const Document& document, std::string what)
      : document_(document), what_(std::move(what)) {}

  LaunchArgument read(const DocumentNode& node) const {
    switch (node.kind) {
      case Kind::kString:
        return {node.string, document_.content_place(node)};
      case Kind::kInteger:
      case Kind::kBool:
        return at(node, Expression(node.integer));
      case Kind::kFloat:
        return at(node, node.real);
      case Kind::kTable:
        return at(node, typed(node));
      default:
        fail(node, "must be a string, a number or a table such as {{ f32 = 1.0 }}, not {}",
             describe(node.kind));
    }
  }

 private:
  template <typename... Args>
  [[noreturn]] void fail(const DocumentNode& node, fmt::format_string<Args...> format,
                         Args&&... args) const {
    throw error_at(document_.place(node), ErrorCode::kInvalidInput, "{} {}", what_,
                   fmt::format(format, std::forward<Args>(args)...));
  }

  LaunchArgument at(const DocumentNode& node, LaunchArgument argument) const {
    argument.where = document_.place(node);
    return argument;
  }

  LaunchArgument typed(const DocumentNode& node) const {
    if (node.member("buffer") != nullptr) return view(node);
    if (node.members.size() != 1) {
      fail(node, "must have one key, its type, not {}", node.members.size());
    }
    const auto& [key, line, column, value] = node.members[0];
    if (key == "bytes") return raw_bytes(value);
    if (key == "tensor_map") {
      return read_tensor_map({document_, value, "tensor_map of " + what_, kTensorMapKeys});
    }
    if (key == "struct") return struct_fields(value);
    const auto dtype = parse_dtype(key);
    if (!dtype) {
      std::vector<std::string_view> known(dtype_names().begin(), dtype_names().end());
      known.insert(known.end(), {"buffer", "bytes", "struct", "tensor_map"});
      fail(node, "has the unknown type \"{}\"{}", printable(key), suggestion(key, known));
    }
    switch (value.kind) {
      case Kind::kInteger:
      case Kind::kBool:
        return TypedValue{*dtype, Expression(value.integer)};
      case Kind::kFloat:
        return TypedValue{*dtype, value.real};
      case Kind::kString:
        if (is_float(*dtype)) {
          return TypedValue{*dtype, FloatExpression(value.string, document_.content_place(value))};
        }
        return TypedValue{*dtype, Expression(value.string, document_.content_place(value))};
      default:
        fail(value, "must have a number or an expression for {}, not {}", key,
             describe(value.kind));
    }
  }

  LaunchArgument view(const DocumentNode& node) const {
    static constexpr std::string_view kKeys[] = {"buffer", "offset", "count"};
    const TableReader table(document_, node, "the view of " + what_, kKeys);
    BufferView result;
    result.place.where = document_.content_place(*table.find("buffer"));
    result.place.buffer = table.required_string("buffer");
    result.place.offset = table.expression("offset");
    result.count = table.expression("count");
    return result;
  }

  LaunchArgument struct_fields(const DocumentNode& value) const {
    if (value.kind != Kind::kArray || value.items.empty()) {
      fail(value, "must have an array of fields for its struct, not {}", describe(value.kind));
    }
    StructArgument result;
    for (const DocumentNode& item : value.items) {
      const std::string name = fmt::format("field {} of {}", result.fields.size(), what_);
      result.fields.push_back(ArgumentReader(document_, name).read(item));
    }
    return result;
  }

  LaunchArgument raw_bytes(const DocumentNode& value) const {
    if (value.kind != Kind::kString) {
      fail(value, "must have its bytes as a string of hexadecimal digits, not {}",
           describe(value.kind));
    }
    RawBytes raw;
    const std::string& digits = value.string;
    if (digits.empty() || digits.size() % 2 != 0) {
      fail(value, "must have two hexadecimal digits for each byte, not {} digits in all",
           digits.size());
    }
    for (std::size_t i = 0; i < digits.size(); i += 2) {
      const int high = hex_digit(digits[i]);
      const int low = hex_digit(digits[i + 1]);
      if (high < 0 || low < 0) {
        fail(value, "has \"{}\" among its bytes, which is not a pair of hexadecimal digits",
             printable(std::string_view(digits).substr(i, 2)));
      }
      raw.bytes += static_cast<char>(high * 16 + low);
    }
    return raw;
  }

  const Document& document_;
  std::string what_;
};

LaunchStep read_launch(const Document& document, const DocumentNode& node,
                       const std::string& what) {
  const TableReader table(document, node, what, launch_keys());
  LaunchStep step;
  step.kernel = table.required_string("launch");
  table.require("grid");
  step.grid = table.expressions("grid", 1, 3);
  step.block = table.expressions("block", 1, 3);
  if (const DocumentNode* args = table.find("args")) {
    if (args->kind != Kind::kArray) table.refuse(*args, "args", "an array of arguments");
    for (const DocumentNode& item : args->items) {
      const std::string name = fmt::format("argument {} of {}", step.args.size(), what);
      step.args.push_back(ArgumentReader(document, name).read(item));
    }
  }
  step.attributes = read_attributes(table);
  return step;
}

CopyStep read_copy(const Document& document, const DocumentNode& node, const std::string& what) {
  const TableReader step(document, node, what, kCopyStepKeys);
  const TableReader table(document, step.require("copy"), "copy of " + what, kCopyKeys);
  return {read_place(table, "from"), read_place(table, "to"), table.expression("count")};
}

FillStep read_fill(const Document& document, const DocumentNode& node, const std::string& what) {
  const TableReader step(document, node, what, kFillStepKeys);
  const TableReader table(document, step.require("fill"), "fill of " + what, kFillKeys);
  FillStep fill;
  fill.buffer = table.required_string("buffer");
  const DocumentNode& value = table.require("value");
  if (value.kind == Kind::kFloat) {
    fill.value = value.real;
  } else if (value.kind == Kind::kBool) {
    fill.value = Expression(value.integer);
  } else {
    fill.value = table.expression_of(value, "value");
  }
  return fill;
}

RepeatStep read_repeat(const Document& document, const DocumentNode& node,
                       const std::string& what) {
  const TableReader table(document, node, what, kRepeatKeys);
  RepeatStep repeat;
  repeat.count = *table.expression("repeat");
  repeat.index = table.string("index").value_or("");
  if (table.find("index") != nullptr && repeat.index.empty()) {
    throw error_at(document.place(*table.find("index")), ErrorCode::kInvalidInput,
                   "the index of {} has an empty name", what);
  }
  repeat.steps = read_steps(document, table.require("steps"), what + '.');
  return repeat;
}

ProgramStep read_step(const Document& document, const DocumentNode& node, const std::string& what) {
  require_table(document, node, what);
  std::string_view chosen;
  for (const std::string_view action : kActions) {
    const DocumentNode* found = node.member(action);
    if (found == nullptr) continue;
    if (!chosen.empty()) {
      throw error_at(document.place(*found), ErrorCode::kInvalidInput,
                     "{} has both {} and {}; a step does one thing", what, chosen, action);
    }
    chosen = action;
  }
  ProgramStep step;
  step.where = document.place(node);
  if (chosen == "launch") {
    step.action = read_launch(document, node, what);
  } else if (chosen == "copy") {
    step.action = read_copy(document, node, what);
  } else if (chosen == "fill") {
    step.action = read_fill(document, node, what);
  } else if (chosen == "repeat") {
    step.action = read_repeat(document, node, what);
  } else if (!node.members.empty()) {
    const DocumentNode::Member& first = node.members[0];
    throw error_at(document.place(first), ErrorCode::kInvalidInput,
                   "{} has \"{}\", but none of launch, copy, fill and repeat{}", what,
                   printable(first.key), suggestion(first.key, kActions));
  } else {
    throw error_at(document.place(node), ErrorCode::kInvalidInput,
                   "{} is empty: it needs one of launch, copy, fill and repeat", what);
  }
  return step;
}

}  // namespace

std::vector<ProgramStep> read_steps(const Document& document, const DocumentNode& steps,
                                    const std::string& prefix) {
  if (steps.kind != Kind::kArray) {
    throw error_at(document.place(steps), ErrorCode::kInvalidInput,
                   "steps must be an array of tables, not {}; write [[steps]]",
                   describe(steps.kind));
  }
  std::vector<ProgramStep> result;
  for (const DocumentNode& node : steps.items) {
    result.push_back(read_step(document, node, prefix + std::to_string(result.size())));
  }
  return result;
}

ProgramAttributes read_attributes(const TableReader& table) {
  ProgramAttributes attributes;
  attributes.shared = table.expression("shared");
  if (const auto mode = table.choice("pdl", kPdlNames)) {
    attributes.pdl = static_cast<PdlMode>(*mode);
    attributes.pdl_where = table.document().place(*table.find("pdl"));
  }
  if (const auto placement = table.choice("placement", kPlacementNames)) {
    attributes.placement = static_cast<BlockPlacement>(*placement);
  }
  for (const DocumentNode::Member& member : table.table().members) {
    const launch::AttributeRow* row = launch::find_row(member.key);
    if (row == nullptr) continue;
    attributes.list.push_back(read_attribute(table.document(), member, *row, table.what()));
  }
  return attributes;
}

}  // namespace baton
