#include "tools/draft/python_names.h"

#include <algorithm>
#include <iterator>

#include "program/expression/expression_code.h"

namespace baton::tools {
namespace {

constexpr std::string_view kTaken[] = {
    // Keywords.
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
    // Of the script, and of Python where the script uses it.
    "INPUTS", "OUTPUTS", "SEED", "arange", "bf16", "bf16_bits", "floats", "folder", "globals",
    "hashlib", "int", "integers", "normal", "np", "pathlib", "reference", "results", "sum", "sys",
    "words"};

}  // namespace

std::string python_name(std::string_view name) {
  const bool is_taken = std::ranges::find(kTaken, name) != std::end(kTaken);
  return std::string(name) + (is_taken ? "_" : "");
}

// It differs by the division and by names.
std::string python_expression(std::string_view text) {
  std::string python;
  while (!text.empty()) {
    const std::string_view word = leading_word(text);
    if (word.empty()) {
      python += text[0] == '/' ? "//" : std::string(1, text[0]);
      text.remove_prefix(1);
    } else {
      python += python_name(word);
      text.remove_prefix(word.size());
    }
  }
  return python;
}

}  // namespace baton::tools
