#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/program.h"

namespace baton::tools {

// "norm.cu:12:7", as findings and errors name a place, in its parts. Of inlined code it is the
// place that it was inlined at.
struct TextPlace {
  std::string file;
  int line = 0;
  int column = 0;  // 0: not known
};
// Nothing for a text that ends in no line number.
std::optional<TextPlace> read_place(std::string_view where);

struct SourceLine {
  int number = 0;
  std::string text;
  bool is_place = false;
};

// The source lines that messages are about: of the files that they name, and of the kernels that a
// program has as text ("<kernel k>"). Reads files when they are asked for, and keeps them. One
// thread at a time. Nothing throws: a line that cannot be had is left out.
class SourceLines {
 public:
  SourceLines() = default;
  explicit SourceLines(const Program& program);

  // The line with a caret under its column, as base's source_excerpt shows it; else empty.
  std::string excerpt(std::string_view where);
  // The line and up to `around` lines on each side of it.
  std::vector<SourceLine> lines(std::string_view where, int around);

 private:
  const std::string& text_of(const std::string& file);

  std::map<std::string, std::string> texts_;  // empty: there is none
};

}  // namespace baton::tools
