#include "program/reader/argument_reader.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "launch/tensor_map_limits.h"

namespace baton {
namespace {

using Kind = DocumentNode::Kind;

constexpr std::array<std::string_view, 10> kTensorMapKeys = {
    "buffer", "shape",      "strides", "box",          "element_strides",
    "type",   "interleave", "swizzle", "l2_promotion", "oob_fill"};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
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
  ArgumentReader(const Document& document, const ArgumentName& name)
      : document_(document), name_(name) {}

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
    throw error_at(document_.place(node), ErrorCode::kInvalidInput, "{} {}", name_.text(),
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
      return read_tensor_map({document_, value, "tensor_map of " + name_.text(), kTensorMapKeys});
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
    const TableReader table(document_, node, "the view of " + name_.text(), kKeys);
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
      const ArgumentName name{"field", result.fields.size(), name_.step, &name_};
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
  const ArgumentName& name_;
};

}  // namespace

std::string ArgumentName::text() const {
  return fmt::format("{} {} of {}", kind, number,
                     outer != nullptr ? outer->text() : std::string(step));
}

LaunchArgument read_argument(const Document& document, const DocumentNode& node,
                             const ArgumentName& name) {
  return ArgumentReader(document, name).read(node);
}

BufferOffset read_place(const TableReader& table, std::string_view key) {
  const std::string text = table.required_string(key);
  return {text, table.document().content_place(*table.find(key))};
}

}  // namespace baton
