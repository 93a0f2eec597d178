#pragma once

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "driver/simulator.h"
#include "sim/device/heap.h"
#include "sim/engine/run/engine.h"
#include "sim/graph/condition.h"
#include "sim/queue/session.h"
#include "sim/queue/staging.h"

namespace baton::sim {

class DeviceQueue;

// One reaching of an event: what a later query, wait or time difference refers to, whatever is
// recorded into the event afterwards. Written by the device's thread before its command is done.
struct Occurrence {
  std::chrono::steady_clock::time_point time;
};

// What a command does. All of these are values that own, or share, what they need.
struct Join {};  // nothing: it is done when what it waits for is

// Memory was allocated in the order of a stream. It is there at the call, but only what comes after
// this may use it.
struct Allocated {};

// One side of a copy: device memory, or the host's where `heap` is null.
struct CopySide {
  std::shared_ptr<DeviceHeap> heap;
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;  // bytes from one row to the next
  std::uint64_t slice = 0;  // bytes from one slice of rows to the next
};

struct Copy {
  CopySide target;
  CopySide source;
  std::uint64_t bytes = 0;  // of a row
  StagedBytes staged;       // the source's bytes, where they were taken at the call; one row
  std::uint64_t rows = 1;   // of a slice
  std::uint64_t slices = 1;
};

struct Fill {
  CopySide target;
  std::uint32_t value = 0;
  unsigned width = 1;       // bytes of one element
  std::uint64_t count = 0;  // elements of a row
  std::uint64_t rows = 1;
  std::uint64_t pitch = 0;  // bytes from one row to the next
};

struct Free {
  std::shared_ptr<DeviceHeap> heap;
  std::uint64_t address = 0;
  std::shared_ptr<void> keeps = nullptr;  // the address, where it is a graph's
};

// Memory of the host that came from a pool. `heap`: of the device that executes it.
struct HostFree {
  std::shared_ptr<DeviceHeap> heap;
  std::uint64_t address = 0;
};

// The memory of a graph at its address.
struct Alloc {
  std::shared_ptr<DeviceHeap> heap;
  std::uint64_t address = 0;
  std::shared_ptr<void> keeps;  // the address
};

struct HostCall {
  CUhostFn function = nullptr;
  void* argument = nullptr;
  std::shared_ptr<void> keeps =
      nullptr;  // what the argument points to, or null: that is the caller's matter
};

struct Record {
  std::shared_ptr<Occurrence> occurrence;
};

// A word of 4 or 8 bytes that streams write and wait for.
struct StreamWord {
  CopySide place;
  std::shared_ptr<DeviceHeap> heap;  // of the device whose stream it is
  unsigned bytes = 4;
};
struct WriteValue {
  StreamWord word;
  std::uint64_t value = 0;
  bool has_barrier = true;  // what was before it in the stream is visible before it
};
struct WaitValue {
  StreamWord word;
  std::uint64_t value = 0;
  unsigned how = CU_STREAM_WAIT_VALUE_GEQ;
};

// The schedule of what is submitted from here on. It comes after all that was submitted to its
// queue before, and all that is submitted later comes after it.
struct Setting {
  Schedule schedule;
};

// How far a command is. Only grids have anything before kDone.
enum class Milestone : std::uint8_t {
  kSubmitted,
  kBegun,      // every block has begun
  kTriggered,  // every block has triggered its dependents, or ended
  kDone,       // or cancelled, when the queue's context failed
};

// Gives conditions their initial values, when a launch of their graph begins.
struct Assign {
  std::vector<std::shared_ptr<SimCondition>> conditions;
};

struct Command;
using CommandPtr = std::shared_ptr<Command>;
struct Dependency;
class Turns;

// What a conditional node does. Its own command is done after the last turn. Each turn but the
// first has a command of its own, after all that the turn before it submitted.
struct Turn {
  std::shared_ptr<Turns> turns;
  CommandPtr conditional;  // null in its own command
};

using Work = std::variant<Join, Allocated, Copy, Fill, Free, HostFree, Alloc, HostCall, Record,
                          WriteValue, WaitValue, Setting, Assign, Turn, GridLaunch>;

// A node in the graph of what is to be done: some work, and what waits for it. Whoever submits it
// names the commands it comes after; streams, events and graphs all come down to such edges.
// Guarded by the scheduler's mutex, but for `work`, which belongs to the device's thread once the
// command has been submitted.
struct Command {
  struct Dependent {
    std::shared_ptr<Command> command;
    Milestone at = Milestone::kDone;
    bool waits = false;  // it has started meanwhile: griddepcontrol.wait waits in it
  };

  bool done() const { return reached == Milestone::kDone; }

  DeviceQueue* queue = nullptr;  // where it runs; not to be followed once done
  std::uint64_t sequence = 0;    // the place in the order of submission to the queue
  Ordering::Number number = 0;   // the same over all queues
  bool known_done = false;       // by the host
  int priority = 0;              // of its stream: the lower number goes first
  Milestone reached = Milestone::kSubmitted;
  unsigned blockers = 0;  // commands that it comes after and that have not got far enough
  unsigned awaited = 0;   // grids that its griddepcontrol.wait waits for and that are not done
  std::vector<Dependent> dependents;
  // Of what is not a grid: grids of which only a trigger was awaited. A kernel that comes after it
  // waits for them in griddepcontrol.wait, and anything else before it begins.
  std::vector<std::shared_ptr<Command>> early;
  Work work;
  NotesPtr notes;                             // of whoever submitted it
  std::shared_ptr<driver::Counters> counted;  // what a grid did, once it is done; null: not asked
};

// What a command comes after.
struct Dependency {
  CommandPtr command;  // null: nothing
  Milestone at = Milestone::kDone;
  bool is_programmatic = false;  // the later grid's griddepcontrol.wait waits until it is done
};

// The turns of one launch of a conditional node.
class Turns {
 public:
  virtual ~Turns() = default;
  // Submits the next turn by `submit` and returns its commands; nothing where the condition ends
  // it. The scheduler's mutex is held.
  using Submit = std::function<CommandPtr(Work work, std::span<const Dependency> after)>;
  virtual std::optional<std::vector<CommandPtr>> next(const Submit& submit) = 0;
};

}  // namespace baton::sim
