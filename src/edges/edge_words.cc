#include "baton/check.h"

namespace baton {

std::string_view to_string(EdgeVerdict verdict) noexcept {
  switch (verdict) {
    case EdgeVerdict::kProven:
      return "proven";
    case EdgeVerdict::kUnsafe:
      return "unsafe";
    case EdgeVerdict::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view to_string(EdgeDecision decision) noexcept {
  switch (decision) {
    case EdgeDecision::kProven:
      return "proven";
    case EdgeDecision::kAsked:
      return "asked";
    case EdgeDecision::kForced:
      return "forced";
    case EdgeDecision::kOff:
      return "off";
    case EdgeDecision::kUnsafe:
      return "unsafe";
    case EdgeDecision::kNoWait:
      return "no_wait";
    case EdgeDecision::kNotProven:
      return "not_proven";
    case EdgeDecision::kOtherEdge:
      return "other_edge";
    case EdgeDecision::kNoPdl:
      return "no_pdl";
    case EdgeDecision::kCooperative:
      return "cooperative";
    case EdgeDecision::kEmptyGrid:
      break;
  }
  return "empty_grid";
}

}  // namespace baton
