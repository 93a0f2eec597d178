#include "compile/source/words.h"

namespace baton::compiler {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool contains_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at < text.size(); at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) {
      return !word.empty();
    }
  }
  return false;
}

void replace_word(std::string& text, std::string_view word, std::string_view by) {
  for (std::size_t at = text.find(word); at < text.size(); at = text.find(word, at)) {
    const std::size_t end = at + word.size();
    const bool is_whole =
        (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    if (is_whole) text.replace(at, word.size(), by);
    at += is_whole ? by.size() : word.size();
  }
}

}  // namespace baton::compiler
