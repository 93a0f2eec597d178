#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace baton::compiler {

// One token of C++ that is not a comment and no part of a directive.
struct SourceToken {
  enum class Kind { kWord, kNumber, kQuoted, kSymbol };
  Kind kind = Kind::kSymbol;
  std::size_t begin = 0;  // in the text, in bytes
  std::size_t end = 0;
};

// A directive of the preprocessor with its line ends, continued lines included.
struct DirectiveLine {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// A source as the preprocessor sees it before it expands anything. Symbols are single characters
// but
// "::", so that ">>" closes two template lists. Of the branches of a conditional whose brackets are
// not balanced only the first is here: all of them together are not a program.
struct TokenizedText {
  std::vector<SourceToken> tokens;
  std::vector<DirectiveLine> directives;
  bool has_line_directives = false;  // #line: the compiler's line numbers are not the text's
};

TokenizedText tokenize(std::string_view text);

}  // namespace baton::compiler
