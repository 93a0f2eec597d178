// Naming the races that grid_races.cc finds.

#include <fmt/core.h>

#include <array>
#include <bit>
#include <string>

#include "sim/engine/judge/grid_races.h"
#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/memory/discard.h"
#include "sim/engine/memory/launch_ranges.h"

namespace baton::sim {
namespace {

// One of the two accesses.
struct GridParty {
  GridToucher toucher;
  bool writes = false;

  const char* verb() const {
    if (!writes) return "reads";
    return toucher.updates() ? "updates" : is_discard(toucher.insn()) ? "discards" : "writes";
  }
};

struct ThreadPlace {
  std::array<std::uint32_t, 3> block{}, thread{};
};

ThreadPlace place_of(const GridState& grid, const GridToucher& toucher) {
  const Extent3& size = grid.launch.cluster;
  const std::uint32_t rank = toucher.warp() / grid.warps;
  const std::uint32_t across = grid.launch.grid.x / size.x;
  const std::uint32_t down = grid.launch.grid.y / size.y;
  const std::uint32_t number = toucher.cluster();
  return {{number % across * size.x + rank % size.x,
           number / across % down * size.y + rank / size.x % size.y,
           number / across / down * size.z + rank / size.x / size.y},
          thread_index(grid, toucher.warp() % grid.warps * kLanes +
                                 static_cast<std::uint32_t>(toucher.lane()))};
}

std::string text_of(const std::array<std::uint32_t, 3>& index) {
  return fmt::format("({}, {}, {})", index[0], index[1], index[2]);
}

// `address` is the first byte that two writes leave different, which may lie inside of an access.
// Those of threads are aligned; copies come with their own bytes.
std::uint64_t begin_of_access(std::uint64_t address, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = 16;  // of one thread
  return std::has_single_bit(bytes) && bytes <= kMost ? address & ~(bytes - 1) : address;
}

const char* advice_on_race(const GridToucher& a, const GridToucher& b, const ThreadPlace& mine,
                           const ThreadPlace& theirs, bool has_copy) {
  if (has_copy) {
    return "a bulk copy does so, which may still be under way: wait for it, and order the other "
           "one "
           "after that wait";
  }
  if (a.is_same_warp(b)) return "there is no __syncwarp() of the two lanes between them";
  constexpr auto kWeak = GridToucher::Strength::kWeak;
  if (a.strength() != kWeak && b.strength() != kWeak) {
    if (a.shift() != b.shift() && mine.block == theirs.block) {
      return "they differ in size: strong accesses order nothing unless they are of the same bytes";
    }
    return "the scope of one of them does not reach the other's block: use the scope gpu";
  }
  if (mine.block == theirs.block) return "there is no barrier between the two";
  if (a.cluster() == b.cluster()) return "there is no barrier of the cluster between the two";
  return "nothing orders the two blocks: let the first one release a flag or a counter behind its "
         "access (a fence and an atomic), and the second one acquire it";
}

}  // namespace

void GridRaces::report(const Run& run, const GridToucher& me, const GridToucher& other,
                       bool other_writes, std::uint64_t address, Cause cause) {
  GridState& grid = *run.access.x->grid;
  // About the one that reads, if one does.
  const bool is_mine = !run.writes || other_writes;
  const GridParty self{me, run.writes};
  const GridParty met{other, other_writes};
  const GridParty& subject = is_mine ? self : met;
  const GridParty& rival = is_mine ? met : self;
  const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(subject.toucher.insn()),
                                   reinterpret_cast<std::uintptr_t>(rival.toucher.insn()),
                                   rival.writes ? 1u : 0u, 6u + static_cast<unsigned>(cause)};
  const auto compose = [&] {
    const ThreadPlace mine = place_of(grid, asked_by(subject.toucher));
    const ThreadPlace theirs = place_of(grid, asked_by(rival.toucher));
    const SharedWatch& watch = *run.access.x->block->watch;
    const bool has_copy = watch.is_copy(me.warp()) || watch.is_copy(other.warp());
    driver::Finding finding(cause == Cause::kDiscarded ? driver::FindingKind::kUninitialized
                                                       : driver::FindingKind::kGlobalRace);
    finding.tag = driver::tag_of(grid.launch.note.get());
    finding.kernel = grid.launch.kernel->name;
    finding.block = mine.block;
    finding.thread = mine.thread;
    finding.where = where_of(grid, subject.toucher.insn());
    const std::uint32_t shift = subject.toucher.shift();
    const std::uint64_t bytes =
        shift >= GridToucher::kManyLanes ? run.access.bytes : std::uint64_t{1} << shift;
    const std::uint64_t begin = begin_of_access(address, bytes);
    finding.message = fmt::format(
        "{} {} bytes at {:#x}, {}, that thread {} of {} {} at {}, and {}", subject.verb(), bytes,
        begin, describe(*grid.memory, grid.launch.note.get(), begin), text_of(theirs.thread),
        mine.block == theirs.block ? "the same block" : "block " + text_of(theirs.block),
        rival.verb(), where_of(grid, rival.toucher.insn()),
        cause == Cause::kRace ? advice_on_race(me, other, mine, theirs, has_copy)
                              : advice_of(cause));
    return finding;
  };
  const bool may_be_updated = !subject.writes && rival.toucher.updates() &&
                              subject.toucher.strength() == GridToucher::Strength::kWeak;
  if (!may_be_updated) return grid.logged.add(*grid.log, key, 1, compose);
  if (const auto found = held_.find(key); found != held_.end()) {
    ++found->second.finding.count;
  } else {
    held_.emplace(key, Held{subject.toucher.insn(), compose()});
  }
}

// The thread that asked for it, if it is a copy's.
GridToucher GridRaces::asked_by(const GridToucher& toucher) const {
  const auto found = askers_.find(std::uint64_t{toucher.cluster()} << 10 | toucher.warp());
  return found == askers_.end() ? toucher : toucher.of_warp(found->second);
}

const char* GridRaces::advice_of(Cause cause) {
  switch (cause) {
    case Cause::kRace:
      break;
    case Cause::kProxyFence:
      return "no fence.proxy.async comes between the two: execute one after the earlier access";
    case Cause::kNonCoherent:
      return "a non-coherent load (__ldg, const __restrict__, a texture or a surface) may miss "
             "that, "
             "whatever orders the two: load it in the ordinary way, or in a later launch";
    case Cause::kLaneOrder:
      return kLaneOrderAdvice;
    case Cause::kDiscarded:
      return "what is read before it is written again has no value";
  }
  return "";
}

void GridRaces::report_held(GridState& grid) {
  for (const auto& [key, held] : held_) {
    if (updated_later_.contains(held.read)) continue;
    const driver::Finding& finding = held.finding;
    grid.logged.add(*grid.log, key, finding.count, [&finding] { return finding; });
  }
  held_.clear();
}

}  // namespace baton::sim
