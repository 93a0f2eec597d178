#include "sim/engine/report/wait_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "sim/engine/async/mbarrier.h"

namespace baton::sim {
namespace {

// Which barrier, mbarrier or lanes are waited for.
std::uint32_t object_of(const Fragment& fragment) {
  switch (fragment.wait) {
    case Wait::kBarrier:
      return fragment.id;
    case Wait::kConverge:
    case Wait::kWarpSync:
    case Wait::kMbarrier:
      return fragment.members;
    default:
      return 0;
  }
}

std::string wait_text(const BlockState& block, const Fragment& fragment) {
  switch (fragment.wait) {
    case Wait::kBarrier:
      return fmt::format("waits at barrier {}", fragment.id);
    case Wait::kConverge:
    case Wait::kWarpSync:
      return fmt::format("waits for the lanes {:#010x} of its warp", fragment.members);
    case Wait::kGrid:
      return "waits for the grids before it";
    case Wait::kCluster:
      return "waits at the barrier of its cluster";
    case Wait::kMbarrier:
      return describe_wait(block, fragment.members);
    case Wait::kWarpgroup:
      return "waits for the other warps of its warpgroup to commit the wgmma of the group";
    default:
      return "runs";
  }
}

}  // namespace

// A waiting fragment comes after its instruction, except where it executes it again.
const Insn* place_in_code(const Fragment& fragment) {
  const bool behind = fragment.wait == Wait::kBarrier || fragment.wait == Wait::kWarpSync ||
                      fragment.wait == Wait::kGrid || fragment.wait == Wait::kCluster;
  return behind ? fragment.pc - 1 : fragment.pc;
}

void WaitReport::add(const BlockState& block) {
  for (const Warp& warp : block.warps) {
    for (std::uint32_t k = 0; k < warp.count; ++k) {
      const Fragment& fragment = warp.fragments[k];
      const std::uint32_t what = object_of(fragment);
      Group& group = groups_[{fragment.pc, fragment.wait, what}];
      if (group.block == nullptr || block.number < group.block->number) {
        group.function = warp.frames[fragment.frame].function;
        group.fragment = &fragment;
        group.block = &block;
      }
      if (group.latest != &block) {
        group.latest = &block;
        ++group.blocks;
        group.first_warp = warp.index;
      }
      group.last_warp = warp.index;
      group.threads += static_cast<std::uint64_t>(std::popcount(fragment.mask));
    }
  }
}

void WaitReport::add(const ClusterState& cluster) {
  for (const auto& block : cluster.blocks) add(*block);
}

std::string WaitReport::line(const Group& group) const {
  const auto at =
      static_cast<std::size_t>(place_in_code(*group.fragment) - group.function->code.data());
  const Site site = at < group.function->sites.size() ? group.function->sites[at] : Site{};
  const Extent3& index = group.block->index;
  const std::string block = fmt::format("block ({}, {}, {})", index.x, index.y, index.z);
  std::string who;
  if (group.blocks > 1) {
    who = fmt::format("{}, {} blocks, {} first", grid_.launch.kernel->name, group.blocks, block);
  } else if (group.first_warp == group.last_warp) {
    who = fmt::format("{} {}, warp {}", grid_.launch.kernel->name, block, group.first_warp);
  } else {
    who = fmt::format("{} {}, warps {} to {}", grid_.launch.kernel->name, block, group.first_warp,
                      group.last_warp);
  }
  return fmt::format(
      "{}: {} threads, {}: {}{}", who, group.threads, place_of(*grid_.kernel->ptx, site),
      wait_text(*group.block, *group.fragment),
      site.instruction == nullptr ? "" : fmt::format(" (\"{}\")", text_of(*site.instruction)));
}

std::vector<std::string> WaitReport::lines() const {
  std::vector<const Group*> groups;
  for (const auto& [key, group] : groups_) groups.push_back(&group);
  std::stable_sort(groups.begin(), groups.end(), [](const Group* a, const Group* b) {
    return a->block->number < b->block->number;
  });
  std::vector<std::string> lines;
  for (const Group* group : groups) {
    if (lines.size() == kMostGroups) {
      lines.push_back(fmt::format("{}: at {} more places", grid_.launch.kernel->name,
                                  groups.size() - kMostGroups));
      break;
    }
    lines.push_back(line(*group));
  }
  return lines;
}

}  // namespace baton::sim
