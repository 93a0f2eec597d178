#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bind/edge_mode.h"
#include "bind/tape.h"

namespace baton::bind {

// A run of more steps than this is refused: it would not end, and checking it would not either.
inline constexpr std::uint64_t kMaxRunSteps = std::uint64_t{1} << 24;

// Where launches on parts of the SMs are sent. A plan's part may be all SMs, by the symbols.
struct PartStreams {
  std::span<const Stream> streams;                        // one for each part that was made
  std::span<const std::optional<std::uint32_t>> numbers;  // of the plan's parts, among `streams`

  // Nothing for a launch on all SMs.
  std::optional<std::uint32_t> of(const PlannedLaunch& launch) const {
    return launch.part ? numbers[*launch.part] : std::nullopt;
  }
};

// Where an argument points into its buffer.
struct BufferPlace {
  std::uint64_t offset = 0;            // in bytes
  std::optional<std::uint64_t> bytes;  // of a view, which bounds the kernel's accesses
};

// One execution of a launch, in the order of a run.
struct LaunchExecution {
  const PlannedLaunch& launch;
  const PlannedStep& step;
  const LaunchConfig& config;           // as the step says
  void* const* arguments;               // packed, one address a parameter
  std::span<const BufferPlace> places;  // by parameter that is a buffer
  Before before;
  std::optional<std::uint32_t> part = {};  // of the SMs
};

// One execution of a collective that a kernel between peers executes.
struct CollectiveExecution {
  const PlannedCollective& collective;
  const PlannedStep& step;
  const PlannedCollective::Values& values;
  Before before;
};

// Follows the launches of a run while they are bound, and judges the edges between them.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;

  // Returns whether the launch starts early, as far as is known by now.
  virtual bool launch(const LaunchExecution& execution) = 0;
  // A launch with an empty grid.
  virtual void skip(const PlannedLaunch& launch, const PlannedStep& step, Before before,
                    std::optional<std::uint32_t> part) = 0;
  // The same for a collective that a kernel between peers executes.
  virtual bool kernel(const CollectiveExecution& execution) = 0;
  // A copy, a fill, a collective, or the test of an if or a while.
  virtual void other() = 0;
  // A copy, a fill, a collective or a test accesses `bytes` of a buffer from `offset` on.
  virtual void access(const PlannedStep& step, std::uint32_t buffer, std::uint64_t offset,
                      std::uint64_t bytes, bool writes) = 0;
  // The branches of a parallel follow, each after a call of `branch`, up to `join`. Nothing
  // overlaps where they begin and end.
  virtual void fork(const PlannedStep& parallel) = 0;
  virtual void branch() = 0;
  virtual void join() = 0;
  // The launch before records the event; it has a footprint unless its grid is empty.
  virtual void record(const PlannedEvent& event) = 0;
  // The launch that follows comes after the event of a launch in another branch.
  virtual void after(const PlannedEvent& event) = 0;
  // Whether an iteration depends on more than the one right before it.
  virtual bool looks_further_back() const = 0;
};

// The executions of one launch in a run.
struct LaunchUse {
  std::uint64_t executions = 0;        // the steps of each if and while are counted once
  std::uint64_t skipped = 0;           // of these, with an empty grid
  std::optional<LaunchConfig> config;  // of the last one that is not skipped
};

// A program with values for its symbols; its tape is not settled.
struct BoundSteps {
  Tape tape;
  // Launches, copies, fills and collectives of a run, repeats unrolled, skipped ones too. Those of
  // each if and while are counted once.
  std::uint64_t steps = 0;
  std::vector<bool> written;        // by buffer: whether a step that is executed may write it
  std::vector<LaunchUse> launches;  // by number
};

// Goes through every step of a run once, repeats unrolled: evaluates it, checks it, packs it and
// shows it to the observer. Throws kInvalidInput, kUnsupported or kLimit at the step's place. A
// group without steps that depend on its index is gone through at most three times. Longer groups
// become loops of the tape, which take no memory for each iteration. The steps of an if or a while
// are gone through once: tests keep their executions apart. `parts`: streams of parts, whose SMs
// limit launches on them. `peers`: as in Tape::set_peers.
BoundSteps bind_steps(const Plan& plan, const std::vector<std::int64_t>& symbols,
                      const BufferTable& buffers, LaunchObserver& observer,
                      const PartStreams& parts = {}, const PeerChoice& peers = {});

}  // namespace baton::bind
