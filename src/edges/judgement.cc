#include "edges/judgement.h"

#include <algorithm>
#include <tuple>

#include "pdl/origin/origin.h"

namespace baton::edges {

bool Judgement::is_sound(std::uint32_t launch_count) const {
  const auto place = [](const EdgeReport& edge) { return std::tie(edge.to, edge.from); };
  const auto in_range = [&](const EdgeReport& edge) {
    return edge.from < launch_count && edge.to < launch_count;
  };
  return launches.size() == launch_count && std::ranges::all_of(edges, in_range) &&
         std::ranges::adjacent_find(edges, std::ranges::greater_equal(), place) == edges.end();
}

std::vector<bind::LaunchDecision> Judgement::decisions() const {
  std::vector<bind::LaunchDecision> result;
  for (const JudgedLaunch& launch : launches) {
    bind::LaunchDecision& out = result.emplace_back();
    out.early = launch.early;
    out.waits = launch.waits;
  }
  return result;
}

std::vector<TriggerFacts> Judgement::trigger_facts() const {
  std::vector<TriggerFacts> result;
  for (const JudgedLaunch& launch : launches) result.push_back(launch.trigger);
  return result;
}

bind::DecidedByValues Judgement::decided_by_values() const {
  bind::DecidedByValues result;
  for (const JudgedLaunch& launch : launches) {
    result.arguments.push_back(launch.by_values);
    result.configs |= launch.early;
  }
  return result;
}

std::optional<Judgement> keep(const EdgeJudge& judge) {
  if (judge.refusal() || judge.unsafe() || judge.forbidden_write() || !judge.warnings().empty() ||
      !judge.parallels().empty()) {
    return std::nullopt;
  }
  const std::vector<bind::LaunchDecision> decisions = judge.decisions();
  const std::vector<TriggerFacts> triggers = judge.trigger_facts();
  const bind::DecidedByValues by_values = judge.decided_by_values();
  Judgement kept{{}, judge.reports(), judge.answers()};
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    kept.launches.push_back(
        {decisions[i].early, decisions[i].waits, by_values.arguments[i], triggers[i]});
  }
  return kept;
}

// One iteration more than needed is harmless.
bool KnownJudge::looks_further_back() const {
  const std::size_t number = answered_++;
  return number >= known_.looks_further_back.size() || known_.looks_further_back[number] != '0';
}

bool may_lead_to(DeviceAddress a, std::uint64_t a_bytes, DeviceAddress b, std::uint64_t b_bytes) {
  const auto first = [](DeviceAddress begin) { return begin / overlap::kAllocationAlignment; };
  const auto last = [&](DeviceAddress begin, std::uint64_t bytes) {
    return first(begin + bytes - 1);
  };
  return a_bytes != 0 && b_bytes != 0 && first(a) <= last(b, b_bytes) &&
         first(b) <= last(a, a_bytes);
}

bool given_memory_meets(const bind::BufferTable& buffers) {
  std::vector<std::pair<DeviceAddress, std::uint64_t>> pieces;
  for (const bind::BoundBuffer& buffer : buffers) {
    if (buffer.given && buffer.bytes != 0) pieces.emplace_back(*buffer.given, buffer.bytes);
  }
  std::ranges::sort(pieces);
  return std::ranges::adjacent_find(pieces, [](const auto& a, const auto& b) {
           return may_lead_to(a.first, a.second, b.first, b.second);
         }) != pieces.end();
}

}  // namespace baton::edges
