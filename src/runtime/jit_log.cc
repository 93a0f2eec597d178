#include "runtime/jit_log.h"

#include <fmt/core.h>

#include <charconv>

#include "base/text/text.h"
#include "image/ptx/ptxas_message.h"

namespace baton {
namespace {

constexpr std::string_view kSimulated = "<ptx>:";

// Takes the number in front and what comes after it; 0, and nothing taken, where there is none.
int take_number(std::string_view& text, std::string_view behind) {
  int number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc()) return 0;
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (!rest.starts_with(behind)) return 0;
  text = rest.substr(behind.size());
  return number;
}

std::string renamed(std::string_view line, std::string_view name) {
  if (line.starts_with(kSimulated)) {
    return fmt::format("{}:{}", name, line.substr(kSimulated.size()));
  }
  const auto said = image::parse_ptxas_message(line);
  if (!said) return std::string(line);
  return fmt::format("{}:{}: {}: {}", name, said->line, said->severity, said->message);
}

}  // namespace

std::string with_image_name(std::string_view log, std::string_view name) {
  std::string out;
  for (const std::string_view line : split_lines(log)) {
    if (!out.empty()) out += '\n';
    out += renamed(line, name);
  }
  return out;
}

std::optional<Error> first_complaint(std::string_view log, std::string_view name) {
  for (std::string_view line : split_lines(log)) {
    if (!line.starts_with(name) || !line.substr(name.size()).starts_with(":")) continue;
    line.remove_prefix(name.size() + 1);
    SourceLocation where{.file = std::string(name)};
    where.line = take_number(line, ":");
    if (where.line == 0) continue;
    where.column = take_number(line, ":");
    line = trim(line);
    for (const std::string_view label : {"error: ", "fatal: "}) {
      if (line.starts_with(label)) line.remove_prefix(label.size());
    }
    return Error(ErrorCode::kInvalidInput, std::string(line), std::move(where));
  }
  return std::nullopt;
}

}  // namespace baton
