#include "session/advice/edge_forecast.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "base/text/text.h"
#include "session/advice/advice_words.h"

namespace baton {
namespace {

// The time of a link of a chain of small kernels in a graph on an H200, in microseconds: with a
// full edge, with a programmatic one after a kernel that never triggers, and after one that
// triggers after its loads (docs/benchmarks-pdl.md, 16,384 floats).
constexpr double kFullLink = 1.20, kUntriggeredLink = 0.80, kTriggeredLink = 0.73;

// A launch is small if its work takes less than this share of its edge: other launches may well do
// it too, each block for itself.
constexpr double kSmallShare = 0.1;

// Below this a change is not worth a sentence.
constexpr double kLeastForecast = 0.05;

std::string memory_time_text(double microseconds) {
  constexpr double kNanosecond = 1e-3, kSeconds = 1e-6;
  if (microseconds < kNanosecond) return "less than 1 ns";
  return format_duration(microseconds * kSeconds);
}

class Forecaster {
 public:
  Forecaster(const EdgeReport& edge, const LaunchForecast& from, const LaunchForecast& to)
      : edge_(edge), from_(from), to_(to), words_(from.name, to.name) {}

  std::vector<EdgeAdvice> advice() {
    if (edge_.programmatic) {
      start();
      weights();
    } else {
      const std::string text = words_.full_edge(edge_);
      if (!text.empty()) add(kFullLink - kTriggeredLink + from_.tail, text);
    }
    size();
    std::ranges::stable_sort(advice_, std::greater(), &EdgeAdvice::seconds);
    return std::move(advice_);
  }

 private:
  // Whether blocks of the later launch are there before the earlier one has ended.
  bool starts_early() const { return edge_.room && edge_.room->beside > 0; }

  void start() {
    const double saved = kUntriggeredLink - kTriggeredLink + from_.tail;
    if (!edge_.room) {
      add(saved, words_.no_trigger());
    } else if (edge_.room->beside == 0) {
      add(saved, words_.no_room(*edge_.room));
    } else if (from_.triggers_at_its_end) {
      add(saved, words_.late_trigger(from_.name + " triggers at its end"));
    }
  }

  // Memory has time for them while it is idle: between the launches, and after the last blocks.
  void weights() {
    if (!starts_early() || to_.late_weights == 0) return;
    add(std::min(to_.late_weights_time, kTriggeredLink + from_.tail),
        words_.late_weights(fmt::format("{} reads {} of weights, all after its wait", to_.name,
                                        format_bytes(to_.late_weights))));
  }

  void size() {
    if (edge_.from >= edge_.to || edge_.decision == EdgeDecision::kOtherPart) return;
    const LaunchForecast& smaller = from_.memory_time <= to_.memory_time ? from_ : to_;
    const double link = edge_.programmatic ? kTriggeredLink : kFullLink;
    if (smaller.memory_time == 0 || smaller.memory_time >= kSmallShare * link) return;
    add(link, words_.small_launch(fmt::format("{} moves {}, which takes memory {}", smaller.name,
                                              format_bytes(smaller.bytes),
                                              memory_time_text(smaller.memory_time))));
  }

  void add(double microseconds, std::string text) {
    if (microseconds < kLeastForecast) return;
    const auto executions = static_cast<double>(std::min(from_.executions, to_.executions));
    advice_.push_back({std::move(text), microseconds * kSecondsInMicrosecond * executions});
  }

  const EdgeReport& edge_;
  const LaunchForecast &from_, &to_;
  const AdviceWords words_;
  std::vector<EdgeAdvice> advice_;
};

}  // namespace

double forecast_tail(double memory_time, std::uint64_t blocks, std::uint32_t resident,
                     std::uint32_t multiprocessors) {
  const std::uint64_t wave = std::uint64_t{resident} * multiprocessors;
  if (blocks == 0 || wave == 0) return 0;
  const std::uint64_t waves = (blocks + wave - 1) / wave;
  const std::uint64_t last = std::min<std::uint64_t>(blocks - (waves - 1) * wave, multiprocessors);
  const double idle = 1 - static_cast<double>(last) / multiprocessors;
  return memory_time / static_cast<double>(waves) * idle;
}

std::vector<EdgeAdvice> forecast(const EdgeReport& edge, const LaunchForecast& from,
                                 const LaunchForecast& to) {
  return Forecaster(edge, from, to).advice();
}

}  // namespace baton
