#pragma once

// A bound program as a tape: its launches, copies, fills and collectives in the order of a run,
// evaluated, checked and packed once. Whatever executes, times or reports a run reads the tape;
// nothing is evaluated again, except in loops too long to unroll.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "baton/launch_plan.h"
#include "bind/evaluate.h"
#include "bind/plan.h"

namespace baton::bind {

// How all executions of one launch of the program are sent, beyond what its step says. The edges
// decide this (edges/edge_judge.h, edges/even_placement.h).
struct LaunchDecision {
  bool early = false;              // it starts early wherever it comes right after another launch
  bool waits = false;              // its end is the end of the launch that it started early after
  std::uint32_t least_shared = 0;  // dynamic shared memory, in bytes
  std::optional<int> carveout;     // preferred_shared_memory_carveout, in percent
};

// One config that a launch of the program is sent with. Executions with equal configs share it.
struct LaunchForm {
  std::optional<LaunchConfig> config;  // as its step says, without a stream; set by an execution
  std::vector<std::int64_t> slots;     // the values that it was evaluated with
  // What is sent, with a full edge and with a programmatic one; Tape::settle makes what is needed.
  std::optional<LaunchPlan> full, early;
};

// One launch of the program, over all its executions.
struct LaunchSite {
  const PlannedLaunch* launch = nullptr;  // null: never executed
  bool follows_launch = false;            // some execution comes right after another launch
  bool follows_other = false;             // some execution does not
  LaunchDecision decision;
  std::vector<LaunchAttribute> events;  // the attributes that record its events; not in a graph
  std::optional<std::uint32_t> part_number;  // of its part of the SMs; nothing: all SMs
  std::optional<LaunchConfig::StreamRef>
      part;                       // a stream of its part of the SMs; of a settled tape
  std::deque<LaunchForm> forms;   // addresses stay valid
  LaunchForm* patched = nullptr;  // the one of these that patched executions share
};

struct TapeLaunch {
  LaunchSite* site = nullptr;
  LaunchForm* form = nullptr;  // null: the grid is empty and nothing is sent
  void** arguments = nullptr;  // one address a parameter; the tape owns both
  bool patched = false;        // evaluated in each iteration of the loop around it
};

// A copy, a fill or a collective.
template <typename Planned>
struct TapeMove {
  const Planned* planned = nullptr;
  typename Planned::Values values;
  bool patched = false;  // evaluated in each iteration of the loop around it
};
using TapeCopy = TapeMove<PlannedCopy>;
using TapeFill = TapeMove<PlannedFill>;
using TapeCollective = TapeMove<PlannedCollective>;

// From here on, the index of an unrolled group has this value.
struct TapeIndex {
  std::uint32_t slot = 0;
  std::int64_t value = 0;
};

struct TapeStep;

// The steps inside run `count` times. The index takes the values from 0 on.
struct TapeLoop {
  const PlannedRepeat* group = nullptr;
  std::uint64_t count = 0;
  bool patched = false;  // the count is evaluated when the loop begins
  std::vector<TapeStep> steps;
};

// The steps inside run if, or as long as, the test says so.
struct TapeCondition {
  const PlannedCondition* group = nullptr;
  PlannedTest::Values values;
  bool patched = false;  // the values are evaluated when the walk comes to it
  std::vector<TapeStep> steps;
};

struct TapeBranch {
  const PlannedBranch* group = nullptr;
  std::vector<TapeStep> steps;
};

// The branches run side by side. Its steps are branches, at least two.
struct TapeParallel {
  const PlannedParallel* group = nullptr;
  std::vector<TapeStep> steps;
};

// The next step is a launch that comes after events of launches in other branches.
struct TapeAfter {
  const PlannedLaunch* launch = nullptr;
};

// The step before is a launch that records events, or has an empty grid.
struct TapeEvents {
  const PlannedLaunch* launch = nullptr;
};

struct TapeStep {
  const PlannedStep* step = nullptr;
  std::variant<TapeLaunch, TapeCopy, TapeFill, TapeCollective, TapeIndex, TapeLoop, TapeCondition,
               TapeParallel, TapeBranch, TapeAfter, TapeEvents>
      action;
};

// Not thread-safe. Refers to the plan and to the buffers it is settled with, which must outlive it.
class Tape {
 public:
  // `symbols`: their values, in the program's order.
  Tape(const Plan& plan, std::vector<std::int64_t> symbols);
  Tape(Tape&&) noexcept;
  Tape& operator=(Tape&&) noexcept;
  ~Tape();

  std::vector<TapeStep> steps;

