#include "session/advice/edge_advice.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "session/advice/advice_words.h"

namespace baton {
namespace {

// Below this a change is not worth a sentence: what a clock is read in, and how launches vary.
constexpr double kLeast = 0.1;

class Adviser {
 public:
  Adviser(const trace::EdgeCost& cost, const std::string& from, const std::string& to)
      : cost_(cost), from_(from), to_(to), words_(from, to) {}

  // An early start could hide the launch itself, and the last blocks of the one before.
  void full(const EdgeReport& edge) {
    const std::string text = words_.full_edge(edge);
    if (!text.empty()) add(cost_.gap + cost_.tail, text);
  }

  void programmatic(const EdgeReport* edge) {
    const bool has_no_room = edge != nullptr && edge->room && edge->room->beside == 0;
    if (cost_.triggered == 0) {
      add(cost_.gap + cost_.tail, words_.no_trigger());
    } else if (has_no_room) {
      add(cost_.gap + cost_.tail, words_.no_room(*edge->room));
    } else if (cost_.lead < cost_.tail) {
      add(cost_.tail - cost_.lead,
          words_.late_trigger(fmt::format(
              "{} triggers {:.1f} us before its end, when half of its blocks are done for {:.1f} "
              "us",
              from_, cost_.lead, std::max(cost_.tail - cost_.lead, 0.0))));
    }
    if (cost_.wait > cost_.early_work) {
      add(cost_.wait - cost_.early_work,
          words_.late_weights(fmt::format("{} waits for {:.1f} us after {:.1f} us of work", to_,
                                          cost_.wait, cost_.early_work)));
    }
  }

  std::vector<EdgeAdvice> take() {
    std::ranges::stable_sort(advice_, std::greater(), &EdgeAdvice::seconds);
    return std::move(advice_);
  }

 private:
  void add(double microseconds, std::string text) {
    if (microseconds < kLeast) return;
    advice_.push_back({std::move(text), microseconds * kSecondsInMicrosecond *
                                            static_cast<double>(cost_.executions)});
  }

  const trace::EdgeCost& cost_;
  const std::string &from_, &to_;
  const AdviceWords words_;
  std::vector<EdgeAdvice> advice_;
};

}  // namespace

std::vector<EdgeAdvice> advise(const trace::EdgeCost& cost, const EdgeReport* edge,
                               const std::string& from, const std::string& to) {
  Adviser adviser(cost, from, to);
  if (cost.early != 0) {
    adviser.programmatic(edge);
  } else if (edge != nullptr) {
    adviser.full(*edge);
  }
  return adviser.take();
}

}  // namespace baton
