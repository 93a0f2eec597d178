#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/program.h"

namespace baton {

// The text of a TOML string. Text of several lines stays readable.
std::string toml_string(std::string_view text);
// A number that TOML reads as the same value, and as a float.
std::string toml_float(double value);
// An integer for a literal, else a string. Both are read as an expression.
std::string toml_expression(const Expression& expression);
std::string toml_expressions(const std::vector<Expression>& expressions);
std::string toml_strings(const std::vector<std::string>& texts);
std::string toml_place(const BufferOffset& place);

// A TOML table that is being written: keys and the texts of their values, in the order of adding.
class TomlTable {
 public:
  void add(std::string_view key, std::string value) {
    members_.emplace_back(key, std::move(value));
  }
  // Nothing for an empty value, which is what leaving the key out means.
  void add_text(std::string_view key, std::string_view text);
  void add_if(std::string_view key, const std::vector<Expression>& expressions);
  void add_if(std::string_view key, const std::vector<std::string>& texts);
  void add_if(std::string_view key, const std::optional<Expression>& expression);

  bool empty() const { return members_.empty(); }
  // { a = 1, b = 2 }
  std::string as_value() const;
  // A line for each key.
  std::string as_lines() const;

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

}  // namespace baton
