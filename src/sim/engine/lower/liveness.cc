#include "sim/engine/lower/liveness.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "ptx/dataflow.h"
#include "sim/engine/isa/insn.h"

namespace baton::sim {
namespace {

using Bits = std::vector<std::uint64_t>;

bool test(const Bits& bits, std::uint32_t k) {
  return (bits[k / 64] >> (k % 64) & 1) != 0;
}
void set(Bits& bits, std::uint32_t k) {
  bits[k / 64] |= std::uint64_t{1} << (k % 64);
}

// Straight runs of instructions.
struct Run {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  Bits in, out, reads, writes;  // `reads` before any write of the run
};

// Slots that more than one run touches get a bit each; the others, which are most, live and die in
// their run.
struct SlotNumbering {
  std::vector<std::uint32_t> bit_of;   // by slot; kNoBit for those without
  std::vector<std::uint32_t> slot_of;  // by bit
};
constexpr std::uint32_t kNoBit = UINT32_MAX;

// Beyond this the analysis would take more memory than any kernel is worth.
constexpr std::size_t kMostWords = std::size_t{1} << 24;

std::vector<Run> split_runs(const std::vector<LiveStep>& steps,
                            std::vector<std::uint32_t>* run_of) {
  std::vector<bool> leads(steps.size() + 1, false);
  leads[0] = true;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const bool straight = steps[k].successors.size() == 1 &&
                          steps[k].successors[0] == static_cast<std::uint32_t>(k + 1);
    if (straight) continue;
    leads[k + 1] = true;
    for (std::uint32_t next : steps[k].successors) leads[next] = true;
  }
  std::vector<Run> runs;
  run_of->resize(steps.size());
  for (std::uint32_t k = 0; k < steps.size(); ++k) {
    if (leads[k]) runs.push_back({k, k, {}, {}, {}, {}});
    runs.back().end = k + 1;
    (*run_of)[k] = static_cast<std::uint32_t>(runs.size() - 1);
  }
  return runs;
}

SlotNumbering number_slots(const std::vector<LiveStep>& steps,
                           const std::vector<std::uint32_t>& run_of, std::size_t slots) {
  SlotNumbering numbering;
  numbering.bit_of.assign(slots, kNoBit);
  std::vector<std::uint32_t> first_run(slots, kNoBit);
  std::vector<bool> written(slots, false);
  const auto number = [&](std::uint32_t slot) {
    if (numbering.bit_of[slot] != kNoBit) return;
    numbering.bit_of[slot] = static_cast<std::uint32_t>(numbering.slot_of.size());
    numbering.slot_of.push_back(slot);
  };
  const auto touch = [&](std::uint32_t slot, std::uint32_t run) {
    if (first_run[slot] == kNoBit) first_run[slot] = run;
    if (first_run[slot] != run) number(slot);
  };
  for (std::size_t k = 0; k < steps.size(); ++k) {
    for (std::uint32_t slot : steps[k].reads) {
      touch(slot, run_of[k]);
      if (!written[slot]) number(slot);  // an earlier turn of a loop may have written it
    }
    for (std::uint32_t slot : steps[k].writes) {
      touch(slot, run_of[k]);
      if (steps[k].partial) number(slot);
      written[slot] = true;
    }
  }
  return numbering;
}

void gather_bits(const std::vector<LiveStep>& steps, const SlotNumbering& numbering,
                 std::vector<Run>& runs) {
  const std::size_t words = (numbering.slot_of.size() + 63) / 64;
  if (words * runs.size() > kMostWords) {
    throw error(ErrorCode::kLimit,
                "a function of {} basic blocks and {} registers that live across them is too large",
                runs.size(), numbering.slot_of.size());
  }
  for (Run& run : runs) {
    run.reads = run.writes = Bits(words);
    for (std::uint32_t k = run.begin; k < run.end; ++k) {
      for (std::uint32_t slot : steps[k].reads) {
        const std::uint32_t bit = numbering.bit_of[slot];
        if (bit != kNoBit && !test(run.writes, bit)) set(run.reads, bit);
      }
      if (steps[k].partial) continue;
      for (std::uint32_t slot : steps[k].writes) {
        const std::uint32_t bit = numbering.bit_of[slot];
        if (bit != kNoBit) set(run.writes, bit);
      }
    }
  }
}

// What is alive at the end of each run: a backward analysis, whose states are sets of slots.
class Liveness {
 public:
  using State = Bits;

