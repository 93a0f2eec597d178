#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/engine/isa/spec.h"
#include "sim/engine/judge/clock.h"
#include "sim/engine/judge/kept_values.h"
#include "sim/engine/judge/knowledge.h"
#include "sim/engine/judge/lane_parties.h"
#include "sim/engine/judge/shared_access.h"
#include "sim/engine/judge/watch.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

// Races in the shared memory of a cluster's blocks (of one block, in a grid without clusters): two
// warps touch the same bytes, one of them writes, and neither comes after the other; or a warp and
// an asynchronous copy that no thread waited for.
//
// Each warp's time is cut into segments by what it does to be ordered with others: barriers,
// fences, releasing and acquiring accesses. What a segment touched of one block's memory is a
// footprint: sets of bits, a bit a word (a byte, once smaller accesses were seen there). Segments
// that nothing orders are compared with each other when the later of them ends; what is ordered
// before all warps that still run is forgotten. Lanes of one warp are compared with each other
// within a segment (shared_lanes.cc), and beyond it as long as they did not meet (shared_apart.cc).
// Loops touch the same places turn by turn, so an access is first checked against the one that came
// at this point of a segment before: where a segment does what one before it did, it takes over
// that one's footprint.
//
// Two writes of one and the same value to one place are none: whichever comes first, nothing
// differs. Only the memory model calls them a race (Launch::keeps_to_model). A segment that does
// something new keeps what its lanes store to several places. One that does what one before it did
// is not asked for its values until a warp stores for the first time where another one has: from
// then on all are asked (look_at_values). What was there when that warp stored tells what the other
// one had stored unasked.
//
// Atomics and strong accesses order nothing by themselves. A flag does: what one thread releases
// and another one acquires, by the access itself or by a fence beside it (access_flag). What has
// the scope of a block tells other blocks of the cluster nothing. What one cluster tells another
// one passes through flags in global memory (grid_flags.cc), and so does what one device tells
// another one (peer_flags.cc). One thread at a time.
class SharedWatch {
 public:
  // What is looked for.
  struct Settings {
    bool is_read_by_copies = false, is_written_by_copies = false;  // in bulk
    bool keeps_to_model = false;                                   // Launch::keeps_to_model
    // By the memory model alone, copies that overwrite need a proxy fence, too.
    bool keeps_overwritten() const { return is_written_by_copies && keeps_to_model; }
    // What warps touch is kept until it is visible to the async proxy, too.
    bool keeps_unfenced() const { return is_read_by_copies || keeps_overwritten(); }
  };
  // `bytes` of shared memory and `warps` of each block.
  SharedWatch(std::uint32_t bytes, std::uint32_t warps, std::uint32_t blocks,
              const Settings& settings);

  // At the beginning of a cluster.
  void begin();

  // --- What the executing warp touches ---
  using Value = SharedValue;
  using Access = SharedAccess;

  // What a segment touched of one block's memory. `log`, which says who touched what, is all that
  // it did, in order, as long as that is not too much; then equal accesses are kept once.
  struct Footprint {
    std::vector<std::uint64_t> read, write, strong_read, strong_write;
    std::uint32_t low = UINT32_MAX, high = 0;  // words of the sets that are in use
    int shift = 2;                             // log2 of the bytes of a bit
    bool is_whole = true;                      // of the log
    bool lanes_are_compared = false;
    bool writes = false;
    bool has_strong = false;         // accesses: else those sets are empty
    std::size_t thin_at = 0;         // size of the log at which equal accesses are dropped again
    std::uint32_t strong_sizes = 0;  // their elements' bytes, which are powers of two
    std::uint32_t lanes = 0;         // that touched anything
    std::vector<Access> log;
    KeptValues values;                // of stores to several places, while the log is whole
    std::vector<std::uint32_t> idle;  // stores that changed nothing, by their numbers in the log
    bool empty() const { return low >= high; }
  };