  LaunchSite& site(std::uint32_t launch) { return sites_[launch]; }
  const LaunchSite& site(std::uint32_t launch) const { return sites_[launch]; }
  // Whether some step is an if or a while: then one walk is not one run.
  bool has_conditions() const { return has_conditions_; }
  // Lanes that steps run in: 1 without a parallel (bind/plan.h).
  std::uint32_t lanes() const { return lanes_; }
  // Events that launches record.
  std::uint32_t events() const { return events_; }
  void set_peers(const PeerChoice& peers) { peers_ = peers; }
  // Whether such a kernel executes the step, which is then a launch for the steps around it.
  bool is_kernel(const TapeCollective& step) const {
    return is_for_peers(*step.planned, step.values, peers_);
  }
  template <typename Planned>
  bool is_kernel(const TapeMove<Planned>&) const {
    return false;
  }
  // Whether the kernel that executes the collective with that number among leaves starts early
  // wherever it comes right after a launch.
  bool starts_early(std::uint32_t leaf) const { return collectives_[leaf] == Start::kEarly; }
  // In one of its executions right after a launch.
  void note_start(std::uint32_t leaf, bool early) {
    if (collectives_[leaf] != Start::kFull)
      collectives_[leaf] = early ? Start::kEarly : Start::kFull;
  }
  // The number of symbols, whose values come first in `slots`.
  std::size_t symbols() const { return symbols_; }
  // Values of the symbols; indexes of groups are 0.
  const std::vector<std::int64_t>& slots() const { return slots_; }
  // The same values, for a walk that changes the indexes. The memory is the tape's, so that a walk
  // allocates nothing. The next call reuses it.
  std::vector<std::int64_t>& begin_walk() {
    walk_slots_ = slots_;
    return walk_slots_;
  }

  // Memory for packed arguments of one launch: an array with one address a parameter. Parameters
  // that `own` does not list share their bytes with `base`, which may be null if all are listed.
  void** allocate_arguments(const PlannedLaunch& launch, std::span<const std::uint32_t> own,
                            void* const* base);
  // Writes one argument, and notes where its buffer's address goes once the buffer has memory.
  void write_argument(const PlannedArgument& argument, Slots slots, const BufferTable& buffers,
                      void* target);

  // Completes the tape: buffers have memory now, and edges are decided (one decision a launch, in
  // the program's order). `parts`: a stream for each part of the plan, to which launches on it are
  // sent from now on. Throws what LaunchPlan's constructor throws.
  void settle(const BufferTable& buffers, std::span<const LaunchDecision> decisions,
              std::span<const Stream> parts = {});
  // Launches of the settled tape record these events from now on, by number; none where edges of a
  // graph order them.
  void set_events(std::span<const Event> events);
  // Whether a buffer of a settled tape can move: no tensor map and no attribute has its address.
  bool can_move(std::uint32_t buffer) const;
  // The buffer's memory lies `distance` bytes further (modulo 2^64) than it did.
  void move_buffer(std::uint32_t buffer, std::uint64_t distance);
  // Replaces the values of symbols, for steps that are evaluated in each iteration.
  void set_symbols(std::span<const std::int64_t> symbols);
  // The stream that launches of no part are sent to from now on. `lanes`: the streams of lanes from
  // 1 on; the same ones in each call. Does nothing if the stream is the same as before.
  void set_stream(const Stream& stream, std::span<const Stream> lanes);

  // Evaluates a patched step with the indexes of an iteration.
  void patch(TapeLaunch& launch, Slots slots);
  template <typename Planned>
  void patch(TapeMove<Planned>& move, Slots slots) const {
    move.values = evaluate(*move.planned, slots, *buffers_);
  }
  std::uint64_t count(const TapeLoop& loop, Slots slots) const;
  void patch(TapeCondition& condition, Slots slots) const;

 private:
  class Arena;
  // Part of a packed argument that holds the address of a buffer.
  struct Relocation {
    const ArgumentPart* part;
    std::byte* target;
    std::uint64_t offset;  // in bytes, of an address; a tensor map is encoded again
    std::uint32_t slots;   // number of saved values, for a tensor map
  };

  void relocate(const Relocation& relocation) const;
  void settle(LaunchSite& site, LaunchForm& form);
  LaunchPlan make_plan(const LaunchSite& site, const LaunchForm& form, bool programmatic) const;
  std::uint32_t save(Slots slots);

  std::vector<std::int64_t> slots_;
  std::vector<std::int64_t> walk_slots_;
  std::size_t symbols_ = 0;
  bool has_conditions_ = false;
  std::uint32_t lanes_ = 1;
  std::uint32_t events_ = 0;
  PeerChoice peers_;
  enum class Start : std::uint8_t { kUnknown, kEarly, kFull };
  std::vector<Start> collectives_;  // by leaf
  std::vector<LaunchSite> sites_;   // by launch
  std::unique_ptr<Arena> arena_;
  std::vector<std::vector<Relocation>> relocations_;  // by buffer
  std::vector<std::vector<std::int64_t>> saved_;      // values of slots, for tensor maps
  const BufferTable* buffers_ = nullptr;
  NativeStream stream_ = nullptr;
  bool has_stream_ = false;
};

// Gives a form of a settled tape another config, and its plans too. Throws what
// LaunchPlan::set_config throws.
void change_config(const LaunchSite& site, LaunchForm& form, const LaunchConfig& config);

}  // namespace baton::bind
