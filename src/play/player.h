#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "baton/device.h"
#include "baton/stream.h"
#include "bind/tape.h"
#include "bind/tape_changes.h"
#include "play/collectives.h"
#include "play/lanes.h"
#include "play/launch_tags.h"
#include "play/run_log.h"
#include "play/run_watch.h"
#include "trace/launch_records.h"

namespace baton::play {

// A tape and the stream that gets its steps. Refers to what the bound program owns.
struct PlayTarget {
  const Device& device;
  const Stream& stream;
  bind::Tape& tape;                  // settled
  const bind::BufferTable& buffers;  // allocated
  std::uint64_t binding = 0;         // differs for other symbols or buffers
  const LaunchTags& tags;
  Lanes& lanes;              // of the tape
  Collectives& collectives;  // of the run's rank
  // Of instrumented kernels; null: there are none.
  trace::LaunchRecords* records = nullptr;
};

// Sees the steps of a run as they complete.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // The step is done, and no other is under way. `sent`: it was not empty. `slots`: the values of
  // symbols and indexes. Returns whether the run goes on.
  virtual bool step_done(const bind::RunStep& at, bool sent,
                         std::span<const std::int64_t> slots) = 0;
};

// The parts of one run that is waited for, timed and reported.
struct PlayContext : PlayTarget {
  std::uint64_t steps = 0;  // of this run, repeats unrolled
  RunLog& log;
  const RunWatch& watch;
  std::uint64_t& steps_done;  // of this run, counted while it goes on
  bool time_steps = true;
  bool steps_apart = false;  // an event after each step, even where that keeps launches apart
  // Waits after each step, so that it sees each. The stream player has one, or none.
  StepObserver* observer = nullptr;
};

// A way to execute a tape. Keeps what later runs can use again. One thread at a time.
class Player {
 public:
  virtual ~Player() = default;

  // Executes every step once and returns when all are done. Throws the errors of the steps and of
  // the watch, with notes on where the run was.
  virtual void play(const PlayContext& context) = 0;

  // Enqueues every step once, and returns without waiting. Takes no lock and allocates nothing on a
  // GPU, except where it makes or updates a graph for a new binding. Throws the errors of the
  // steps.
  virtual void enqueue(const PlayTarget& target) = 0;
  // The tape of binding `from` has other values in `changes` alone, and is that of binding `to`.
  virtual void note_changes(const bind::TapeChanges& changes, std::uint64_t from,
                            std::uint64_t to) = 0;
  // Throws what the conditions of runs that were enqueued found wrong, kFault. Called when the
  // stream's work is done.
  virtual void check_conditions(const Stream& stream) = 0;
  // Does beforehand what `enqueue` does once for a binding.
  virtual void prepare(const PlayTarget& target) = 0;
};

// Enqueues each step on the stream.
std::unique_ptr<Player> make_stream_player(const Device& device);
// Makes the tape a CUDA graph and launches that.
std::unique_ptr<Player> make_graph_player(const Device& device);

}  // namespace baton::play
