#include "compile/nvrtc/ptx_lines.h"

#include <charconv>
#include <string>
#include <vector>

#include "base/text/text.h"

namespace baton::compiler {
namespace {

// Takes a decimal number off the front; 0 where there is none.
int take_number(std::string_view& text) {
  text = trim(text);
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

constexpr std::string_view kLoc = ".loc", kFile = ".file";

// The path that ".file INDEX "path"" gives to the index.
std::string file_of(const std::vector<std::string_view>& lines, int index) {
  for (std::string_view line : lines) {
    line = trim(line);
    if (!line.starts_with(kFile)) continue;
    line.remove_prefix(kFile.size());
    if (take_number(line) != index) continue;
    const std::size_t open = line.find('"');
    if (open == std::string_view::npos) continue;
    return std::string(line.substr(open + 1, line.find('"', open + 1) - open - 1));
  }
  return {};
}

}  // namespace

std::optional<SourceLocation> source_of_ptx_line(std::string_view ptx, int line) {
  const std::vector<std::string_view> lines = split_lines(ptx);
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return std::nullopt;
  for (auto at = static_cast<std::size_t>(line); at-- > 0;) {
    std::string_view text = trim(lines[at]);
    if (lines[at] == "{") break;  // the function's body begins here
    if (!text.starts_with(kLoc)) continue;
    text.remove_prefix(kLoc.size());
    const int index = take_number(text);
    SourceLocation where;
    where.line = take_number(text);
    where.column = take_number(text);
    where.file = file_of(lines, index);
    if (!where.known() || where.line == 0) return std::nullopt;
    return where;
  }
  return std::nullopt;
}

std::string_view ptx_line(std::string_view ptx, int line) {
  const std::vector<std::string_view> lines = split_lines(ptx);
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return {};
  return trim(lines[static_cast<std::size_t>(line) - 1]);
}

}  // namespace baton::compiler
