#include "program/reader/table_reader.h"

#include <algorithm>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"

namespace baton {

using Kind = DocumentNode::Kind;

const DocumentNode& require_table(const Document& document, const DocumentNode& node,
                                  std::string_view what) {
  if (node.kind != Kind::kTable) {
    throw error_at(document.place(node), ErrorCode::kInvalidInput, "{} must be a table, not {}",
                   what, describe(node.kind));
  }
  return node;
}

TableReader::TableReader(const Document& document, const DocumentNode& table, std::string what,
                         std::span<const std::string_view> known)
    : document_(document), table_(require_table(document, table, what)), what_(std::move(what)) {
  for (const DocumentNode::Member& member : table_.members) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    throw error_at(document_.place(member), ErrorCode::kInvalidInput, "unknown key \"{}\" in {}{}",
                   printable(member.key), what_, suggestion(member.key, known));
  }
}

void TableReader::refuse(const DocumentNode& node, std::string_view key,
                         std::string_view wanted) const {
  throw error_at(document_.place(node), ErrorCode::kInvalidInput, "{} of {} must be {}, not {}",
                 key, what_, wanted, describe(node.kind));
}

const DocumentNode& TableReader::checked(const DocumentNode& node, std::string_view key, Kind kind,
                                         std::string_view wanted) const {
  if (node.kind != kind) refuse(node, key, wanted);
  return node;
}

const DocumentNode& TableReader::require(std::string_view key) const {
  if (const DocumentNode* node = find(key)) return *node;
  throw error_at(place(), ErrorCode::kInvalidInput, "{} lacks \"{}\"", what_, key);
}

std::optional<std::string> TableReader::string(std::string_view key) const {
  const DocumentNode* node = find(key);
  if (node == nullptr) return std::nullopt;
  return checked(*node, key, Kind::kString, "a string").string;
}

std::string TableReader::required_string(std::string_view key) const {
  return checked(require(key), key, Kind::kString, "a string").string;
}

std::optional<bool> TableReader::boolean(std::string_view key) const {
  const DocumentNode* node = find(key);
  if (node == nullptr) return std::nullopt;
  return checked(*node, key, Kind::kBool, "true or false").integer != 0;
}

std::vector<std::string> TableReader::strings(std::string_view key) const {
  std::vector<std::string> result;
  const DocumentNode* node = find(key);
  if (node == nullptr) return result;
  for (const DocumentNode& item : checked(*node, key, Kind::kArray, "an array of strings").items) {
    result.push_back(checked(item, key, Kind::kString, "an array of strings").string);
  }
  return result;
}

double TableReader::number_of(const DocumentNode& node, std::string_view key) const {
  if (node.kind == Kind::kInteger) return static_cast<double>(node.integer);
  if (node.kind != Kind::kFloat) refuse(node, key, "a number");
  return node.real;
}

Expression TableReader::expression_of(const DocumentNode& node, std::string_view key) const {
  if (node.kind == Kind::kInteger) {
    return {std::to_string(node.integer), document_.place(node)};
  }
  if (node.kind != Kind::kString) refuse(node, key, "an integer or an expression in a string");
  return {node.string, document_.content_place(node)};
}

std::optional<Expression> TableReader::expression(std::string_view key) const {
  const DocumentNode* node = find(key);
  if (node == nullptr) return std::nullopt;
  return expression_of(*node, key);
}

std::vector<Expression> TableReader::expressions(std::string_view key, std::size_t least,
                                                 std::size_t most, std::string_view items) const {
  std::vector<Expression> result;
  const DocumentNode* node = find(key);
  if (node == nullptr) return result;
  // One extent needs no brackets.
  if (node->kind == Kind::kInteger || node->kind == Kind::kString) {
    try {
      result.push_back(expression_of(*node, key));
    } catch (const Error& failure) {
      throw error_at(failure.where(), failure.code(), "{} of {}: {}", key, what_,
                     failure.message());
    }
    return result;
  }
  if (node->kind != Kind::kArray) refuse(*node, key, "an expression or an array of expressions");
  if (node->items.size() < least || node->items.size() > most) {
    throw error_at(document_.place(*node), ErrorCode::kInvalidInput,
                   "{} of {} must have {} to {} {}, not {}", key, what_, least, most, items,
                   node->items.size());
  }
  for (const DocumentNode& item : node->items) result.push_back(expression_of(item, key));
  return result;
}

std::optional<std::size_t> TableReader::choice(std::string_view key,
                                               std::span<const std::string_view> names) const {
  const DocumentNode* node = find(key);
  if (node == nullptr) return std::nullopt;
  const std::string& value = checked(*node, key, Kind::kString, "a string").string;
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) {
    throw error_at(document_.place(*node), ErrorCode::kInvalidInput, "unknown {} \"{}\" of {}{}",
                   key, printable(value), what_, suggestion(value, names));
  }
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace baton