  class Memory;
  // One warp's segment of one block's memory that has not ended, and how its latest ones went:
  // Region::shadow of shared memory.
  class Open {
   public:
    void note(const Access& access) {
      if (next_ != end_ && *next_ == access) {
        ++next_;
      } else {
        note_new(access, nullptr, nullptr);
      }
    }
    // Notes a store. `memory` is the first place. It still holds what was there before the store.
    void note(const Access& access, const StoredValues& values, const std::byte* memory) {
      if (next_ != end_ && *next_ == access && (!looks_at_values_ || access.stride == 0)) {
        ++next_;
      } else {
        note_store(access, values, memory);
      }
    }
    // Notes an access of all lanes if it is the one that came here before. The instruction knows
    // its bytes and whether it writes; the values that it writes are not looked at.
    bool note_again(const Insn* insn, std::uint32_t offset, std::uint64_t shape) {
      if (next_ == end_ || next_->insn != insn || next_->offset != offset ||
          next_->shape != shape ||
          (next_->touch != AccessKind::kRead && (next_->stride == 0 || looks_at_values_))) {
        return false;
      }
      ++next_;
      return true;
    }

   private:
    friend class SharedWatch;
    friend class Memory;
    void note_new(const Access& access, const StoredValues* values, const std::byte* memory);
    void note_store(const Access& access, const StoredValues& values, const std::byte* memory);
    void look_at_values();
    // Whether the k-th access of the log stored these values, or values are not asked for.
    bool agrees(const Footprint& past, std::size_t k, const StoredValues* values) const;
    bool replays() const { return end_ != nullptr; }
    std::size_t replayed() const { return static_cast<std::size_t>(next_ - touched_->log.data()); }
    void replay(std::shared_ptr<Footprint> past);
    std::shared_ptr<Footprint> leave();

    // Where `touched_` is one of `past_`: its accesses that did not come again yet. Otherwise null.
    const Access* next_ = nullptr;
    const Access* end_ = nullptr;
    Memory* memory_ = nullptr;
    std::shared_ptr<Footprint> touched_;  // null: nothing yet
    std::array<std::shared_ptr<Footprint>, 4> past_;
    std::uint32_t oldest_ = 0;  // of `past_`
    bool looks_at_values_ = false;
    std::size_t blind_ = 0;              // its first accesses, whose values were not looked at
    std::vector<std::uint64_t> stored_;  // words where it ever stored
  };

  // What two segments lack.
  enum class Lack : std::uint8_t { kNothing, kOrder, kLaneOrder, kProxyFence, kWarpBarrier };

  // The lanes of an access that touch the k-th of its places.
  static std::uint32_t lanes_of(const Access& access, std::uint32_t k);
  // Those that touch one of the bytes [from, from + count).
  static std::uint32_t lanes_at(const Access& access, std::uint32_t from, std::uint32_t count);
  static std::uint32_t lanes_behind(std::span<const Access> log, int lane, std::size_t from,
                                    std::size_t to);
  // The bytes that the lane stores.
  static void copy_stored(const StoredValues& values, int lane, std::uint32_t bytes,
                          std::byte* into);

  // Whether two accesses of one place can be a race. Of stores to several places it is not known
  // what they store.
  bool can_conflict(const Access& a, const Access& b, bool are_of_one_block) const;

  // The bits of one word of the sets that both touch, and not in harmony: strong accesses of one
  // size are not a race with each other, nor are reads.
  static std::uint64_t conflicts_in(const Footprint& a, const Footprint& b, std::uint32_t word) {
    if (!a.has_strong && !b.has_strong) return plain_conflicts_in(a, b, word);
    const std::uint64_t changed = b.write[word] | b.strong_write[word];
    const std::uint64_t weak = (a.write[word] & (b.read[word] | b.strong_read[word] | changed)) |
                               (a.read[word] & changed) | (a.strong_read[word] & b.write[word]) |
                               (a.strong_write[word] & (b.read[word] | b.write[word]));
    const std::uint32_t sizes = a.strong_sizes | b.strong_sizes;
    if ((sizes & (sizes - 1)) == 0) return weak;
    return weak | (a.strong_write[word] & (b.strong_read[word] | b.strong_write[word])) |
           (a.strong_read[word] & b.strong_write[word]);
  }
  static std::uint64_t plain_conflicts_in(const Footprint& a, const Footprint& b,
                                          std::uint32_t word) {
    return (a.write[word] & (b.read[word] | b.write[word])) | (a.read[word] & b.write[word]);
  }
  static std::uint64_t written_in(const Footprint& touched, std::uint32_t word) {
    return touched.write[word] | (touched.has_strong ? touched.strong_write[word] : 0);
  }

