#include "image/names/readable_names.h"

#include <algorithm>

#include "image/names/mangled_name.h"

namespace baton::image {
namespace {

bool is_symbol_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '.';
}

// Up to the parameters, which are the first parenthesis outside of template arguments.
std::string_view without_parameters(std::string_view name) {
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && i > 0) return name.substr(0, i);
  }
  return name;
}

}  // namespace

std::string with_readable_names(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_symbol_character);
    auto size = static_cast<std::size_t>(end - text.begin());
    while (size > 1 && text[size - 1] == '.') --size;  // it ends a sentence
    const std::string_view word = text.substr(0, std::max(size, std::size_t{1}));
    const auto name = word.starts_with("_Z") ? read_mangled(word) : std::nullopt;
    result += name ? without_parameters(name->text) : word;
    text.remove_prefix(word.size());
  }
  return result;
}

Error with_readable_names(const Error& error) {
  Error readable(error.code(), with_readable_names(error.message()), error.where());
  for (const std::string& note : error.notes()) readable.note(with_readable_names(note));
  readable.of_driver(error.driver_result());
  return readable;
}

}  // namespace baton::image
