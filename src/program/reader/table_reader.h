#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/program.h"
#include "program/reader/document.h"

namespace baton {

// Reads the members of one TOML table by name and type. Every method throws kInvalidInput at the
// member's place, naming the table, the key, what was found and what is wanted.
class TableReader {
 public:
  // `what` names the table in messages: "buffer x". `known` are the keys it may have; another one
  // is refused with its nearest neighbour.
  TableReader(const Document& document, const DocumentNode& table, std::string what,
              std::span<const std::string_view> known);

  const DocumentNode* find(std::string_view key) const { return table_.member(key); }
  const DocumentNode& require(std::string_view key) const;

  std::optional<std::string> string(std::string_view key) const;
  std::string required_string(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::vector<std::string> strings(std::string_view key) const;
  std::optional<Expression> expression(std::string_view key) const;
  // An array of `least` to `most` expressions, which messages call `items`; empty where the key is
  // missing.
  std::vector<Expression> expressions(std::string_view key, std::size_t least, std::size_t most,
                                      std::string_view items = "extents") const;
  // The index of a string among `names`.
  std::optional<std::size_t> choice(std::string_view key,
                                    std::span<const std::string_view> names) const;

  // A fraction or an integer.
  double number_of(const DocumentNode& node, std::string_view key) const;
  // An integer or an expression as text.
  Expression expression_of(const DocumentNode& node, std::string_view key) const;

  const Document& document() const { return document_; }
  const DocumentNode& table() const { return table_; }
  const std::string& what() const { return what_; }
  SourceLocation place() const { return document_.place(table_); }

  [[noreturn]] void refuse(const DocumentNode& node, std::string_view key,
                           std::string_view wanted) const;

 private:
  const DocumentNode& checked(const DocumentNode& node, std::string_view key,
                              DocumentNode::Kind kind, std::string_view wanted) const;

  const Document& document_;
  const DocumentNode& table_;
  std::string what_;
};

// Throws kInvalidInput where the node is not a table.
const DocumentNode& require_table(const Document& document, const DocumentNode& node,
                                  std::string_view what);

}  // namespace baton
