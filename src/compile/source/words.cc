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

}  // namespace baton::compiler
