#pragma once

#include <cstdint>
#include <memory>

#include "baton/device.h"
#include "baton/stream.h"
#include "bind/tape.h"
#include "play/launch_tags.h"
#include "play/run_log.h"
#include "play/run_watch.h"

namespace baton::play {

// The parts of one run. Refers to what the bound program owns.
struct PlayContext {
  const Device& device;
  const Stream& stream;
  bind::Tape& tape;                  // settled
  const bind::BufferTable& buffers;  // allocated
  std::uint64_t binding = 0;         // differs for other symbols or buffers
  std::uint64_t steps = 0;           // of this run, repeats unrolled
  RunLog& log;
  const RunWatch& watch;
  const LaunchTags& tags;
  std::uint64_t& steps_done;  // of this run, counted while it goes on
  bool time_steps = true;
  bool steps_apart = false;  // an event after each step, even where that keeps launches apart
};

// A way to execute a tape. Keeps what later runs can use again. One thread at a time.
class Player {
 public:
  virtual ~Player() = default;

  // Executes every step once and returns when all are done. Throws the errors of the steps and of
  // the watch, with notes on where the run was.
  virtual void play(const PlayContext& context) = 0;
};

// Enqueues each step on the stream.
std::unique_ptr<Player> make_stream_player(const Device& device);
// Makes the tape a CUDA graph and launches that.
std::unique_ptr<Player> make_graph_player(const Device& device);

}  // namespace baton::play
