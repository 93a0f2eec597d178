#include "cli/table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cli/output.h"

namespace baton::cli {
namespace {

// Columns on a terminal: one for every UTF-8 code point.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  row.resize(columns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::format(bool colour) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    if (widths[i] > 0) widths[i] = std::max(widths[i], width_of(titles[i]));
  }

  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::string padding(widths[i] - width_of(cells[i]), ' ');
      text += "  ";
      text += columns_[i].align == Align::kRight ? padding + cells[i] : cells[i] + padding;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string text = styled(line(titles), Style::kBold, colour) + '\n';
  for (const auto& row : rows_) text += line(row) + '\n';
  return text;
}

}  // namespace baton::cli
