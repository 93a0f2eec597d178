#include "session/edge_advice.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

namespace baton {
namespace {

constexpr double kSecondsInMicrosecond = 1e-6;
// Below this a change is not worth a sentence: what a clock is read in, and how launches vary.
constexpr double kLeast = 0.1;

class Adviser {
 public:
  Adviser(const trace::EdgeCost& cost, const std::string& from, const std::string& to)
      : cost_(cost), from_(from), to_(to) {}

  // An early start could hide the launch itself, and the last blocks of the one before.
  void full(const EdgeReport& edge) {
    const std::string text = obstacle_of(edge);
    if (!text.empty()) add(cost_.gap + cost_.tail, text);
  }

  void programmatic(const EdgeReport* edge) {
    const bool has_no_room = edge != nullptr && edge->room && edge->room->beside == 0;
    if (cost_.triggered == 0) {
      add(cost_.gap + cost_.tail,
          fmt::format("{} never triggers: give it a trigger behind its loads (--rewrite loads)",
                      from_));
    } else if (has_no_room) {
      add(cost_.gap + cost_.tail,
          fmt::format("no block of {} fits beside those of {}: use less of {} in either", to_,
                      from_, edge->room->limit));
    } else if (cost_.lead < cost_.tail) {
      add(cost_.tail - cost_.lead,
          fmt::format("{} triggers {:.1f} us before its end, when half of its blocks are done for "
                      "{:.1f} us: trigger earlier",
                      from_, cost_.lead, std::max(cost_.tail - cost_.lead, 0.0)));
    }
    if (cost_.wait > cost_.early_work) {
      add(cost_.wait - cost_.early_work,
          fmt::format("{} waits for {:.1f} us after {:.1f} us of work: load weights before the "
                      "wait",
                      to_, cost_.wait, cost_.early_work));
    }
  }

  std::vector<EdgeAdvice> take() {
    std::ranges::stable_sort(advice_, std::greater(), &EdgeAdvice::seconds);
    return std::move(advice_);
  }

 private:
  // What keeps the edge full, and could be changed; else empty.
  std::string obstacle_of(const EdgeReport& edge) const {
    switch (edge.decision) {
      case EdgeDecision::kOff:
        return fmt::format("{} may not start early because PDL is off for it", to_);
      case EdgeDecision::kNoWait:
        return no_wait();
      case EdgeDecision::kNotProven:
      case EdgeDecision::kUnsafe:
        if (edge.cause == EdgeCause::kNoWait) return no_wait();
        return fmt::format("{} may not start early because of its accesses: {}", to_, edge.reason);
      case EdgeDecision::kOtherEdge:
        return fmt::format("{} may not start early because another edge to it is not proven", to_);
      // It is not full, or the launches must be so.
      case EdgeDecision::kProven:
      case EdgeDecision::kAsked:
      case EdgeDecision::kForced:
      case EdgeDecision::kNoPdl:
      case EdgeDecision::kCooperative:
      case EdgeDecision::kOtherPart:
      case EdgeDecision::kEmptyGrid:
        return "";
    }
    return "";
  }

  std::string no_wait() const {
    return fmt::format("{} never waits: give it a wait (--rewrite loads adds it, and a trigger)",
                       to_);
  }

  void add(double microseconds, std::string text) {
    if (microseconds < kLeast) return;
    advice_.push_back({std::move(text), microseconds * kSecondsInMicrosecond *
                                            static_cast<double>(cost_.executions)});
  }

  const trace::EdgeCost& cost_;
  const std::string &from_, &to_;
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
