#include "baton/edge.h"

namespace baton {

std::string_view to_string(EdgeVerdict verdict) noexcept {
  switch (verdict) {
    case EdgeVerdict::kProven:
      return "proven";
    case EdgeVerdict::kUnknown:
      return "unknown";
    case EdgeVerdict::kUnsafe:
      return "unsafe";
  }
  return "unknown";
}

std::string_view to_string(EdgeCause cause) noexcept {
  switch (cause) {
#define BATON_EDGE_CAUSE(name, id, verdicts, meaning) \
  case EdgeCause::name:                               \
    return id;
#include "pdl/verdict/edge_causes.inc"
#undef BATON_EDGE_CAUSE
  }
  return "unseen";
}

}  // namespace baton
