#include "edges/even_placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>

#include "launch/attribute_limits.h"
#include "launch/attribute_table.h"
#include "launch/co_residency.h"

namespace baton::edges {
namespace {

using chip::BlockNeeds;
using launch::Fit;
using launch::SharedRange;
using launch::Standing;

// A padded launch leaves less room to the one behind it, which in a group is also the one before.
// What they need of each other settles in a few rounds, since what one takes more leaves the other
// less to take.
constexpr int kMostRounds = 64;

// Ways back through a program from one launch that are looked at: there are several only where a
// group begins.
constexpr std::size_t kMaxPaths = 16;
// And launches of one path: a multiprocessor has places for 32 blocks.
constexpr std::size_t kMaxPathLength = 32;

constexpr int kAllShared = 100;  // percent

// Launches whose blocks may stand together, by number, the latest first; never empty.
using CoResident = std::vector<std::uint32_t>;

class EvenPlacement {
 public:
  EvenPlacement(const Device& device, std::span<const bind::PlannedLaunch* const> launches,
                const std::vector<TriggerFacts>& trigger_facts, std::vector<EdgeReport>& edges,
                std::vector<LaunchReport>& reports, std::vector<bind::LaunchDecision>& decisions)
      : device_(device),
        launches_(launches),
        trigger_facts_(trigger_facts),
        edges_(edges),
        reports_(reports),
        sites_(reports.size()),
        decisions_(decisions) {}

  void run() {
    const bool any = std::any_of(edges_.begin(), edges_.end(),
                                 [](const EdgeReport& edge) { return edge.programmatic; });
    if (any) {
      multiprocessor_ = launch::multiprocessor_of(device_);
      match_carveout();
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
      if (report.padding != 0) decisions_[report.number].least_shared = report.config->shared;
      report.placement = outcome(report);
    }
  }

 private:
  // A launch on a multiprocessor.
  struct Site {
    BlockNeeds needs;
    std::uint32_t alone = 0;  // how many of its blocks one holds
  };

  bool is_even(const LaunchReport& report) const {
    const bind::PlannedLaunch* planned = launches_[report.number];
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
      site->needs = launch::needs_of_block(kernel, *reports_[number].config);
      site->alone = launch::fit_beside(multiprocessor_, {}, site->needs).blocks;
    }
    return *site;
  }

  launch::Held held(std::uint32_t number) {
    return launch::held_of(reports_[number].config->grid.count(), site(number).alone,
                           sms_of(number));
  }

  // Those that the launch runs on.
  std::uint32_t sms_of(std::uint32_t number) const {
    const std::uint32_t part = reports_[number].config->stream.part_sms;
    return part != 0 ? part : device_.limits().multiprocessors;
  }

  std::uint32_t share(std::uint32_t number) const {
    const std::uint64_t blocks = reports_[number].config->grid.count();
    const std::uint32_t by = sms_of(number);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>((blocks + by - 1) / by, UINT32_MAX));
  }

  // What may stand where the edge's later launch comes: the earlier one, and where that lets others
  // in before it has waited, what it came early after, back to the nearest launch that is spread
  // evenly, which is kept to its share by those before; of these, those that trigger, since the
  // others have ended. None where all have; several where it has several launches before it.
  std::vector<CoResident> co_residents(const EdgeReport& edge) const {
    using Path = std::vector<std::uint32_t>;
    std::vector<Path> open = {{edge.from}};
    std::vector<CoResident> out;
    while (!open.empty()) {
      Path path = std::move(open.back());
      open.pop_back();
      const std::uint32_t last = path.back();
      const bool keeps_out = is_even(reports_[last]) && trigger_facts_[last].triggers;
      bool goes_on = false;
      for (const EdgeReport& before : into(last)) {
        const bool joins = before.programmatic && trigger_facts_[last].lets_in_early &&
                           !keeps_out &&
                           std::find(path.begin(), path.end(), before.from) == path.end();
        if (!joins || path.size() == kMaxPathLength || open.size() + out.size() >= kMaxPaths)
          continue;
        goes_on = true;
        open.push_back(path);
        open.back().push_back(before.from);
      }
      if (goes_on) continue;
      std::erase_if(path, [&](std::uint32_t number) { return !trigger_facts_[number].triggers; });
      if (!path.empty()) out.push_back(std::move(path));
    }
    return out;
  }

  // On the multiprocessors that hold the fewest, or the most, of each.
  std::vector<Standing> residents(const CoResident& co_resident,
                                  std::uint32_t launch::Held::*how_many) {
    std::vector<Standing> out;
    for (const std::uint32_t number : co_resident) {
      out.push_back({site(number).needs, held(number).*how_many});
    }
    return out;
  }

  Fit fit(const EdgeReport& edge, const CoResident& co_resident,
          std::uint32_t launch::Held::*how_many) {
    return launch::fit_beside(multiprocessor_, residents(co_resident, how_many),
                              site(edge.to).needs);
  }