  Liveness(const std::vector<Run>& runs, const std::vector<LiveStep>& steps,
           const std::vector<std::uint32_t>& run_of)
      : runs_(runs), before_(runs.size()) {
    for (std::uint32_t r = 0; r < runs.size(); ++r) {
      for (std::uint32_t next : steps[runs[r].end - 1].successors) {
        before_[run_of[next]].push_back(r);
      }
    }
  }

  const std::vector<std::uint32_t>& before(std::uint32_t run) const { return before_[run]; }

  static bool join(Bits& into, const Bits& from) {
    if (into.empty()) into.resize(from.size());
    std::uint64_t added = 0;
    for (std::size_t w = 0; w < from.size(); ++w) {
      added |= from[w] & ~into[w];
      into[w] |= from[w];
    }
    return added != 0;
  }

  template <typename Emit>
  void flow(std::uint32_t run, const Bits& out, const Emit& emit) {
    pass(run, out);
    for (std::uint32_t before : before_[run]) emit(before, in_);
  }

  // What is alive at the run's beginning.
  const Bits& pass(std::uint32_t run, const Bits& out) {
    const Run& passed = runs_[run];
    in_.resize(out.size());
    for (std::size_t w = 0; w < out.size(); ++w) {
      in_[w] = passed.reads[w] | (out[w] & ~passed.writes[w]);
    }
    return in_;
  }

 private:
  const std::vector<Run>& runs_;
  std::vector<std::vector<std::uint32_t>> before_;
  Bits in_;
};

void solve(std::vector<Run>& runs, const std::vector<LiveStep>& steps,
           const std::vector<std::uint32_t>& run_of) {
  Liveness liveness(runs, steps, run_of);
  std::vector<std::uint32_t> last_first(runs.size());
  std::iota(last_first.rbegin(), last_first.rend(), 0);
  const ptx::VisitOrder order(
      runs.size(),
      last_first, [&](std::uint32_t run) -> const auto& { return liveness.before(run); });
  ptx::DataflowSolver<Liveness> solver(liveness, order);
  const Bits none(runs[0].reads.size());
  for (std::uint32_t run : last_first) solver.seed(run, none);
  solver.run();
  std::vector<Bits> out = std::move(solver).states();
  for (std::uint32_t r = 0; r < runs.size(); ++r) {
    runs[r].in = liveness.pass(r, out[r]);
    runs[r].out = std::move(out[r]);
  }
}

struct Interval {
  std::uint32_t slot = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// The hull of the places where each slot is alive.
std::vector<Interval> hulls(const std::vector<Run>& runs, const std::vector<LiveStep>& steps,
                            const SlotNumbering& numbering) {
  const std::size_t slots = numbering.bit_of.size();
  std::vector<Interval> all(slots);
  std::vector<bool> used(slots, false);
  const auto touch = [&](std::uint32_t slot, std::uint32_t at) {
    Interval& interval = all[slot];
    if (!used[slot]) interval = {slot, at, at};
    used[slot] = true;
    interval.first = std::min(interval.first, at);
    interval.last = std::max(interval.last, at);
  };
  const auto touch_all = [&](const Bits& bits, std::uint32_t at) {
    for (std::size_t w = 0; w < bits.size(); ++w) {
      for (std::uint64_t left = bits[w]; left != 0; left &= left - 1) {
        touch(numbering.slot_of[w * 64 + static_cast<std::size_t>(__builtin_ctzll(left))], at);
      }
    }
  };
  for (const Run& run : runs) {
    touch_all(run.in, run.begin);
    touch_all(run.out, run.end - 1);
    for (std::uint32_t k = run.begin; k < run.end; ++k) {
      for (std::uint32_t slot : steps[k].reads) touch(slot, k);
      for (std::uint32_t slot : steps[k].writes) touch(slot, k);
    }
  }
  std::vector<Interval> found;
  for (std::size_t s = 0; s < slots; ++s) {
    if (used[s]) found.push_back(all[s]);
  }
  std::sort(found.begin(), found.end(),
            [](const Interval& a, const Interval& b) { return a.first < b.first; });
  return found;
}

// Hands out places of one width; the lowest first.
class Units {
 public:
  std::uint32_t take() {
    if (free_.empty()) return size_++;
    const std::uint32_t lowest = *free_.begin();
    free_.erase(free_.begin());
    return lowest;
  }
  void give_back(std::uint32_t unit) { free_.insert(unit); }
  std::uint32_t size() const { return size_; }