  // What is touched of one block's memory.
  class Memory {
   private:
    friend class SharedWatch;
    friend class Open;
    struct Segment {
      std::uint32_t party = 0;
      std::uint32_t warp = 0;  // whose threads its accesses name, of all in the cluster
      std::uint32_t index = 0;
      Clock start;
      std::shared_ptr<Footprint> touched;
      bool needs_fence = false;  // of a bulk copy: a proxy fence after what it meets
      std::size_t blind = 0;     // its first accesses, whose values were not looked at
      // What some of its lanes know besides; null: nothing.
      std::unique_ptr<std::vector<ApartClock>> apart = {};
      Times waited = {};        // copies that each of its lanes knows as far as it asked for them
      std::uint32_t asked = 0;  // of copies: the segment of the warp that asked for them
    };
    struct Ended {
      std::shared_ptr<Footprint> touched;  // null: nothing was
      std::size_t blind = 0;
    };

    Memory(SharedWatch& watch, std::uint32_t rank) : watch_(watch), rank_(rank) {}
    void diverge(Open& open);
    void touch(Footprint& footprint, const Access& access);
    void mark(Footprint& footprint, const Access& access) const;
    void touch_chunks(Footprint& footprint, const Access& access,
                      std::span<const std::uint32_t> chunks);
    void log(Footprint& footprint, const Access& access) const;
    bool is_written(const Footprint& footprint, const Access& access) const;
    bool is_stored_by_others(Open& open, const Access& access);
    void refine();
    void refine(Footprint& footprint);
    std::shared_ptr<Footprint> take();
    void drop(std::shared_ptr<Footprint> footprint);
    Ended end(Open& open);
    void close(Exec* x, Segment segment);
    static void add(const Footprint& from, Footprint& to);
    bool is_ordered_by_lanes(const Segment& one, const Segment& other) const;
    bool is_told_to_all(const Segment& one, const Segment& other) const;
    bool lacks_fence(const Segment& one, const Segment& other) const;
    void compare(Exec* x, const Segment& one, const Segment& other) const;
    void compare_lanes(Exec* x, const Segment& segment) const;
    // Two accesses, by their numbers in the logs of two segments.
    struct Rivals {
      std::size_t mine = 0, theirs = 0;
    };
    std::vector<Rivals> rivals(const Segment& one, const Segment& other, std::uint32_t word) const;
    static std::vector<std::size_t> touching(const Segment& segment, std::uint32_t from,
                                             std::uint32_t count);
    // What two accesses lack, and their first lanes that do.
    struct Meeting {
      Lack lack = Lack::kNothing;
      int mine = 0, theirs = 0;
    };
    Meeting meeting_of(const Segment& one, std::size_t mine, const Segment& other,
                       std::size_t theirs, std::uint32_t at) const;
    static bool is_idle(const Segment& segment, std::size_t index);
    bool are_stores(const Segment& one, const Access& a, const Segment& other,
                    const Access& b) const;
    bool store_equal_rows(const Segment& one, std::size_t mine, const Segment& other,
                          std::size_t theirs) const;
    bool store_the_same(const Segment& one, std::size_t mine, const Segment& other,
                        std::size_t theirs, std::uint32_t at) const;
    // An access by one of its lanes.
    struct Party {
      const Segment& segment;
      const Access& access;
      int lane = 0;
    };
    void report(Exec* x, const Party& mine, const Party& theirs, std::uint32_t at, Lack lack) const;
    void forget(const Times& over, const Times* fenced);
    void begin();

    SharedWatch& watch_;
    const std::uint32_t rank_;
    int shift_ = 2;           // log2 of the bytes of a bit
    std::vector<Open> open_;  // by warp of the cluster
    std::vector<Segment> closed_;
    std::shared_ptr<Footprint> all_closed_;
    std::vector<std::uint64_t> stored_, stored_by_several_;  // words, by any warp
    // Words of the sets where the segment that ends conflicts with any of `closed_`.
    std::vector<std::uint32_t> suspicious_;
    std::vector<std::shared_ptr<Footprint>> spare_;
  };
  // What the executing warp touches of the memory of the block of that rank.
  Open& open(std::uint32_t rank, const Exec* x) { return memories_[rank].open_[warp_of(x)]; }
  // The number in its cluster of the executing warp.
  std::uint32_t warp_of(const Exec* x) const { return x->block->rank * warps_ + x->warp->index; }

