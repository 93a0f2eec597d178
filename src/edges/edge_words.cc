#include "edges/edge_words.h"

#include <fmt/core.h>

namespace baton {

std::string_view to_string(EdgeDecision decision) noexcept {
  switch (decision) {
#define BATON_EDGE_DECISION(name, id, meaning) \
  case EdgeDecision::name:                     \
    return id;
#include "edges/edge_decisions.inc"
#undef BATON_EDGE_DECISION
  }
  return "not_proven";
}

namespace edges {
namespace {

// "reads", "writes", "reads and writes".
std::string_view verb(const overlap::AccessGroup& touch) {
  if (touch.prefetches) return "prefetches";
  if (touch.reads && touch.writes) return "reads and writes";
  return touch.reads ? "reads" : "writes";
}

std::string_view hardly(const overlap::Footprint& leak) {
  return leak.waits == overlap::Footprint::Waits::kNever ? "never waits" : "may end without a wait";
}

// Who set the mode of the edge.
std::string source_of(const bind::PlannedEdge& edge) {
  switch (edge.source) {
    case bind::EdgeSource::kProgram:
      return fmt::format("the program says {}", to_string(edge.mode));
    case bind::EdgeSource::kCaller:
      return fmt::format("the option pdl says {}", to_string(edge.mode));
    case bind::EdgeSource::kEnvironment:
      return "BATON_PDL=off";
  }
  return {};
}

}  // namespace

std::string Names::launch_name(std::uint32_t number) {
  return fmt::format("launch {}", number);
}

std::string describe(const overlap::Verdict& verdict, const Names& names) {
  const auto own_kernel = [&] { return names.kernel(*verdict.own_kernel); };
  const auto what = [&] { return verdict.memory ? names.memory(*verdict.memory) : "memory"; };
  const auto own = [&] {
    return fmt::format("{} {} {} at {}", own_kernel(), verb(*verdict.own), what(),
                       verdict.own->where);
  };
  const auto other = [&] {
    if (verdict.other == nullptr) {
      return fmt::format("{} ({}) may touch anything: {}", names.kernel(*verdict.other_kernel),
                         names.launch(verdict.other_number),
                         overlap::describe(*verdict.other_kernel->unseen));
    }
    return fmt::format("{} ({}) {} it at {}", names.kernel(*verdict.other_kernel),
                       names.launch(verdict.other_number), verb(*verdict.other),
                       verdict.other->where);
  };
  switch (verdict.cause) {
    case EdgeCause::kHolds:
      return own_kernel() + " waits before it touches what an earlier launch touches" +
             (verdict.frozen ? ", except for frozen rows of " + names.memory(*verdict.frozen) : "");
    case EdgeCause::kUnseen:
      return fmt::format("not all of {} can be seen: {}", own_kernel(),
                         overlap::describe(*verdict.own_kernel->unseen));
    case EdgeCause::kNoWait:
      return fmt::format("{} never waits for the launch before it (griddepcontrol.wait)",
                         own_kernel());
    case EdgeCause::kMayNotWait:
      return fmt::format(
          "{} may end without having waited, and then the wait of a later launch does not cover "
          "the launch before it",
          own_kernel());
    case EdgeCause::kConflict:
      return fmt::format("{}, before it has waited, while {}", own(), other());
    case EdgeCause::kOffsets:
      return fmt::format(
          "{}, before it has waited, while {}, at another offset, and the "
          "extent of the accesses is not known",
          own(), other());
    case EdgeCause::kElements:
      return fmt::format(
          "{}, before it has waited, while {}, and no thread of each is known to touch the same "
          "element",
          own(), other());
    case EdgeCause::kUnordered:
      return fmt::format(
          "{}, where nothing proves that it has waited or that another thread's wait orders it, "
          "while {}",
          own(), other());
    case EdgeCause::kAtomic:
      return fmt::format(
          "{}, before it has waited, while {}, both atomically: no update is lost, but "
          "their order is open",
          own(), other());
    case EdgeCause::kStale:
      return fmt::format(
          "{}, before it has waited, while {}: it is not documented whether a wait "
          "discards what is in a cache by then; prefetch.global.L2 is safe, and so is the fence "
          "that acquires a tensor map if it comes after the wait",
          own(), other());
    case EdgeCause::kEither:
      return fmt::format(
          "{}, before it has waited, while {}, or one of them touches other memory instead", own(),
          other());
    case EdgeCause::kNotVisible:
      return fmt::format(
          "{}, before it has waited, while {}, and may be complete by then, but only a wait makes "
          "that visible",
          own(), other());
    case EdgeCause::kUnknownEarly:
      return fmt::format("{}, before it has waited, and the memory is not known: {}", own(),
                         overlap::describe(verdict.why));
    case EdgeCause::kUnknownOther:
      if (verdict.other == nullptr) {
        return fmt::format("{}, before it has waited, while {}", own(), other());
      }
      return fmt::format(
          "{}, before it has waited, while {} ({}) {} memory at {}, and that memory is "
          "not known: {}",
          own(), names.kernel(*verdict.other_kernel), names.launch(verdict.other_number),
          verb(*verdict.other), verdict.other->where, overlap::describe(verdict.why));
    case EdgeCause::kNonCoherent:
      return fmt::format("{} by a non-coherent load, which the wait does not order, while {}{}",
                         own(), other(),
                         verdict.own->constant ? ""
                                               : "; take __restrict__ off it, or load it with "
                                                 "baton::device::pdl_load");
    case EdgeCause::kOtherDevice:
      return fmt::format("{}, {}, and other devices write that at any time", own(),
                         verdict.own->order == overlap::Order::kAfter
                             ? "by a non-coherent load, which no wait orders"
                             : "before it has waited");
    case EdgeCause::kNotRefined:
      return fmt::format(
          "{}, before it has waited, while {}; whether a thread comes there was not checked: the "
          "program has more launches than are checked with their own values",
          own(), other());
    case EdgeCause::kEmptyGrid:
      return "its grid is empty";
    case EdgeCause::kAfterEmptyGrid:
      return "the launch before it has an empty grid";
    case EdgeCause::kTransitiveGap:
      if (verdict.other == nullptr) {
        return fmt::format(
            "{}, and {} between {}, so that this wait may not cover the launches before it", own(),
            names.kernel(*verdict.between), hardly(*verdict.between));
      }
      return fmt::format(
          "{}, and its wait does not cover that: {}, and {} between {} (an H200 showed no stale "
          "value in 200 tries, but nothing promises that)",
          own(), other(), names.kernel(*verdict.between), hardly(*verdict.between));
  }
  return {};
}

std::string describe(EdgeDecision decision, const bind::PlannedEdge& edge) {
  switch (decision) {
    case EdgeDecision::kProven:
      return "it is proven";
    case EdgeDecision::kAsked:
    case EdgeDecision::kForced:
    case EdgeDecision::kOff:
      return source_of(edge);
    case EdgeDecision::kUnsafe:
      return "it is unsafe";
    case EdgeDecision::kNoWait:
      return "the kernel never waits";
    case EdgeDecision::kNotProven:
      return "it is not proven";
    case EdgeDecision::kOtherEdge:
      return "another edge of the launch is not proven";
    case EdgeDecision::kNoPdl:
      return "the device has no programmatic dependent launch";
    case EdgeDecision::kCooperative:
      return "nothing shows that a cooperative grid fits beside the launch before it";
    case EdgeDecision::kOtherPart:
      return "the launches run on different parts of the SMs";
    case EdgeDecision::kEmptyGrid:
      return "a grid is empty";
  }
  return {};
}

}  // namespace edges
}  // namespace baton