 private:
  std::set<std::uint32_t> free_;
  std::uint32_t size_ = 0;
};

}  // namespace

LiveResult place_live(std::vector<LiveSlot>& slots, const std::vector<LiveStep>& steps,
                      std::uint32_t begin) {
  LiveResult result;
  result.end = begin;
  if (steps.empty()) return result;
  std::vector<std::uint32_t> run_of;
  std::vector<Run> runs = split_runs(steps, &run_of);
  const SlotNumbering numbering = number_slots(steps, run_of, slots.size());
  gather_bits(steps, numbering, runs);
  solve(runs, steps, run_of);

  // Registers first; predicates, which are small, each get a word of their own after them. Only
  // registers of one width share places: lanes that wait elsewhere keep their values in their own
  // parts of a slot, and where a part lies depends on the slot's width.
  std::map<std::uint8_t, Units> units;
  std::vector<Interval> active;
  std::uint32_t live = 0;
  std::vector<std::uint32_t> placed;
  std::vector<std::uint32_t> predicates;
  for (const Interval& interval : hulls(runs, steps, numbering)) {
    LiveSlot& slot = slots[interval.slot];
    if (slot.width == 1) {
      predicates.push_back(interval.slot);
      continue;
    }
    // What ends at this instruction is still read by it: its place is free only after it.
    std::erase_if(active, [&](const Interval& old) {
      if (old.last >= interval.first) return false;
      const LiveSlot& ended = slots[old.slot];
      units[ended.width].give_back(ended.offset);
      live -= ended.width / 4u;
      return true;
    });
    slot.offset = units[slot.width].take();  // a number of its pool still
    placed.push_back(interval.slot);
    live += slot.width / 4u;
    result.live_words = std::max(result.live_words, live);
    active.push_back(interval);
  }
  std::map<std::uint8_t, std::uint32_t> pool_at;
  std::uint32_t end = begin;
  for (const auto& [width, pool] : units) {
    pool_at[width] = end;
    end += pool.size() * width * kLanes;
  }
  for (std::uint32_t slot : placed) {
    slots[slot].offset =
        pool_at[slots[slot].width] + slots[slot].offset * slots[slot].width * kLanes;
  }
  for (std::uint32_t slot : predicates) {
    slots[slot].offset = end;
    end += 4;
  }
  result.end = (end + 63) / 64 * 64;
  for (std::uint32_t s = 0; s < slots.size(); ++s) {
    const std::uint32_t bit = numbering.bit_of[s];
    if (slots[s].width == 0 || bit == kNoBit || !test(runs[0].in, bit)) continue;
    result.cleared.emplace_back(slots[s].offset, slots[s].width == 1 ? 4 : slots[s].width * 32u);
  }
  return result;
}

}  // namespace baton::sim
