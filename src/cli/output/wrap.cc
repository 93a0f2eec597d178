#include "cli/output/wrap.h"

#include <algorithm>
#include <iterator>

namespace baton::cli {
namespace {

// Bytes of the colour's escape sequence that begins at `i`; 0 for none.
std::size_t escape_at(std::string_view text, std::size_t i) {
  if (text.substr(i, 2) != "\x1b[") return 0;
  const std::size_t end = text.find('m', i);
  return end == std::string_view::npos ? 0 : end + 1 - i;
}

// Parts of a word of at most `width` columns. Paths and signatures are cut after a separator, where
// one is in the second half of the part. A word with colours stays whole.
std::vector<std::string_view> broken(std::string_view word, std::size_t width) {
  constexpr std::string_view kSeparators = "/\\,:;_-.=(<>)";
  std::vector<std::string_view> parts;
  while (width > 0 && width_of(word) > width && word.find('\x1b') == std::string_view::npos) {
    std::size_t cut = bytes_of(word, width);
    const std::size_t separator = word.find_last_of(kSeparators, cut - 1);
    if (separator != std::string_view::npos && separator >= cut / 2) cut = separator + 1;
    parts.push_back(word.substr(0, cut));
    word.remove_prefix(cut);
  }
  parts.push_back(word);
  return parts;
}

// Whether the word is the unit of the number right before it: "652 ms)".
bool is_unit_of(std::string_view number, std::string_view word) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "ns", "us", "ms", "s", "%"};
  const bool is_number = number.find_first_not_of("0123456789.") == std::string_view::npos;
  const bool is_adjacent = number.data() + number.size() + 1 == word.data();
  const std::size_t end = word.find_last_not_of("),.:;");
  if (!is_number || !is_adjacent || end == std::string_view::npos) return false;
  return std::ranges::find(kUnits, word.substr(0, end + 1)) != std::end(kUnits);
}

// The words, where a number and its unit are one if they fit a line.
std::vector<std::string_view> words_for(std::string_view text, std::size_t width) {
  std::vector<std::string_view> words;
  for (const std::string_view word : words_of(text)) {
    const bool is_unit = !words.empty() && is_unit_of(words.back(), word) &&
                         width_of(words.back()) + 1 + width_of(word) <= width;
    if (is_unit) {
      words.back() = {words.back().data(), words.back().size() + 1 + word.size()};
    } else {
      words.push_back(word);
    }
  }
  return words;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t escape = escape_at(text, i)) {
      i += escape;
      continue;
    }
    width += (static_cast<unsigned char>(text[i++]) & 0xC0) != 0x80;
  }
  return width;
}

std::size_t bytes_of(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins && width-- == 0) break;
  }
  return at;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return {std::string(text)};
  std::vector<std::string> lines;
  for (const std::string_view word : words_for(text, width)) {
    const bool fits = !lines.empty() && width_of(lines.back()) + 1 + width_of(word) <= width;
    if (fits) {
      (lines.back() += ' ') += word;
      continue;
    }
    for (const std::string_view part : broken(word, width)) lines.emplace_back(part);
  }
  return lines;
}

std::string wrapped_line(std::string_view line, std::size_t width) {
  constexpr std::size_t kLongestLabel = 16;
  if (width_of(line) <= width) return std::string(line);
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", start);
  const bool has_label = gap != std::string_view::npos && gap - start <= kLongestLabel;
  const std::size_t begin = has_label ? line.find_first_not_of(' ', gap) : start;
  const std::size_t indent = has_label ? begin : start + 2;
  if (begin >= line.size() || indent >= width / 2) return std::string(line);

  std::string text(line.substr(0, begin));
  std::size_t column = begin;
  bool is_first = true;
  for (const std::string_view word : words_for(line.substr(begin), width - indent)) {
    const std::size_t size = width_of(word);
    if (is_first) {
      is_first = false;
    } else if (column + 1 + size <= width) {
      text += ' ';
      ++column;
    } else {
      text += '\n' + std::string(indent, ' ');
      column = indent;
    }
    text += word;
    column += size;
  }
  return text;
}

}  // namespace baton::cli
