#include "exec/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "launch/co_residency.h"

namespace baton::exec {
namespace {

using launch::BlockNeeds;
using launch::SharedRange;

// A padded launch leaves less room to the one behind it, which in a group is also the one before.
// What they need of each other settles in a few rounds, since what one takes more leaves the other
// less to take.
constexpr int kMostRounds = 64;

class Spreader {
 public:
  Spreader(const Device& device, std::span<const PlannedLaunch* const> launches,
           std::vector<EdgeReport>& edges, std::vector<LaunchReport>& reports)
      : device_(device),
        launches_(launches),
        edges_(edges),
        reports_(reports),
        sites_(reports.size()) {}

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> least(reports_.size());
    const bool any = std::any_of(edges_.begin(), edges_.end(),
                                 [](const EdgeReport& edge) { return edge.programmatic; });
    if (any) {
      multiprocessor_ = launch::Multiprocessor::of(device_);
      bool changed = true;
      for (int round = 0; changed && round < kMostRounds; ++round) {
        changed = false;
        for (LaunchReport& report : reports_) changed |= pad(report);
      }
      for (EdgeReport& edge : edges_) {
        if (edge.programmatic) edge.room = room(edge);
      }
    }
    for (LaunchReport& report : reports_) {
      if (report.padding != 0) least[report.number] = report.config->shared;
      report.placement = outcome(report);
    }
    return least;
  }

 private:
  // A launch on a multiprocessor.
  struct Site {
    BlockNeeds needs;
    std::uint32_t alone = 0;  // how many of its blocks one holds
  };

  bool is_even(const LaunchReport& report) const {
    const PlannedLaunch* planned = launches_[report.number];
    return planned != nullptr && planned->even && report.config;
  }

  std::span<const EdgeReport> into(std::uint32_t number) const {
    const auto begin =
        std::lower_bound(edges_.begin(), edges_.end(), number,
                         [](const EdgeReport& edge, std::uint32_t to) { return edge.to < to; });
    const auto end = std::find_if(begin, edges_.end(),
                                  [&](const EdgeReport& edge) { return edge.to != number; });
    return {begin, end};
  }

  const Site& site(std::uint32_t number) {
    std::optional<Site>& site = sites_[number];
    if (!site) {
      const Kernel& kernel = launches_[number]->kernel;
      site.emplace();
      site->needs = BlockNeeds::of(kernel, *reports_[number].config);
      site->alone = launch::fit_beside(multiprocessor_, {}, 0, site->needs).blocks;
    }
    return *site;
  }

  launch::Held held(std::uint32_t number) {
    return launch::held_of(reports_[number].config->grid.count(), site(number).alone,
                           device_.limits().multiprocessors);
  }

  std::uint32_t share(std::uint32_t number) const {
    const std::uint64_t blocks = reports_[number].config->grid.count();
    const std::uint32_t by = device_.limits().multiprocessors;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>((blocks + by - 1) / by, UINT32_MAX));
  }

  EarlyRoom room(const EdgeReport& edge) {
    const launch::Fit fit = launch::fit_beside(multiprocessor_, site(edge.from).needs,
                                               held(edge.from).most, site(edge.to).needs);
    return {held(edge.from).most, fit.blocks, share(edge.to), std::string(fit.limit)};
  }

  bool comes_in_groups(const LaunchReport& report) const {
    const LaunchConfig& config = *report.config;
    return config.cooperative() || (config.cluster() && config.cluster()->count() > 1) ||
           launches_[report.number]->kernel.facts().required_cluster;
  }

  // Whether the launch's shared memory changed: it stays where it does for what all have now.
  bool pad(LaunchReport& report) {
    if (!is_even(report) || comes_in_groups(report)) return false;
    BlockNeeds bare = site(report.number).needs;
    bare.shared -= report.padding;
    std::optional<SharedRange> all;
    for (const EdgeReport& edge : into(report.number)) {
      if (!edge.programmatic) continue;
      const auto range = launch::even_range(multiprocessor_, site(edge.from).needs, held(edge.from),
                                            bare, share(edge.to));
      if (!range) continue;
      all = all ? SharedRange{std::max(all->least, range->least), std::min(all->most, range->most)}
                : *range;
    }
    std::uint64_t padding = 0;
    if (all) {
      const std::uint64_t now = bare.shared + report.padding;
      if (all->least <= now && now <= all->most) return false;
      // Rather a multiprocessor with too many blocks than one without room for its share.
      const std::uint64_t wanted = std::min(all->least, all->most);
      padding = wanted - std::min(wanted, bare.shared);
    }
    const std::uint32_t written = report.config->shared - report.padding;
    const std::uint32_t most = launches_[report.number]->kernel.max_dynamic_shared();
    padding = std::min<std::uint64_t>(padding, most - std::min(most, written));
    if (padding == report.padding) return false;
    report.padding = static_cast<std::uint32_t>(padding);
    report.config->shared = written + report.padding;
    sites_[report.number].reset();
    return true;
  }

  // What placement = "even" came to.
  std::string outcome(const LaunchReport& report) {
    if (!is_even(report)) return "";
    if (comes_in_groups(report)) return "its blocks have to be there together, as they are";
    std::string text;
    for (const EdgeReport& edge : into(report.number)) {
      if (!edge.room) continue;
      if (!text.empty()) text += "; ";
      text += outcome(edge);
    }
    return text.empty() ? "it does not start early" : text;
  }

  std::string outcome(const EdgeReport& edge) {
    const EarlyRoom& room = *edge.room;
    const std::uint32_t fewest = held(edge.from).least;
    const std::uint32_t most_fit =
        launch::fit_beside(multiprocessor_, site(edge.from).needs, fewest, site(edge.to).needs)
            .blocks;
    if (room.beside == 0) {
      return fmt::format("none of its blocks fits beside {} of launch {}", room.held, edge.from);
    }
    const std::string beside =
        fmt::format("beside {} of launch {}",
                    fewest == room.held ? fmt::format("{}", room.held)
                                        : fmt::format("{} or {}", fewest, room.held),
                    edge.from);
    if (most_fit > room.share) {
      return fmt::format(
          "up to {} of its blocks fit {}, more than its share of {}: with less room "
          "some would not start early",
          most_fit, beside, room.share);
    }
    return fmt::format("no more than its share of {} fits {}", room.share, beside);
  }

  const Device& device_;
  const std::span<const PlannedLaunch* const> launches_;
  std::vector<EdgeReport>& edges_;
  std::vector<LaunchReport>& reports_;
  std::vector<std::optional<Site>> sites_;  // by launch, with its shared memory as it is now
  launch::Multiprocessor multiprocessor_;
};

}  // namespace

std::vector<std::uint32_t> spread(const Device& device,
                                  std::span<const PlannedLaunch* const> launches,
                                  std::vector<EdgeReport>& edges,
                                  std::vector<LaunchReport>& reports) {
  return Spreader(device, launches, edges, reports).run();
}

}  // namespace baton::exec