  // --- Asynchronous copies. What the executing lanes did before comes before them ---
  // cp.async of the warp's lanes, in one instruction, writes there. It is over once the warp waited
  // for its group. What it reads of global memory (grid_races.h) is over then, too.
  CopyParty note_copies(Exec* x, std::span<const Access> accesses);
  void commit_copies(Exec* x);
  static constexpr std::uint32_t kAllGroups = UINT32_MAX;
  // All groups are over but the last `left`; with kAllGroups those too that were not committed.
  void wait_copies(Exec* x, std::uint32_t left);
  // They let the phase of the block's own mbarrier end.
  void arrive_copies(Exec* x, std::uint32_t offset);
  // A bulk copy reads there, and is over once the warp waited for its bulk group.
  void note_bulk_read(Exec* x, const Access& access);
  // It also writes global memory (grid_races.h), which is over later than its read.
  CopyParty note_bulk_store(Exec* x, int lane);
  // The executing warp's part of a wgmma reads 16 bytes at each of these offsets in its block's
  // memory; `access` is where they are. It is over once a warp of the warpgroup waited for the
  // group, of which the number says how many the warp committed before it.
  void note_product(Exec* x, const Access& access, std::span<const std::uint32_t> chunks);
  void commit_products(Exec* x);
  void wait_products(Exec* x, std::uint64_t groups);
  void commit_bulk(Exec* x);
  void wait_bulk(Exec* x, std::uint32_t left, bool for_reads);
  // A place in the shared memory of a block of the cluster.
  struct Place {
    std::uint32_t rank = 0, offset = 0;
    auto operator<=>(const Place&) const = default;
  };
  // A bulk copy touches the memory of the block of that rank, beside all others that are under way.
  // It is over for those who wait for the phase of the mbarrier in which that is told the ticket.
  // st.async and red.async are such copies, too, but not of the async proxy.
  std::uint32_t note_bulk(Exec* x, std::uint32_t rank, const Access& access, const Place& mbarrier,
                          bool is_of_async_proxy);
  void complete_bulk(const Place& mbarrier, std::uint32_t ticket);
  CopyParty copy_of(const Place& mbarrier, std::uint32_t ticket) const;

  // --- What orders the executing warp and others. `x` is also for the findings ---
  void arrive(Exec* x, std::uint32_t barrier);
  // The barrier of the block of that rank is complete, and the warps of the mask go on. One
  // `of_all` threads waited for those that exited, too.
  // Of those in `whole` all lanes do, of the others those that `lanes` has by their warp.
  void release(Exec* x, std::uint32_t barrier, std::uint32_t warps, std::uint32_t whole,
               std::span<const std::uint32_t> lanes, bool of_all);
  // An atomic or another strong access of a generic address.
  void access_flag(Exec* x, std::uint64_t address, AccessKind touch, MemoryOrder order,
                   MemoryScope scope);
  void fence(Exec* x, MemoryScope scope);
  void fence_mbarriers(Exec* x);
  void fence_proxy(Exec* x);
  // The lanes of the executing warp met at its barrier.
  void sync_lanes(Exec* x, const Insn* insn, std::uint32_t lanes);
  // They exchange registers.
  void exchange(Exec* x, std::uint32_t lanes);
  // An arrival at an mbarrier, the end of its phase, and of a successful wait for one of the own
  // block. What is relaxed orders by fences alone.
  void arrive_mbarrier(Exec* x, const Place& mbarrier, bool is_relaxed);
  void complete_mbarrier(const Place& mbarrier);
  void leave_mbarrier(Exec* x, std::uint32_t offset, bool is_relaxed);
  void arrive_cluster(Exec* x, bool is_relaxed);
  void complete_cluster();
  // These lanes of a warp of the block of that rank do, which may be all of it.
  void leave_cluster(Exec* x, std::uint32_t rank, std::uint32_t warp, std::uint32_t lanes,
                     bool is_whole);
  void exit(Exec* x);
  // The present segment of a warp of the cluster, and what the warp knows.
  std::uint32_t segment_of(std::uint32_t warp) const { return index_[warp]; }
  const Knowledge& knowledge_of(std::uint32_t warp) const { return clocks_[warp]; }
  const Times& waited_by(std::uint32_t warp) const { return waited_[warp]; }
  // What some lanes of it know besides, and whether the lanes are ordered in other ways, too.
  const std::vector<ApartLanes>& apart_of(std::uint32_t warp) const { return apart_[warp]; }
  bool has_apart(std::uint32_t warp) const { return has_apart_[warp] != 0; }
  // Whether the warp went through segments since its lanes met.
  bool has_parts(std::uint32_t warp) const { return clocks_[warp].over[warp] != index_[warp]; }
  // The same of the executing warp, wherever it goes on.
  const std::uint8_t* apart_flag(const Exec* x) const { return &has_apart_[warp_of(x)]; }
  std::uint32_t warps_of_block() const { return warps_; }
  bool is_copy(std::uint32_t party) const { return party >= all_; }
  // Whether the executing lanes know all that phases of the block's own mbarrier told.
  bool knows_phases(const Exec* x, std::uint32_t offset, bool is_relaxed);
  // Whether the executing warp knows that the block of that rank has begun.
  bool has_begun(const Exec* x, std::uint32_t rank);

