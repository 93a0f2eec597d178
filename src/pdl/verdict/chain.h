#pragma once

// Launches that may run at the same time, each started early beside the one before it, and what is
// to be said of one more. The rules (CUDA programming guide, "Programmatic Dependent Launch and
// Synchronization"; PTX ISA, griddepcontrol):
//  - a launch may start once every block of the one before it has triggered or ended;
//  - its wait holds until the one before it is complete, and that one is not complete before its
//    own wait is over, if some thread of it waits;
//  - a trigger makes no memory visible.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "baton/edge.h"
#include "pdl/footprint/bound.h"

namespace baton::overlap {

// The verdict about an edge, with the accesses that decide it. edges/edge_words.h has the
// sentences.
struct Verdict {
  EdgeVerdict kind = EdgeVerdict::kProven;
  EdgeCause cause = EdgeCause::kHolds;
  const Footprint* own_kernel = nullptr;  // the later launch's kernel
  const AccessGroup* own = nullptr;       // its access
  const AccessGroup* other = nullptr;  // an earlier launch's; null: that launch may touch anything
  std::uint32_t other_number = 0;
  const Footprint* other_kernel = nullptr;
  const Footprint* between = nullptr;  // kTransitiveGap: the kernel that does not wait
  std::optional<MemoryId> memory;
  std::optional<MemoryId> frozen;  // kHolds: memory whose frozen rows it reads before its wait
  UnknownAddress why = UnknownAddress::kNoOrigin;  // kUnknown…: of the access without memory
  // Launches are given pieces of one memory that are apart: other offsets may change the verdict.
  bool by_places = false;

  bool is_worse_than(const Verdict& other_verdict) const { return kind > other_verdict.kind; }
};

// Not thread-safe. Footprints of launches that were followed must outlive it.
class LaunchChain {
 public:
  // Memory that no launch writes, by promise: accesses without a known buffer lie elsewhere.
  // `counter_of`: of memory with frozen rows, their counter. By promise, launches write no row
  // below the counter and read no other row before their wait. Rows do not share a line of a cache.
  // `is_shared`: memory that other devices write whenever they like. No launch and no wait of this
  // device orders that, so an early access of it is never proven.
  explicit LaunchChain(std::function<bool(MemoryId)> is_constant,
                       std::function<std::optional<MemoryId>(MemoryId)> counter_of = {},
                       std::function<bool(MemoryId)> is_shared = {})
      : is_constant_(std::move(is_constant)),
        counter_of_(std::move(counter_of)),
        is_shared_(std::move(is_shared)) {}

  // What is certain of the launches with their own numbers. `position`: of an earlier launch since
  // the last full edge, from 0.
  class Evidence {
   public:
    virtual ~Evidence() = default;
    // Whether an access of the launch that is judged and one of the earlier launch certainly touch
    // one byte. `early`: the first comes before everything that may order threads.
    virtual bool meet(const AccessGroup& own, std::uint32_t position, const AccessGroup& other,
                      bool early) = 0;
    // Whether the two, of one memory, certainly never touch one byte of it.
    virtual bool never_meet(const AccessGroup& own, std::uint32_t position,
                            const AccessGroup& other, MemoryId memory) = 0;
    // Whether all threads of the earlier launch trigger before they wait.
    virtual bool triggers_early(std::uint32_t position) = 0;
  };

  // Returns the verdict about the edge from the last launch, if it were programmatic. Without
  // evidence, accesses that may meet are taken for ones that do.
  Verdict judge(const BoundLaunch& launch, Evidence* evidence = nullptr) const;

  // The next launch: after a full edge it begins a chain of its own.
  void follow(const BoundLaunch& launch, bool programmatic);

  // What comes next starts when everything before is complete.
  void cut();

  // Other devices write memory of this program. An access whose memory is not known may reach it.
  void expect_shared() { has_shared_ = true; }

  // Whether the next launch's wait may cover less than all that came before.
  bool has_transitive_gap() const { return gap_ != nullptr; }

 private:
  struct Past {
    std::uint64_t offset = 0;
    std::uint64_t bytes = kUnknownBytes;  // as in BoundAccess
    std::uint32_t position = 0;           // in the chain
    std::uint32_t earliest = 0;           // of all that it stands for
    std::uint32_t number = 0;
    const Footprint* kernel = nullptr;
    const AccessGroup* group = nullptr;
    UnknownAddress why = UnknownAddress::kNoOrigin;  // where the memory is not known
    bool is_one_of = false;
    bool is_alone = true;  // it stands for no other launch's access
  };
  // Accesses of one kind to one memory: of each group and place the last, the latest at the end.
  struct Pasts {
    std::vector<Past> list;
    std::optional<Past> first;    // of all
    std::optional<Past> dropped;  // the last that the list has no room for, with the place of all
    void add(const Past& past);
    void clear();
  };
  struct Memory {
    Pasts reads, writes;
    bool is_named = false;  // in this chain
  };

  static bool are_apart(const BoundAccess& access, const Past& past, Evidence* evidence,
                        Verdict& worst);
  void judge_early(const BoundAccess& access, Evidence* evidence, Verdict& worst) const;
  void judge_conflicts(const BoundAccess& access, const Pasts& pasts, Evidence* evidence,
                       Verdict& worst) const;
  void judge_late(const BoundAccess& access, Evidence* evidence, Verdict& worst) const;
  void judge_non_coherent(const BoundAccess& access, Evidence* evidence, Verdict& worst) const;
  void judge_unnamed(const BoundAccess& access, Verdict& worst) const;
  const Past* unnamed(bool writes_only) const;
  std::optional<EdgeCause> doubt(const BoundAccess& access, const Past& past,
                                 Evidence* evidence) const;
  bool may_still_run(std::uint32_t position, Evidence* evidence) const;
  static void raise(Verdict& worst, const Verdict& found);
  static Verdict conflict(EdgeVerdict kind, EdgeCause cause, const BoundAccess& access,
                          const Past& past);

  bool reads_frozen(const BoundAccess& access) const;
  bool may_be_shared(const BoundAccess& access) const {
    return access.memory ? is_shared_ && is_shared_(*access.memory) : has_shared_;
  }

  std::function<bool(MemoryId)> is_constant_;
  std::function<std::optional<MemoryId>(MemoryId)> counter_of_;
  std::function<bool(MemoryId)> is_shared_;
  bool has_shared_ = false;
  // The accesses to one piece of memory in this chain; null: there are none.
  const Memory* memory(MemoryId id) const {
    return id < memories_.size() && memories_[id].is_named ? &memories_[id] : nullptr;
  }

  std::vector<Memory> memories_;  // by MemoryId; they keep their room from chain to chain
  std::vector<MemoryId> named_;   // those of this chain
  Pasts any_reads_, any_writes_;  // of memory without a known buffer
  std::optional<Past> unseen_;    // the last launch that may do anything
  std::uint32_t length_ = 0;
  // By position: whether the launch lets the next one start while those before it run.
  enum class LetsIn : std::uint8_t { kAlways, kByNumbers, kNever };
  std::vector<LetsIn> lets_in_;
  std::uint32_t leaked_ = 0;  // before it, launches may run when the next one's wait is over
  const Footprint* gap_ = nullptr;
};

}  // namespace baton::overlap
