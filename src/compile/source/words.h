#pragma once

#include <string>
#include <string_view>

namespace baton::compiler {

// Letters, digits and _: what words of C++ are made of.
bool is_word(char c);

// Whether the word stands in the text by itself, not as a part of another: "assert" is not in
// "static_assert".
bool contains_word(std::string_view text, std::string_view word);

// Replaces the word wherever it stands so.
void replace_word(std::string& text, std::string_view word, std::string_view by);

}  // namespace baton::compiler
