#include "cli/command_line/option_values.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>

#include "tools/basics.h"

namespace baton::cli {
namespace {

constexpr std::string_view kSeeded = "random:";
constexpr std::uint64_t kMostSchedules = 1000;

}  // namespace

void refuse_value(std::string_view option, std::string_view text, std::string_view wanted) {
  throw error(ErrorCode::kInvalidInput, "{} takes {}, \"{}\" was given", option, wanted, text);
}

double parse_real(std::string_view option, const std::string& text, bool zero,
                  std::string_view wanted) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) ||
      value < 0 || (value == 0 && !zero)) {
    refuse_value(option, text, wanted);
  }
  return value;
}

std::vector<Assignment> parse_assignments(std::string_view option,
                                          const std::vector<std::string>& texts,
                                          std::string_view value) {
  std::vector<Assignment> assignments;
  for (const std::string& text : texts) {
    const std::size_t cut = text.find('=');
    if (cut == std::string::npos || cut == 0 || cut + 1 == text.size()) {
      refuse_value(option, text, fmt::format("NAME={}", value));
    }
    Assignment assignment(text.substr(0, cut), text.substr(cut + 1));
    const auto other =
        std::find_if(assignments.begin(), assignments.end(),
                     [&](const Assignment& earlier) { return earlier.first == assignment.first; });
    if (other == assignments.end()) {
      assignments.push_back(std::move(assignment));
    } else if (other->second != assignment.second) {
      throw error(ErrorCode::kInvalidInput, "{} names \"{}\" twice: \"{}\" and \"{}\"; keep one",
                  option, assignment.first, other->second, assignment.second);
    }
  }
  return assignments;
}

std::vector<Assignment> parse_outputs(const std::vector<std::string>& texts) {
  std::vector<Assignment> outputs = parse_assignments("--output", texts, "FILE.npy");
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    for (std::size_t other = 0; other < k; ++other) {
      const auto path_of = [](const Assignment& output) {
        return std::filesystem::path(output.second).lexically_normal();
      };
      if (path_of(outputs[other]) != path_of(outputs[k])) continue;
      throw error(ErrorCode::kInvalidInput, "--output saves both {} and {} to {}; give each a file",
                  printable(outputs[other].first), printable(outputs[k].first),
                  printable(outputs[k].second));
    }
  }
  return outputs;
}

Followed parse_follow(const std::string& text) {
  constexpr std::string_view kWanted = "NAME=COUNTER or NAME=COUNTER+N";
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) refuse_value("--follow", text, kWanted);
  Followed follow{text.substr(0, equals), text.substr(equals + 1), 0, {}};
  if (const std::size_t plus = follow.counter.find('+'); plus != std::string::npos) {
    const std::string more = follow.counter.substr(plus + 1);
    follow.more = parse_integer<std::int64_t>("--follow", more, 0, "a number of at least 0");
    follow.counter.resize(plus);
  }
  if (follow.buffer.empty() || follow.counter.empty()) refuse_value("--follow", text, kWanted);
  return follow;
}

tools::ExpectedFiles parse_expected(const std::vector<std::string>& texts) {
  tools::ExpectedFiles expected;
  std::vector<std::string> files;
  for (const std::string& text : texts) {
    std::error_code failure;
    if (std::filesystem::is_directory(text, failure)) {
      expected.folders.push_back(text);
    } else {
      files.push_back(text);
    }
  }
  expected.files = parse_assignments("--expect", files, "FILE.npy or a folder");
  return expected;
}

void check_choice(std::string_view option, const std::string& given,
                  std::span<const std::string_view> known) {
  if (given.empty() || std::find(known.begin(), known.end(), given) != known.end()) return;
  throw error(ErrorCode::kInvalidInput, "{} has no choice \"{}\"{}", option, given,
              suggestion(given, known));
}

