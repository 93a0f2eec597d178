#include "cli/output/table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cli/output/output.h"
#include "cli/output/wrap.h"

namespace baton::cli {
namespace {

constexpr std::size_t kGap = 2;  // before each column
constexpr std::size_t kNarrowGap = 1;
// No column is wrapped to fewer characters, between words and inside words.
constexpr std::size_t kNarrowest = 16, kNarrowestBroken = 12;

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  for (const std::string_view word : words_of(text)) longest = std::max(longest, width_of(word));
  return longest;
}

// The same with words of a title such as "passes/request" cut after the stroke.
std::size_t longest_part(std::string_view title) {
  std::size_t longest = 0;
  for (std::string_view word : words_of(title)) {
    for (std::size_t end = word.find('/'); end != std::string_view::npos; end = word.find('/')) {
      longest = std::max(longest, width_of(word.substr(0, end + 1)));
      word.remove_prefix(end + 1);
    }
    longest = std::max(longest, width_of(word));
  }
  return longest;
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  row.resize(columns_.size());
  rows_.push_back(std::move(row));
}

Table::Extent Table::extent_of(std::size_t column) const {
  const std::string& title = columns_[column].title;
  Extent extent;
  const std::size_t title_word = longest_word(title);
  std::size_t word = 0;
  for (const auto& row : rows_) {
    extent.natural = std::max(extent.natural, width_of(row[column]));
    word = std::max(word, longest_word(row[column]));
  }
  if (extent.natural == 0) return extent;
  const std::size_t cells = extent.natural;
  extent.natural = std::max(cells, width_of(title));
  // Numbers are compared by eye: they stay whole as long as the line has room for them.
  if (columns_[column].align == Align::kRight) {
    extent.words = extent.least = std::max(cells, title_word);
    extent.broken = std::max(word, longest_part(title));
  } else {
    extent.words = std::max({word, title_word, std::min(cells, kNarrowest)});
    extent.least = std::max(title_word, std::min(cells, kNarrowestBroken));
    extent.broken = std::max(longest_part(title), std::min(cells, kNarrowestBroken));
  }
  return extent;
}

Table::Layout Table::layout(std::size_t line) const {
  std::vector<Extent> extents;
  std::vector<std::size_t> widths;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    extents.push_back(extent_of(i));
    widths.push_back(extents.back().natural);
    if (widths.back() > 0) sum += kGap + widths.back();
  }
  // The widest of those that may be narrower gives way.
  for (const auto limit : {&Extent::words, &Extent::least, &Extent::broken}) {
    while (sum > line) {
      std::size_t widest = columns_.size();
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (widths[i] <= extents[i].*limit) continue;
        if (widest == columns_.size() || widths[i] > widths[widest]) widest = i;
      }
      if (widest == columns_.size()) break;
      --widths[widest];
      --sum;
    }
  }
  return {std::move(widths), sum > line ? kNarrowGap : kGap};
}

std::string Table::format(Terminal terminal) const {
  const auto [widths, gap] = layout(terminal.width);
  const auto row_text = [&, &widths = widths, gap = gap](const std::vector<std::string>& row) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      // A column without a value is left out, with its title.
      cells.push_back(widths[i] == 0 ? std::vector<std::string>() : wrapped(row[i], widths[i]));
      height = std::max(height, cells.back().size());
    }
    std::string text;
    for (std::size_t k = 0; k < height; ++k) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (widths[i] == 0) continue;
        const std::string cell = k < cells[i].size() ? cells[i][k] : "";
        const std::size_t used = width_of(cell);
        const std::string padding(widths[i] > used ? widths[i] - used : 0, ' ');
        line += std::string(line.empty() ? kGap : gap, ' ');
        line += columns_[i].align == Align::kRight ? padding + cell : cell + padding;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
    return text;
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string head = row_text(titles);
  head.pop_back();
  std::string text = styled(head, Style::kBold, terminal.colour) + '\n';
  for (const auto& row : rows_) text += row_text(row);
  return text;
}

}  // namespace baton::cli
