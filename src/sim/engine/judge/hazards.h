#pragma once

#include <cstdint>

#include "sim/engine/judge/host_watch.h"
#include "sim/engine/judge/shadow.h"
#include "sim/engine/judge/watch.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

// Accesses of one byte of global memory by operations that nothing orders, one of which writes it.
// What is found depends on which accesses were executed, not on when: each operation and thread
// knows after which others it comes (ordering.h, Warp::ordered).

// Prepares a grid to be watched. Reports a programmatic grid whose kernel cannot wait.
void begin_watch(GridState* grid);

// What the grid's threads know of grids of other devices (peer_order.h) from its beginning on, and
// from their wait on.
PeerClock inherited(GridState& grid, bool has_waited);

// The present fragment's lanes touch global memory at these offsets of the region's allocation.
class GlobalWatch {
 public:
  // `scope`: of strong ones. `is_noncoherent`: a load that may miss what is written meanwhile.
  GlobalWatch(Exec* x, const Insn* i, const Region& region, std::uint32_t bytes, AccessKind touch,
              bool strong, MemoryScope scope = MemoryScope::kSystem, bool is_noncoherent = false);
  ~GlobalWatch();
  void touch(int lane, std::uint64_t offset);
  // `lanes` lanes from `lane` on, side by side.
  void touch_run(int lane, std::uint32_t lanes, std::uint64_t offset);

 private:
  template <bool Reads>
  void touch_cells(const Shadow::Layout& layout, int lane, std::uint32_t lanes,
                   std::uint64_t offset);
  // Cells [from, to) of a run that begins at cell `first`, so many of each lane.
  struct Parts {
    std::uint32_t of_lane;
    std::uint64_t first, from, to;
    bool looks_at_all;  // also where there seems to be nothing to find
  };
  template <bool Reads>
  bool touch_parts(const Shadow::Layout& layout, LockedGroup& group, const Parts& parts, int lane,
                   std::uint64_t offset);
  template <bool Reads>
  bool note_whole(const Shadow::Layout& layout, LockedGroup& group, std::uint64_t number, int lane,
                  std::uint8_t step);
  template <bool Reads>
  bool note_cell(Shadow::Cell* cell, std::uint64_t me) const;
  void look(const Shadow::Layout& layout, Shadow::Cell* cell, std::uint64_t number, int lane,
            std::uint64_t offset);
  void look_at_awaited(const Shadow::Layout& layout, const Shadow::Cell& cell, std::uint64_t number,
                       int lane, std::uint64_t offset);
  bool is_awaited(Toucher other, int lane) const;
  bool is_noted(std::uint64_t mine) const;
  bool are_ordered_alike(int lane, std::uint32_t lanes) const;
  void retain(Shadow::Kept& kept, const Shadow::Cell* cell, Toucher toucher);
  bool comes_alone(Toucher other, int lane, std::uint32_t beside) const;
  Ordering::Relation relation_to(Toucher other) const;
  Toucher mine_of(int lane) const;
  bool is_harmless(Toucher other, int lane, std::uint64_t* before);
  bool is_behind_flag(Toucher other, int lane) const;
  bool is_ignorable(std::uint64_t other, std::uint64_t before) const;
  bool is_told(Toucher other, bool other_writes, int lane, std::uint64_t offset);
  bool is_told_too_narrowly(Toucher other, bool other_writes, std::uint64_t offset) const;
  bool is_of_other_device(Toucher other) const;
  // Whether the other one, which is strong, has no other device in its scope.
  static bool is_narrow(Toucher other);
  void note_narrow() const;
  // Whether there is nothing to be found between the access at that offset and the other one.
  bool is_right(Toucher other, bool other_writes, int lane, std::uint64_t offset,
                std::uint64_t* before) {
    return is_harmless(other, lane, before) || is_told(other, other_writes, lane, offset);
  }
  bool may_write_meanwhile(Toucher writer) const;
  void report_noncoherent(Toucher writer, int lane, std::uint64_t offset);
  void found(Toucher other, bool other_writes, int lane, std::uint64_t offset);
  void report();
  void report_forbidden();
  void look_at_rows(int lane, std::uint64_t offset);
  void look_at_origin(int lane, std::uint64_t offset);
  void report_row(const FrozenPart& part, int lane, std::uint64_t offset, std::uint64_t row,
                  std::uint64_t count);

  struct Found {
    Toucher other;
    bool other_writes;
    int lane;
    std::uint64_t offset;
    std::uint64_t count;
    bool is_narrow;  // a scope is
  };

  Exec* x_;
  const Insn* i_;
  const std::uint64_t start_;  // the allocation's address
  Shadow* shadow_;
  const std::uint32_t bytes_;
  const AccessKind touch_;
  const bool strong_;
  const bool is_noncoherent_;
  const bool is_narrow_;  // it is strong, and other devices, which there are, are not in its scope
  const std::uint64_t own_;   // the grid's number, as touchers have it
  const std::uint64_t mine_;  // the toucher that the warp's first thread is
  // Operations that all lanes come after: a writer, and a reader.
  std::uint64_t writer_before_ = UINT64_MAX;
  std::uint64_t reader_before_ = UINT64_MAX;
  bool has_found_ = false;
  Found found_{};
  // Lanes that write what no kernel may, and the first of them.
  std::uint64_t forbidden_ = 0;
  int forbidden_lane_ = 0;
  std::uint64_t forbidden_offset_ = 0;
};

// Threads that order each other: where one of the lanes comes after other grids, all do.
inline void share_order(Warp& warp, std::uint32_t lanes) {
  warp.ordered.add(warp.ordered.sources_of(lanes), lanes);
}

}  // namespace baton::sim
