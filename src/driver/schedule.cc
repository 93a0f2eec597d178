#include "baton/schedule.h"

#include <charconv>
#include <iterator>
#include <random>
#include <span>

#include "base/error.h"
#include "base/text/suggestion_or.h"

namespace baton {
namespace {

constexpr std::string_view kNames[] = {"serial", "late", "early", "reverse", "random"};

std::uint64_t parse_seed(std::string_view text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, code] = std::from_chars(text.data(), end, seed);
  if (code != std::errc{} || stopped != end) {
    throw error(ErrorCode::kInvalidInput,
                "the schedule random:{} has no seed: write random:N with N from 0 to 2^64 - 1",
                text);
  }
  return seed;
}

}  // namespace

std::string to_string(const Schedule& schedule) {
  std::string name(kNames[static_cast<std::size_t>(schedule.kind)]);
  if (schedule.kind != ScheduleKind::kRandom) return name;
  name += ':';
  name += std::to_string(schedule.seed);
  return name;
}

Schedule parse_schedule(std::string_view text) {
  if (text.starts_with("random:")) return {ScheduleKind::kRandom, parse_seed(text.substr(7))};
  for (std::size_t k = 0; k < std::size(kNames); ++k) {
    if (kNames[k] != text) continue;
    Schedule schedule{static_cast<ScheduleKind>(k), 0};
    // Small enough to be copied by hand.
    if (schedule.kind == ScheduleKind::kRandom) schedule.seed = std::random_device{}() % 1'000'000;
    return schedule;
  }
  throw error(
      ErrorCode::kInvalidInput, "there is no schedule \"{}\"{}", text,
      suggestion_or(text, std::span(kNames), "take serial, late, early, reverse or random:SEED"));
}

}  // namespace baton