namespace {

Schedule one_schedule(std::string_view option, const std::string& given) {
  constexpr std::string_view kKnown[] = {"serial", "late", "early", "reverse", "random"};
  // random:SEED is written with its seed.
  const bool seeded = given.starts_with(kSeeded);
  if (seeded) {
    parse_integer<std::uint64_t>(fmt::format("{} {}", option, kSeeded),
                                 given.substr(kSeeded.size()), 0, "a seed");
  }
  check_choice(option, seeded ? "random" : given, kKnown);
  return parse_schedule(given);
}

// "random:1..20" is a schedule for each seed.
void add_schedules(const std::string& given, std::vector<Schedule>& out) {
  const std::size_t dots = given.find("..");
  if (!given.starts_with(kSeeded) || dots == std::string::npos) {
    out.push_back(one_schedule("--schedules", given));
    return;
  }
  const auto seed = [&](std::size_t begin, std::size_t end) {
    return parse_integer<std::uint64_t>("--schedules " + std::string(kSeeded),
                                        given.substr(begin, end - begin), 0, "seeds as 1..20");
  };
  const std::uint64_t first = seed(kSeeded.size(), dots);
  const std::uint64_t last = seed(dots + 2, given.size());
  if (last < first || last - first >= kMostSchedules) {
    refuse_value("--schedules", given,
                 fmt::format("1 to {} seeds, the least one first", kMostSchedules));
  }
  for (std::uint64_t each = first; each <= last; ++each) {
    out.push_back({ScheduleKind::kRandom, each});
  }
}

}  // namespace

std::optional<Schedule> checked_schedule(const std::string& given) {
  if (given.empty()) return std::nullopt;
  return one_schedule("--schedule", given);
}

std::vector<Schedule> checked_schedules(const std::string& given) {
  std::vector<Schedule> schedules;
  for (const std::string& each : parse_list("--schedules", given, "schedules between commas")) {
    add_schedules(each, schedules);
  }
  if (schedules.size() == 1) refuse_value("--schedules", given, "at least two to compare");
  return schedules;
}

Races checked_races(const std::string& given) {
  constexpr std::string_view kKnown[] = {"usual", "global", "model"};
  check_choice("--races", given, kKnown);
  return given.empty() ? Races::kUsual : parse_races(given);
}

std::vector<std::pair<std::string, std::int64_t>> parse_symbols(
    const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  for (const auto& [name, value] : parse_assignments("--set", texts, "VALUE")) {
    symbols.emplace_back(name, parse_integer<std::int64_t>("--set " + name, value,
                                                           std::numeric_limits<std::int64_t>::min(),
                                                           "a 64-bit integer"));
  }
  return symbols;
}

std::regex parse_regex(std::string_view option, const std::string& text) {
  try {
    return std::regex(text, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& failure) {
    throw error(ErrorCode::kInvalidInput, "{} takes a regular expression, \"{}\" is none: {}",
                option, text, failure.what());
  }
}

PdlMode parse_pdl(const std::string& text) {
  constexpr std::string_view kModes[] = {"auto", "on", "off"};
  check_choice("--pdl", text, kModes);
  return text == "on" ? PdlMode::kOn : text == "off" ? PdlMode::kOff : PdlMode::kAuto;
}

CollectiveExecutor parse_collectives(const std::string& text) {
  constexpr std::string_view kExecutors[] = {"auto", "nccl", "peer", "host"};
  check_choice("--collectives", text, kExecutors);
  return text == "nccl"   ? CollectiveExecutor::kNccl
         : text == "peer" ? CollectiveExecutor::kPeer
         : text == "host" ? CollectiveExecutor::kHost
                          : CollectiveExecutor::kAuto;
}

std::optional<RewriteMode> parse_rewrite(const std::string& text) {
  if (text.empty()) return std::nullopt;
  check_choice("--rewrite", text, kRewriteNames);
  const auto found = std::find(kRewriteNames.begin(), kRewriteNames.end(), text);
  return static_cast<RewriteMode>(found - kRewriteNames.begin());
}

std::optional<RewriteMode> parse_rewrite_alone(const std::string& text) {
  constexpr std::string_view kAuto = kRewriteNames[static_cast<std::size_t>(RewriteMode::kAuto)];
  if (text == kAuto) {
    throw Error(
        ErrorCode::kInvalidInput,
        "--rewrite auto needs the launches of a program, and compile knows none; take wait, "
        "loads, exit or top");
  }
  std::vector<std::string_view> known;
  std::ranges::copy_if(kRewriteNames, std::back_inserter(known),
                       [&](std::string_view name) { return name != kAuto; });
  check_choice("--rewrite", text, known);
  return parse_rewrite(text);
}

std::vector<std::string> parse_list(std::string_view option, std::string_view text,
                                    std::string_view wanted) {
  std::vector<std::string> names;
  for (std::string_view left = text; !text.empty();) {
    const std::size_t comma = left.find(',');
    names.emplace_back(left.substr(0, comma));
    if (names.back().empty()) refuse_value(option, text, wanted);
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  return names;
}

}  // namespace baton::cli
