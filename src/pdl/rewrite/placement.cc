#include "pdl/rewrite/placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "pdl/order/order.h"
#include "pdl/rewrite/wait_placement.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

// The kernel's own wait and trigger: the first ones in the text.
struct OwnPlaces {
  std::uint32_t wait = kNone, trigger = kNone;
};

OwnPlaces find_own(const Footprint& footprint) {
  const std::vector<Operation>& operations = footprint.code->operations;
  OwnPlaces own;
  for (std::uint32_t at = 0; at < operations.size(); ++at) {
    // A wait or trigger that no path reaches does not count.
    if (operations[at].kind == Kind::kWait && footprint.waits != Footprint::Waits::kNever) {
      own.wait = std::min(own.wait, at);
    }
    if (operations[at].kind == Kind::kTrigger && footprint.triggers) {
      own.trigger = std::min(own.trigger, at);
    }
  }
  return own;
}

std::string obstacle_of(const BodyEffects& effects, const OwnPlaces& own) {
  if (effects.size() == 0) return "it has no instructions";
  if (own.wait == kNone) {
    return own.trigger == kNone ? ""
                                : "it has a trigger of its own, at " +
                                      effects.place_of(own.trigger) + ", and no wait";
  }
  for (std::uint32_t at = 0; at < effects.code().operations.size(); ++at) {
    if (!effects.depends(at)) continue;
    const AccessGroup& access = *effects.access(at);
    if (access.order == Order::kAfter) continue;
    const std::string does = fmt::format("it {} at {}", verb_of(access), effects.place_of(at));
    const std::string wait = "its own wait, at " + effects.place_of(own.wait);
    return access.order == Order::kBefore
               ? does + ", which " + wait + ", does not precede"
               : does + ", and nothing proves that " + wait + ", comes before";
  }
  return "";
}

TriggerPlaces triggers_of(const BodyEffects& effects, TriggerPlace trigger,
                          std::optional<std::uint32_t> inserted_wait) {
  switch (trigger) {
    case TriggerPlace::kNowhere:
      break;
    case TriggerPlace::kAtTop:
      return {{kTop}, {}};
    case TriggerPlace::kAtExits:
      return find_exits(effects);
    case TriggerPlace::kBehindLoads:
      return find_ends_of_loads(effects, inserted_wait);
  }
  return {};
}

// The first thread to trigger does so for its block, so a thread may only trigger after its wait.
void drop_early(const Code& code, TriggerPlaces& triggers) {
  const std::vector<Order> order = find_order(code, {}).of;
  const auto is_early = [&](std::uint32_t at) { return order[at] != Order::kAfter; };
  std::erase_if(triggers.before, is_early);
  std::erase_if(triggers.last_iterations,
                [&](const LastIteration& iteration) { return is_early(iteration.at); });
}

}  // namespace

Placement place(const Footprint& footprint, const EarlyWork& early, TriggerPlace trigger) {
  const BodyEffects effects(footprint, early);
  const OwnPlaces own = find_own(footprint);
  Placement out;
  out.obstacle = obstacle_of(effects, own);
  if (!out.obstacle.empty()) return out;
  std::optional<std::uint32_t> inserted_wait;
  if (own.wait == kNone) {
    WaitPlace wait = find_wait_place(effects);
    out.wait = wait.before;
    out.because = std::move(wait.because);
    inserted_wait = out.wait == kTop ? 0 : out.wait;
  } else {
    out.own = "its own wait, at " + effects.place_of(own.wait);
  }
  if (own.trigger == kNone) {
    out.triggers = triggers_of(effects, trigger, inserted_wait);
    if (own.wait != kNone && trigger != TriggerPlace::kAtTop) {
      drop_early(*footprint.code, out.triggers);
    }
  } else {
    out.own += ", and its own trigger, at " + effects.place_of(own.trigger);
  }
  const std::vector<Operation>& operations = footprint.code->operations;
  for (std::uint32_t at = 0; at < operations.size(); ++at) {
    if (operations[at].non_coherent && effects.depends(at)) out.incoherent.push_back(at);
  }
  return out;
}

}  // namespace baton::overlap