 private:
  // Parties of clocks are the warps of the cluster and, from the first asynchronous copy on, what
  // copies for some lanes of a warp, by cp.async or by bulk copies out of shared memory (reading
  // that, and writing global memory), and what copies in bulk for one mbarrier. Copies of one party
  // are not ordered before they are over. Those that the same lanes ask for, of one kind:
  struct Copies {
    std::uint32_t party = 0;
    std::shared_ptr<Footprint> open;
    std::uint32_t index = 0;           // of the open segment
    Clock start;                       // of it
    std::uint32_t asked = 0;           // as in Segment
    std::deque<std::uint32_t> groups;  // the index after each group, of the latest ones
    std::uint64_t committed = 0;       // groups
  };
  struct Mbarrier {
    Knowledge arriving;       // in the present phase
    Knowledge done;           // in all before
    std::uint32_t party = 0;  // of its bulk copies; 0: none yet
    std::uint32_t copies = 0;
  };
  struct Told {
    Knowledge clock;     // with a scope that has the cluster
    Knowledge in_block;  // with the scope of the block
  };
  struct Flag {
    std::vector<Told> told;  // by the rank of who told it
    std::uint32_t warp = 0;  // that wrote it last
    std::uint32_t lanes = 0;
  };
  // Lanes of a warp that are ordered with others at once. All of them are ordered with each other,
  // too: that is all that is known of a warp that does not part.
  struct Who {
    std::uint32_t warp = 0;
    std::uint32_t lanes = 0;
    bool is_whole = true;
  };
  bool is_for_block(MemoryScope scope) const {
    return scope == MemoryScope::kBlock && memories_.size() > 1;
  }
  struct Askers {
    std::uint32_t warp = 0;
    std::uint32_t lanes = kAllLanes;
    auto operator<=>(const Askers&) const = default;
  };
  using AllCopies = std::map<Askers, Copies>;
  // Calls `use` with the copies that some of these lanes asked for.
  template <class Use>
  static void each_of(AllCopies& all, std::uint32_t warp, std::uint32_t lanes, Use use) {
    for (auto at = all.lower_bound({warp, 0}); at != all.end() && at->first.warp == warp; ++at) {
      if ((at->first.lanes & lanes) != 0) use(at->second);
    }
  }
  Copies& copies_of(AllCopies& all, std::uint32_t warp, std::uint32_t lanes);

