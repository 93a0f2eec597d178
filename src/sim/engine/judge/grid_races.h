#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "sim/engine/isa/spec.h"
#include "sim/engine/judge/grid_cells.h"
#include "sim/engine/judge/lane_parties.h"
#include "sim/engine/judge/watch.h"
#include "sim/engine/report/findings.h"

namespace baton::sim {

struct Knowledge;

// Races in global memory inside one grid: two warps touch the same bytes, one of them writes, and
// neither comes after the other. Within a cluster the clocks of SharedWatch say who comes after
// whom; between clusters it is what flags told (grid_flags.h).
//
// Of each part the last write is kept, with who read since. An access that comes after the one that
// is kept replaces it: what races with the old one then races with the new one, too. Lanes of
// one warp are in a race unless something orders the two. That is the warp's barrier, an operation
// that orders all lanes, or one that tells the one lane what the other did. Strong accesses do not
// race with each other if each one's scope has the other one's thread. A strong read that observes
// a write comes after it, and so does what comes after that read, as far as the same bytes go (PTX
// ISA 9.0, "Causality Order").
//
// Two writes of one and the same value are none, though the memory model calls them a race
// (Launch::keeps_to_model): who reads it need only come after one of them. A
// weak read and an atomic update are none if the reader goes on to update the same bytes, as loops
// around a compare-and-swap do: then the update tells what was there.
//
// One thread of the host executes a grid that is watched so: memory then holds what the last writer
// stored.
class GridRaces {
 public:
  // An access of the present fragment's lanes.
  struct Access {
    Exec* x = nullptr;
    const Insn* insn = nullptr;
    const Region* region = nullptr;
    std::uint32_t bytes = 0;  // of a lane
    AccessKind touch = AccessKind::kRead;
    MemoryScope scope = MemoryScope::kDevice;  // of a strong one
    StoredValues values = {};
    bool is_kept = true;          // else it is a copy's, and only compared with what was before it
    bool is_noncoherent = false;  // a load
    bool is_async = false;        // of the async proxy: a bulk copy's
    const CopyParty* copy = nullptr;  // of one that is kept
  };

  // `lanes` lanes from `lane` on touch bytes side by side, from `offset` in the region on.
  void touch(const Access& access, int lane, std::uint32_t lanes, std::uint64_t offset);

  // Lanes of a cluster's warp that are a party of its clock from now on.
  void add(std::uint64_t cluster, const LaneParty& party) { lane_parties_[cluster].add(party); }

  // At the end of the grid: reports what it may have updated later, and did not.
  void report_held(GridState& grid);

 private:
  // One run of lanes, and what their warp knows.
  struct Run {
    const Access& access;
    const Knowledge& knowledge;
    GridToucher me;  // the first lane
    std::uint64_t address = 0, end = 0;
    int lane = 0;
    std::uint32_t warp = 0;  // that executes it
    bool writes = false;
    // Whether some lanes of the warp may not come after others.
    bool has_apart = false;
    const Times& waited;  // copies that its lanes waited for

    const std::vector<ApartLanes>& apart() const;
  };
  // Why two accesses are a finding.
  enum class Cause : std::uint8_t { kRace, kProxyFence, kNonCoherent, kLaneOrder, kDiscarded };

  void touch_parts(const Run& run, GridCell& cell, std::uint64_t start, std::uint32_t bytes);
  void look(const Run& run, GridCell& cell, std::uint64_t start, std::uint32_t bytes);
  enum class Past : std::uint8_t { kRead, kWrite };
  struct Part {
    std::uint64_t start = 0;
    std::uint32_t bytes = 0;
  };
  bool races(const Run& run, const GridToucher& me, const GridToucher& other, Past past,
             const Part& part) const;
  bool lacks_proxy_fence(const Run& run, const GridToucher& other, Past past,
                         const Part& part) const;
  void look_at_fences(const Run& run, const GridCell& cell, const Part& part);
  void compare(const Run& run, const GridToucher& other, Past past, const Part& part,
               std::uint64_t at);
  bool has_observed(const Run& run, const GridCell& cell, const Part& part) const;
  bool comes_after(const Run& run, const GridToucher& other, Past past, const Part& part) const {
    return comes_after(run, other, other.segment(), past, part);
  }
  bool comes_after(const Run& run, const GridToucher& other, std::uint32_t segment, Past past,
                   const Part& part) const {
    const bool may_know = run.has_apart || !lane_parties_.empty();
    return warp_comes_after(run, other, segment) ||
           (may_know && first_unordered(run, other, segment, past, part) == part.bytes);
  }
  static bool warp_comes_after(const Run& run, const GridToucher& other, std::uint32_t segment);
  std::uint32_t first_unordered(const Run& run, const GridToucher& other, std::uint32_t segment,
                                Past past, const Part& part) const;
  template <class TimesOf>
  std::uint32_t lanes_done(const Run& run, std::uint32_t lanes, const GridToucher& other,
                           std::uint32_t segment, TimesOf times_of) const;
  std::uint32_t lanes_done(const Run& run, std::uint32_t lanes, const GridToucher& other,
                           std::uint32_t segment) const;
  static std::uint64_t first_difference(const Run& run, std::uint64_t start, std::uint32_t bytes);
  void note_update(const GridCell& cell, const GridToucher& me, std::uint32_t bytes);
  void add_reader(const Run& run, GridCell& cell, const GridToucher& me, const Part& part) const;
  void report(const Run& run, const GridToucher& me, const GridToucher& other, bool other_writes,
              std::uint64_t address, Cause cause = Cause::kRace);
  static const char* advice_of(Cause cause);
  GridToucher asked_by(const GridToucher& toucher) const;

  GridCells cells_;
  // Findings of weak reads that race with updates, and loads whose thread updated the bytes later.
  struct Held {
    const Insn* read = nullptr;
    driver::Finding finding;
  };
  std::map<LoggedFindings::Key, Held> held_;
  std::unordered_set<const Insn*> updated_later_;
  // By the cluster and party of copies, which warp asked for them.
  std::unordered_map<std::uint64_t, std::uint32_t> askers_;
  std::unordered_map<std::uint64_t, LaneParties> lane_parties_;  // by cluster
};

}  // namespace baton::sim
