#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace baton::cli {

// What standard output can show.
struct Terminal {
  bool colour = false;
  std::size_t width = std::numeric_limits<std::size_t>::max();  // columns; a pipe has no limit
};

// Rows of text in aligned columns, for people. A column that is empty in every row is left out.
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell a column; missing ones are empty. Cells may hold colours.
  void add(std::vector<std::string> row);
  std::size_t rows() const { return rows_.size(); }

  // Each line indented by two blanks and ended; the titles bold where there are colours. Where the
  // lines are too long for the terminal, titles and cells of left-aligned columns are wrapped
  // between words, and, as far as that is not enough, inside words. At last titles are cut at
  // strokes, and cells of right-aligned columns wrapped between words ("0 B of 227 KiB"). If even
  // that is too wide, columns have one blank between them.
  std::string format(Terminal terminal) const;

 private:
  // What a column takes.
  struct Extent {
    std::size_t natural = 0;  // without wrapping; 0 for a column without a value
    std::size_t words = 0;    // with cells and title wrapped between words
    std::size_t least = 0;    // with long words of left-aligned cells broken
    std::size_t broken = 0;   // with titles broken at strokes, and right-aligned cells at blanks
  };
  Extent extent_of(std::size_t column) const;
  struct Layout {
    std::vector<std::size_t> widths;  // of each column
    std::size_t gap = 0;              // before each column but the first
  };
  // With which a line takes at most `line` columns, where that is possible.
  Layout layout(std::size_t line) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace baton::cli
