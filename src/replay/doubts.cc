#include "replay/doubts.h"

#include <algorithm>

namespace baton::replay {
namespace {

using driver::FindingKind;

// Whether events, host functions and waits that a record lacks may order the two accesses.
bool is_of_order(FindingKind kind) {
  switch (kind) {
    case FindingKind::kUnorderedGrids:
    case FindingKind::kHostRace:
    case FindingKind::kFreeRace:
    case FindingKind::kLivelock:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Doubts::launch(std::uint64_t number, const std::set<std::size_t>& given,
                    bool follows_contents) {
  if (number >= launches_.size()) launches_.resize(number + 1);
  const std::set<std::size_t> reached = memory_.reached(given);
  const auto any = [&](bool ReplayedMemory::*of) {
    return std::ranges::any_of(reached, [&](std::size_t each) { return memory_[each].*of; });
  };
  const bool doubtful = any(&ReplayedMemory::doubtful);
  // A launch of a graph runs again.
  launches_[number].contents |= doubtful && follows_contents;
  launches_[number].lost |= any(&ReplayedMemory::lost_writes);
  if (!doubtful) return;
  for (const std::size_t each : reached) memory_[each].doubtful = true;
}

void Doubts::lose_writes(const std::set<std::size_t>& given) {
  for (const std::size_t each : memory_.reached(given)) {
    memory_[each].doubtful = memory_[each].lost_writes = true;
  }
}

void Doubts::lose_writes() {
  for (ReplayedMemory& each : memory_.all()) each.doubtful = each.lost_writes = true;
}

const Doubts::Launch& Doubts::of(std::uint64_t number) const {
  static const Launch kNone;
  return number < launches_.size() ? launches_[number] : kNone;
}

std::string Doubts::of(const driver::Finding& finding) const {
  for (const auto& tag : {finding.tag, finding.other_tag}) {
    if (!tag || !of(*tag).contents) continue;
    return tag == finding.tag ? "it depends on contents of memory that the record lacks"
                              : "the other launch depends on contents that the record lacks";
  }
  if (finding.kind == FindingKind::kUninitialized && finding.tag && of(*finding.tag).lost) {
    return "work that may write there was not replayed";
  }
  if (order_is_lost_ && is_of_order(finding.kind)) {
    return "work that may order the two was not replayed";
  }
  return {};
}

}  // namespace baton::replay