  Who who(const Exec* x) const;
  Who who_meets(const Exec* x) const;
  const Knowledge& known_to(const Who& who) {
    return has_apart_[who.warp] == 0 ? clocks_[who.warp] : known_apart(who);
  }
  // What one of the lanes knows, and what each of them does.
  const Knowledge& known_apart(const Who& who);
  const Knowledge& known_to_each(const Who& who);
  Knowledge& knowledge_of(const Who& who) {
    return who.is_whole ? clocks_[who.warp] : apart(who).knows;
  }
  Fences& fences_of(const Who& who);
  ApartLanes& apart(const Who& who);
  // Calls `use` with what the fences of the lanes, or of some of them, did.
  template <class Use>
  void each_fences(const Who& who, Use use) const {
    use(fences_[who.warp]);
    for (const ApartLanes& some : apart_[who.warp]) {
      if ((some.lanes & who.lanes) != 0) use(some.fences);
    }
  }
  bool has_fenced(const Who& who) const;
  void raise_own(Times& times, const Who& who) const;
  std::uint32_t party_of(const Exec* x, const Who& who);
  void tell(const Exec* x, Knowledge& object, const Who& who) {
    // Its clock says what it did.
    if (has_apart_[who.warp] != 0) return tell_apart(x, object, who);
    merge(object, clocks_[who.warp]);
    merge(object.over, waited_[who.warp]);
    raise(object.over, who.warp, index_[who.warp]);
  }
  void tell_apart(const Exec* x, Knowledge& object, const Who& who);
  std::unique_ptr<std::vector<ApartClock>> apart_clocks(std::uint32_t warp) const;
  void note_apart(const Who& who);
  void meet(std::uint32_t warp);
  void share_waited(std::uint32_t warp);
  void share(Exec* x, const Who& who);
  static std::span<const ApartClock> apart_of(const Memory::Segment& segment);
  std::uint32_t lanes_before(const Memory::Segment& one, int lane,
                             const Memory::Segment& other) const;
  void close(Exec* x, const Who& who);
  void close_copies(Exec* x, Copies& copies, std::uint32_t warp, bool reads);
  const Copies& note_copies(Exec* x, AllCopies& all, std::uint32_t lanes,
                            std::span<const Access> accesses);
  void commit(Exec* x, AllCopies& all);
  void wait(Exec* x, AllCopies& all, std::uint32_t left);
  void arrive(Exec* x, Knowledge& object, bool is_relaxed, const Who& who);
  void learn(Exec* x, const Who& who, const Knowledge& told);
  void learn_of_others(Exec* x, const Who& who, const ClusterClock& told);
  void take_in(const Exec* x, Knowledge& knowledge, const ClusterClock& told) const;
  ClusterClock known_to_grid(const Exec* x, const Who& who);
  void access_grid_flag(Exec* x, std::uint64_t address, AccessKind touch, MemoryOrder order);
  PeerClock told_to_peers(const Exec* x, std::uint32_t warp);
  void learn_of_peers(Exec* x, Knowledge& knowledge, const PeerClock& known,
                      const PeerClock& narrow) const;
  void access_peer_flag(Exec* x, std::uint64_t address, AccessKind touch, MemoryOrder order,
                        MemoryScope scope);
  void fence_for_peers(Exec* x, MemoryScope scope);
  void forget_ordered();
  void over_for_some(Times& over, Times& fenced) const;
  // From now on segments that do what one before them did must also store what that one stored.
  void look_at_values();
  bool is_live(std::uint32_t warp) const {
    return (live_[warp / warps_] >> warp % warps_ & 1) != 0;
  }

  const std::uint32_t bytes_;
  const std::uint32_t warps_;  // of a block
  const std::uint32_t all_;    // of the cluster
  const Settings settings_;
  std::uint32_t parties_;
  std::deque<Memory> memories_;       // by rank
  std::vector<std::uint32_t> live_;   // warps of each block
  std::vector<std::uint32_t> index_;  // of each warp's segment
  // Of each warp. Its own entry is the segment in which its lanes met the last time.
  std::vector<Knowledge> clocks_;
  // Of each warp, cp.async that all of its lanes waited for since they met: each for its own.
  std::vector<Times> waited_;
  std::vector<std::array<Knowledge, 16>> barriers_;
  std::vector<Knowledge> exited_;  // what each block's warps that exited did
  std::vector<Fences> fences_;     // of each warp
  // Of each warp, lanes that were ordered apart from the rest since its lanes met the last time.
  std::vector<std::vector<ApartLanes>> apart_;
  // Whether any are there, or some told others what they did.
  std::vector<std::uint8_t> has_apart_;
  LaneParties lane_parties_;
  Knowledge known_;  // of known_to
  std::unordered_map<std::uint64_t, Flag> flags_;
  Knowledge cluster_, cluster_done_;  // arrived in the present phase, and in all before
  std::map<Place, Mbarrier> mbarriers_;
  AllCopies copies_, reads_, stores_, products_;
  bool looks_at_values_ = false;
  std::size_t patience_ = 0;  // segments that may be kept before it is looked what is over
};

// cp.async of these lanes writes there, in the block's own shared memory. Returns which copy it is.
CopyParty watch_copies(Exec* x, const Insn* i, const std::uint32_t* offsets, std::uint32_t mask,
                       std::uint32_t bytes);

}  // namespace baton::sim
