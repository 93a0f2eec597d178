#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/engine/exec.h"
#include "sim/engine/watch.h"

namespace baton::sim {

struct GridState;

// Races in a block's shared memory: two warps touch the same bytes, one of them writes, and neither
// comes after the other. Each warp's time is cut into segments by what it does to be ordered with
// others: barriers, atomics, volatile and releasing accesses. What a segment touched is a set of
// bits, a bit a word (a byte, once smaller accesses were seen). Segments that nothing orders are
// held against each other when the later of them ends; what is ordered before all warps that still
// run is forgotten. Lanes of one warp are not held against each other.
//
// Two writes of one and the same value to one place are none: whichever comes first, nothing
// differs.
//
// Atomics and strong accesses of a block order as if they were all on one address: that may hide a
// race and never reports one that is none. One thread at a time.
class SharedWatch {
 public:
  SharedWatch(std::uint32_t bytes, std::uint32_t warps);

  // At the beginning of a block.
  void begin();

  // --- What the warp touches ---
  struct Access {
    const Insn* insn = nullptr;
    std::uint32_t offset = 0;      // bytes, of the first lane
    std::uint32_t bytes = 0;       // of one lane
    std::uint32_t stride = 0;      // bytes from one place to the next
    std::uint16_t places = 1;      // distinct ones
    std::uint8_t first_lane = 0;   // of the first place
    std::uint8_t lanes_apart = 1;  // from one place to the next
    Touch touch = Touch::kRead;
    bool one_value = false;  // it writes `value` to its one place
    std::uint64_t value = 0;
  };
  // `footprint`, where not 0, has bit k set for what is touched 4 * k bytes behind the offset.
  void note(std::uint32_t warp, const Access& access, std::uint64_t footprint = 0);

  // --- What orders warps. `x` is for the findings ---
  void arrive(Exec* x, std::uint32_t warp, std::uint32_t barrier);
  // The barrier is complete, and the warps of the mask go on.
  void release(std::uint32_t barrier, std::uint32_t warps);
  // An atomic or a strong access; everything before it is ordered before everything that comes
  // behind the next such in any warp.
  void synchronize(Exec* x, std::uint32_t warp);
  // Likewise by a thread of another block of the cluster, which may know of all that happened here.
  void synchronize_outside(Exec* x);
  // An arrival at the mbarrier at the offset, and the end of a successful wait for it.
  void arrive_mbarrier(Exec* x, std::uint32_t warp, std::uint32_t offset);
  void arrive_mbarrier_outside(Exec* x, std::uint32_t offset);
  void leave_mbarrier(Exec* x, std::uint32_t warp, std::uint32_t offset);
  void arrive_cluster(Exec* x, std::uint32_t warp);
  void leave_cluster(Exec* x, std::uint32_t warp);
  void exit(Exec* x, std::uint32_t warp);

 private:
  using Clock = std::vector<std::uint32_t>;  // segments of each warp that are done
  using Bits = std::vector<std::uint64_t>;

  static constexpr std::size_t kMostLogged = 1024;
  static constexpr std::size_t kMostClosed = 256;
  static constexpr std::size_t kKnown = 128;

  struct Footprint {
    Bits read, write, update;
    std::uint32_t low = UINT32_MAX, high = 0;  // words of the sets that are in use
    std::vector<Access> log;                   // to name who touched what
    std::array<std::uint64_t, kKnown> known{};
    bool empty() const { return low >= high; }
  };
  struct Segment {
    std::uint32_t warp = 0;
    std::uint32_t index = 0;
    Clock start;
    std::unique_ptr<Footprint> touched;
  };

  std::unique_ptr<Footprint> take_footprint();
  void clear(Footprint& footprint);
  void refine();
  static void add(const Footprint& from, Footprint& to);
  void close(Exec* x, std::uint32_t warp);
  void compare(Exec* x, const Segment& one, const Segment& other) const;
  bool touches(const Footprint& one, const Footprint& other, std::uint32_t word,
               std::uint64_t* bits) const;
  void forget_ordered();
  void merge(Clock& into, const Clock& from) const;
  void join(Clock& object, std::uint32_t warp);
  void join_all(Exec* x, Clock& object);
  Clock& mbarrier(std::uint32_t offset);

  const std::uint32_t bytes_;
  const std::uint32_t warps_;
  int shift_ = 2;  // log2 of the bytes of a bit
  std::uint32_t live_ = 0;
  std::vector<std::unique_ptr<Footprint>> open_;  // of each warp
  std::vector<std::uint32_t> index_;              // of each warp's segment
  std::vector<Clock> clocks_;                     // of each warp
  std::array<Clock, 16> barriers_;
  Clock object_, cluster_;
  std::map<std::uint32_t, Clock> mbarriers_;
  std::vector<Segment> closed_;
  Footprint all_closed_;
  std::vector<std::unique_ptr<Footprint>> spare_;
};

}  // namespace baton::sim
