#include "program/writer/toml_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace baton {
namespace {

constexpr std::size_t kLongLine = 100;

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// Whether ''' can hold it: no escapes are read there.
bool fits_literal(std::string_view text) {
  return text.find("'''") == std::string_view::npos && !text.ends_with('\'') &&
         std::ranges::none_of(text, [](char c) { return is_control(c) && c != '\n' && c != '\t'; });
}

std::string toml_key(std::string_view key) {
  const bool is_bare = !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return is_bare ? std::string(key) : toml_string(key);
}

// [a, b]; in several lines where one would be long.
template <typename Range, typename Text>
std::string list_of(const Range& range, Text&& text) {
  std::vector<std::string> items;
  std::size_t length = 0;
  for (const auto& each : range) length += items.emplace_back(text(each)).size() + 2;
  if (length <= kLongLine) return fmt::format("[{}]", fmt::join(items, ", "));
  return fmt::format("[\n  {},\n]", fmt::join(items, ",\n  "));
}

}  // namespace

std::string toml_string(std::string_view text) {
  if (text.find('\n') != std::string_view::npos && fits_literal(text)) {
    return fmt::format("'''\n{}'''", text);  // the first end of line is not of the text
  }
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (is_control(c)) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string toml_expression(const Expression& expression) {
  if (const auto literal = expression.literal()) return std::to_string(*literal);
  return toml_string(expression.text());
}

std::string toml_expressions(const std::vector<Expression>& expressions) {
  return list_of(expressions, toml_expression);
}

std::string toml_strings(const std::vector<std::string>& texts) {
  return list_of(texts, toml_string);
}

std::string toml_place(const BufferOffset& place) {
  if (!place.offset) return toml_string(place.buffer);
  return toml_string(fmt::format("{} + {}", place.buffer, place.offset->text()));
}

void TomlTable::add_text(std::string_view key, std::string_view text) {
  if (!text.empty()) add(key, toml_string(text));
}

void TomlTable::add_if(std::string_view key, const std::vector<Expression>& expressions) {
  if (!expressions.empty()) add(key, toml_expressions(expressions));
}

void TomlTable::add_if(std::string_view key, const std::vector<std::string>& texts) {
  if (!texts.empty()) add(key, toml_strings(texts));
}

void TomlTable::add_if(std::string_view key, const std::optional<Expression>& expression) {
  if (expression) add(key, toml_expression(*expression));
}

std::string TomlTable::as_value() const {
  std::string out = "{";
  for (const auto& [key, value] : members_) {
    out += fmt::format("{}{} = {}", out.size() == 1 ? " " : ", ", toml_key(key), value);
  }
  return out + " }";
}

std::string TomlTable::as_lines() const {
  std::string out;
  for (const auto& [key, value] : members_) out += fmt::format("{} = {}\n", toml_key(key), value);
  return out;
}

}  // namespace baton
