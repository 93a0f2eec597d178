#include "base/text/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace baton {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\f\v";
// Characters of a source line that an excerpt shows: with its number it fits 80 columns.
constexpr std::size_t kExcerptWidth = 69;

// The length of the well-formed UTF-8 sequence at the start of `text`, or 0 (RFC 3629, section 4).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  // The second byte's range keeps out overlong forms, surrogates and values above U+10FFFF.
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  // U+0080 to U+009F: some terminals obey them.
  return character.size() == 2 && first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

// The next character, which is one byte where the text is not UTF-8; `sound` says whether it may be
// shown as it is.
std::string_view take_character(std::string_view& text, bool& sound) {
  const std::size_t length = utf8_length(text);
  const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
  sound = length > 0 && !is_control(character);
  text.remove_prefix(character.size());
  return character;
}

// How many characters a text has, counted no further than `limit`.
std::size_t count_characters(std::string_view text, std::size_t limit) {
  std::size_t count = 0;
  bool sound = false;
  for (; count < limit && !text.empty(); ++count) take_character(text, sound);
  return count;
}

std::string_view find_line(std::string_view text, int line, bool& found) {
  found = false;
  if (line < 1) return {};
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  found = true;
  std::string_view content = text.substr(0, text.find('\n'));
  if (content.ends_with('\r')) content.remove_suffix(1);
  return content;
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string shown;
  const std::size_t total = text.size();
  while (!text.empty()) {
    std::string_view rest = text;
    bool sound = false;
    const std::string_view character = take_character(rest, sound);
    if (total - rest.size() > max_bytes) return shown + "...";
    text = rest;
    if (sound) {
      shown += character;
    } else {
      for (const char byte : character) {
        fmt::format_to(std::back_inserter(shown), "\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
  }
  return shown;
}

std::string source_excerpt(std::string_view text, int line, int column) {
  bool found = false;
  std::string_view rest = find_line(text, line, found);
  if (!found) return {};
  const std::size_t wanted = column > 0 ? static_cast<std::size_t>(column) - 1 : 0;
  const std::size_t caret = count_characters(rest, wanted);
  // A line longer than the width is shown from where the caret stands in its middle.
  const std::size_t first = caret >= kExcerptWidth ? caret - kExcerptWidth / 2 : 0;

  std::string shown = first > 0 ? "..." : "";
  std::string pad(shown.size(), ' ');
  std::size_t position = 0;
  for (; !rest.empty() && position < first + kExcerptWidth; ++position) {
    bool sound = false;
    const std::string_view character = take_character(rest, sound);
    if (position < first) continue;
    const bool tab = character == "\t";
    shown += sound || tab ? character : "?";
    if (position < caret) pad += tab ? '\t' : ' ';
  }
  if (!rest.empty()) shown += "...";

  const std::string number = fmt::format("{:5}", line);
  std::string excerpt = fmt::format("{} | {}", number, shown);
  if (column > 0) excerpt += fmt::format("\n{:{}} | {}^", "", number.size(), pad);
  return excerpt;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // What would round up to 1024.0 belongs to the next unit.
  while (value >= 1023.95 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  std::string number = fmt::format("{:.1f}", value);
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return fmt::format("{} {}", number, kUnits[unit]);
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return fmt::format("{}", seconds);
  if (seconds < 0) return fmt::format("-{}", format_duration(-seconds));
  if (seconds >= 99.95) {
    const auto whole = static_cast<std::uint64_t>(std::min(std::round(seconds), 1e18));
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  }
  struct Unit {
    const char* name;
    double seconds;
  };
  constexpr Unit kUnits[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}};
  const Unit* unit = kUnits;
  while (unit + 1 != std::end(kUnits) && seconds / unit->seconds >= 999.5) ++unit;
  const double value = seconds / unit->seconds;
  // Three digits, and no fraction of a nanosecond.
  const int decimals = unit == kUnits || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, unit->name);
}

}  // namespace baton
