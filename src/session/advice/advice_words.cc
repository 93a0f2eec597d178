#include "session/advice/advice_words.h"

#include <fmt/core.h>

namespace baton {

std::string AdviceWords::full_edge(const EdgeReport& edge) const {
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

std::string AdviceWords::no_trigger() const {
  return fmt::format("{} never triggers: give it a trigger behind its loads (rewrite \"loads\")",
                     from_);
}

std::string AdviceWords::no_room(const EarlyRoom& room) const {
  return fmt::format("no block of {} fits beside those of {}: use less of {} in either", to_, from_,
                     room.limit);
}

std::string AdviceWords::no_wait() const {
  return fmt::format("{} never waits: give it a wait (rewrite \"loads\" adds it, and a trigger)",
                     to_);
}

}  // namespace baton
