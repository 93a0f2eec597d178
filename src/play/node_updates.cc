#include "play/node_updates.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "driver/driver.h"

namespace baton::play {

void NodeUpdates::clear() {
  nodes_.clear();
  marked_.clear();
  by_launch_.clear();
  by_site_.clear();
}

void NodeUpdates::add(const bind::TapeLaunch& launch, bool programmatic, std::uint64_t step,
                      std::span<const std::int64_t> slots) {
  nodes_.push_back({&launch, programmatic, false, step, {slots.begin(), slots.end()}});
}

void NodeUpdates::mark(const bind::TapeChanges& changes) {
  if (by_launch_.empty()) {
    for (std::uint32_t number = 0; number < nodes_.size(); ++number) {
      by_launch_[nodes_[number].launch].push_back(number);
      by_site_[nodes_[number].launch->site].push_back(number);
    }
  }
  for (const bind::TapeLaunch* launch : changes.launches) mark(by_launch_[launch]);
  for (const bind::LaunchSite* site : changes.sites) mark(by_site_[site]);
}

void NodeUpdates::mark(const Numbers& numbers) {
  for (const std::uint32_t number : numbers) {
    if (!std::exchange(nodes_[number].is_marked, true)) marked_.push_back(number);
  }
}

bool NodeUpdates::apply(const TapeInstance& graph, const PlayTarget& target) {
  if (marked_.empty()) return false;
  driver::Simulator* const simulator = target.device.driver().simulator;
  while (!marked_.empty()) {
    Node& node = nodes_[marked_.back()];
    if (simulator != nullptr) {
      std::ranges::copy(target.tape.slots() | std::views::take(target.tape.symbols()),
                        node.slots.begin());
      simulator->note_next_launch(
          note_of(*node.launch, node.step, node.slots, target.buffers, target.tags));
    }
    const bind::LaunchForm& form = *node.launch->form;
    graph.update(marked_.back(), node.programmatic ? *form.early : *form.full,
                 node.launch->arguments);
    node.is_marked = false;
    marked_.pop_back();
  }
  return true;
}

}  // namespace baton::play