  // None where nothing can stand any more.
  std::optional<EarlyRoom> room(const EdgeReport& edge) {
    const std::vector<CoResident> all = co_residents(edge);
    if (all.empty()) return std::nullopt;
    const std::uint32_t from = trigger_facts_[edge.from].triggers ? held(edge.from).most : 0;
    EarlyRoom room{from, UINT32_MAX, share(edge.to), {}};
    for (const CoResident& co_resident : all) {
      const Fit found = fit(edge, co_resident, &launch::Held::most);
      if (found.blocks >= room.beside) continue;
      room.beside = found.blocks;
      room.limit = found.limit;
    }
    return room;
  }

  // Every launch that is to stand beside blocks of an even one asks for the division that it does,
  // the one with the most shared memory, unless the program says otherwise.
  void match_carveout() {
    const auto* row = launch::find_row(AttributeId::kPreferredSharedMemoryCarveout);
    if (!launch::is_available(*row, device_)) return;
    std::vector<bool> alike(reports_.size());
    for (const EdgeReport& edge : edges_) {
      if (!edge.programmatic) continue;
      for (const CoResident& co_resident : co_residents(edge)) {
        const bool any = is_even(reports_[edge.to]) || is_even(reports_[co_resident.back()]);
        if (!any) continue;
        alike[edge.to] = true;
        for (const std::uint32_t number : co_resident) alike[number] = true;
      }
    }
    for (LaunchReport& report : reports_) {
      if (!alike[report.number]) continue;
      LaunchAttributes& attributes = report.config->attributes;
      if (attributes.has(AttributeId::kPreferredSharedMemoryCarveout)) continue;
      attributes.set(preferred_shared_memory_carveout(kAllShared));
      decisions_[report.number].carveout = kAllShared;
    }
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
      for (const CoResident& co_resident : co_residents(edge)) {
        const auto range =
            launch::even_range(multiprocessor_, residents(co_resident, &launch::Held::least),
                               residents(co_resident, &launch::Held::most), bare, share(edge.to));
        if (!range) continue;
        all =
            all ? SharedRange{std::max(all->least, range->least), std::min(all->most, range->most)}
                : *range;
      }
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
      if (!edge.programmatic) continue;
      if (!text.empty()) text += "; ";
      text += outcome(edge);
    }
    if (!text.empty()) return text;
    return decisions_[report.number].early
               ? "it starts early behind a kernel between peers, whose blocks are not counted"
               : "it does not start early";
  }

  std::string outcome(const EdgeReport& edge) {
    if (!edge.room) {
      return fmt::format("launch {} never triggers, so its blocks have ended when this one starts",
                         edge.from);
    }
    // The set that leaves the least room, and the one that leaves the most.
    const std::vector<CoResident> all = co_residents(edge);
    const auto roomiest =
        std::max_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
          return fit(edge, a, &launch::Held::least).blocks <
                 fit(edge, b, &launch::Held::least).blocks;
        });
    const std::uint32_t most_fit = fit(edge, *roomiest, &launch::Held::least).blocks;
    const EarlyRoom& room = *edge.room;
    if (room.beside == 0) {
      return "none of its blocks fits beside " + described(all.front());
    }
    if (most_fit > room.share) {
      return fmt::format(
          "up to {} of its blocks fit beside {}, more than its share of {}: with less room "
          "some would not start early",
          most_fit, described(*roomiest), room.share);
    }
    return fmt::format("no more than its share of {} fits beside {}", room.share,
                       described(all.front()));
  }

  // "1 of launch 2 and 0 or 1 of launch 1"
  std::string described(const CoResident& co_resident) {
    std::string text;
    for (const std::uint32_t number : co_resident) {
      const launch::Held blocks = held(number);
      if (!text.empty()) text += " and ";
      if (blocks.least != blocks.most) text += fmt::format("{} or ", blocks.least);
      text += fmt::format("{} of launch {}", blocks.most, number);
    }
    return text;
  }

  const Device& device_;
  const std::span<const bind::PlannedLaunch* const> launches_;
  const std::vector<TriggerFacts>& trigger_facts_;
  std::vector<EdgeReport>& edges_;
  std::vector<LaunchReport>& reports_;
  std::vector<std::optional<Site>> sites_;  // by launch, with its shared memory as it is now
  std::vector<bind::LaunchDecision>& decisions_;
  chip::Multiprocessor multiprocessor_;
};

}  // namespace

void place_evenly(const Device& device, std::span<const bind::PlannedLaunch* const> launches,
                  const std::vector<TriggerFacts>& trigger_facts, std::vector<EdgeReport>& edges,
                  std::vector<LaunchReport>& reports,
                  std::vector<bind::LaunchDecision>& decisions) {
  EvenPlacement(device, launches, trigger_facts, edges, reports, decisions).run();
}

}  // namespace baton::edges
