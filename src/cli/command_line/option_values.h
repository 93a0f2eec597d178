#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line/options.h"

namespace baton::cli {

// The values of options: text becomes what it means. Each throws kInvalidInput, naming the option
// and the text; `wanted` says there what the option takes.

[[noreturn]] void refuse_value(std::string_view option, std::string_view text,
                               std::string_view wanted);

template <typename T>
T parse_integer(std::string_view option, std::string_view text, T least, std::string_view wanted) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < least) {
    refuse_value(option, text, wanted);
  }
  return value;
}

// A finite number above 0, or 0 too where `zero` is true.
double parse_real(std::string_view option, const std::string& text, bool zero,
                  std::string_view wanted);
// NAME=VALUE with both sides there. Two values for one name in a list are a contradiction.
std::vector<Assignment> parse_assignments(std::string_view option,
                                          const std::vector<std::string>& texts,
                                          std::string_view value);
// Of --output. Two buffers cannot be saved to one file.
std::vector<Assignment> parse_outputs(const std::vector<std::string>& texts);
// NAME=COUNTER, or with +N after it.
Followed parse_follow(const std::string& text);
// NAME=FILE.npy, or a folder.
tools::ExpectedFiles parse_expected(const std::vector<std::string>& texts);
// Empty is left out. Throws for a word that is not known, with the nearest.
void check_choice(std::string_view option, const std::string& given,
                  std::span<const std::string_view> known);
std::optional<Schedule> checked_schedule(const std::string& given);
// Schedules with commas between them; "random:1..20" is twenty of them.
std::vector<Schedule> checked_schedules(const std::string& given);
Races checked_races(const std::string& given);
std::vector<std::pair<std::string, std::int64_t>> parse_symbols(
    const std::vector<std::string>& texts);
std::regex parse_regex(std::string_view option, const std::string& text);
PdlMode parse_pdl(const std::string& text);
CollectiveExecutor parse_collectives(const std::string& text);
std::optional<RewriteMode> parse_rewrite(const std::string& text);
// The same where no launches are known, which "auto" needs.
std::optional<RewriteMode> parse_rewrite_alone(const std::string& text);
// Names with commas between them; none of an empty text.
std::vector<std::string> parse_list(std::string_view option, std::string_view text,
                                    std::string_view wanted);

}  // namespace baton::cli
