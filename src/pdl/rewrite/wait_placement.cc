#include "pdl/rewrite/wait_placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <vector>

#include "ptx/traversal.h"

namespace baton::overlap {
namespace {

// A block that every thread passes, and the region from there to the next such block.
struct Stretch {
  std::uint32_t block = 0;
  bool loops = false;               // a thread may pass the block again
  std::uint32_t dependent = kNone;  // the first instruction that may not be early, in the block
  std::uint32_t beyond = kNone;     // or else in its region
};

class WaitPlacer {
 public:
  explicit WaitPlacer(const BodyEffects& effects) : effects_(effects), flow_(effects.flow()) {}

  WaitPlace place() const {
    const std::vector<Stretch> all = stretches();
    // The first that has something to wait for, in its block or in its region.
    std::size_t last = 0;
    while (last + 1 < all.size() && all[last].dependent == kNone && all[last].beyond == kNone) {
      ++last;
    }
    const std::uint32_t wanted =
        all[last].dependent != kNone ? all[last].dependent : all[last].beyond;
    std::size_t chosen = last;
    while (chosen > 0 && all[chosen].loops) --chosen;
    const Stretch& stretch = all[chosen];
    WaitPlace out;
    // If it loops, the body begins with a loop.
    if (!stretch.loops) {
      out.before = before_arguments(
          stretch.dependent != kNone ? stretch.dependent : flow_.blocks()[stretch.block].end - 1);
    }
    if (wanted == kNone) {
      out.because = "the kernel touches nothing that another launch may touch";
    } else if (chosen != last || stretch.loops) {
      out.because = "it is in front of the loop in which the kernel " + describe(wanted);
    } else if (stretch.dependent != kNone) {
      out.because = "directly after it the kernel " + describe(wanted);
    } else {
      out.because = "every thread passes it, and on some path the kernel then " + describe(wanted);
    }
    return out;
  }

 private:
  // The blocks that post-dominate the entry, in their order. Region k is between the k-th and the
  // next one.
  std::vector<Stretch> stretches() const {
    std::vector<Stretch> result;
    std::vector<bool> seen(flow_.exit());
    std::vector<std::uint32_t> number(flow_.exit(), kNone);  // by block: its stretch
    for (std::uint32_t b = 0; b < flow_.exit(); b = flow_.immediate_post_dominator(b)) {
      number[b] = static_cast<std::uint32_t>(result.size());
      result.push_back({.block = b, .dependent = first_dependent(b)});
    }
    std::vector<bool> is_first(flow_.exit());
    for (const Stretch& stretch : result) is_first[stretch.block] = true;
    std::vector<std::int64_t> ways_back(result.size() + 1);  // how many more at k than before it
    for (std::uint32_t k = 0; k < result.size(); ++k) {
      ptx::mark_reachable(seen, std::span(&result[k].block, 1), [&](std::uint32_t at, auto& go) {
        for (std::uint32_t to : flow_.successors(at)) {
          if (to == flow_.exit()) continue;
          if (number[to] == kNone) {
            number[to] = k;
            result[k].beyond = std::min(result[k].beyond, first_dependent(to));
            go(to);
          } else if (number[to] <= k) {
            // A way back: every stretch from there to here may be passed again. None is from a
            // block in the same region.
            ++ways_back[number[to] + (is_first[to] ? 0 : 1)];
            --ways_back[k + 1];
          }
        }
      });
    }
    std::int64_t open_ways = 0;
    for (std::size_t k = 0; k < result.size(); ++k) {
      open_ways += ways_back[k];
      result[k].loops = open_ways > 0;
    }
    return result;
  }

  std::uint32_t first_dependent(std::uint32_t block) const {
    const auto& [begin, end] = flow_.blocks()[block];
    for (std::uint32_t at = begin; at < end; ++at) {
      if (effects_[at].dependent != kNone) return at;
    }
    return kNone;
  }

  // A call's arguments are stored directly before it, and stay together with it.
  std::uint32_t before_arguments(std::uint32_t at) const {
    const std::vector<Operation>& operations = effects_.code().operations;
    if (!is_call(operations[at])) return at;
    const std::uint32_t begin = flow_.blocks()[flow_.block_of(at)].begin;
    std::uint32_t first = at;
    for (std::uint32_t before = at; before-- > begin;) {
      const ptx::Instruction& instruction = *operations[before].instruction;
      if (instruction.opcode == "call") break;
      if (instruction.opcode == "st" && operations[before].kind == Operation::Kind::kPass) {
        first = before;
      }
    }
    return first;
  }

  std::string describe(std::uint32_t at) const {
    const std::uint32_t dependent = effects_[at].dependent;
    const AccessGroup* access = effects_.access(dependent);
    const std::string_view verb = effects_.is_side_effect(effects_.code().operations[dependent])
                                      ? "calls a function"
                                  : access == nullptr ? "may end in a function"
                                                      : verb_of(*access);
    return fmt::format("{} at {}", verb, effects_.place_of(dependent));
  }

  const BodyEffects& effects_;
  const ptx::ControlFlow& flow_;
};

}  // namespace

WaitPlace find_wait_place(const BodyEffects& effects) {
  return WaitPlacer(effects).place();
}

}  // namespace baton::overlap
