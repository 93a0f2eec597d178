#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/access_counts.h"
#include "baton/races.h"
#include "baton/schedule.h"
#include "driver/finding_kind.h"

namespace baton::driver {

// The export table id under which a simulated driver hands out its Simulator.
// 6f1e9c0a-7d34-4b52-9e0b-ba7082518e01
inline constexpr CUuuid kSimulatorUuid = {{'\x6f', '\x1e', '\x9c', '\x0a', '\x7d', '\x34', '\x4b',
                                           '\x52', '\x9e', '\x0b', '\xba', '\x70', '\x82', '\x51',
                                           '\x8e', '\x01'}};

// One thing that a simulated GPU saw and a program should not do. Equal findings (same kind, kernel
// and place) are one, with a count.
struct Finding {
  explicit Finding(FindingKind what) : kind(what) {}

  FindingKind kind;
  std::string kernel;                    // as the image names it
  std::string readable;                  // the kernel as its source names it, without parameters
  std::array<std::uint32_t, 3> block{};  // of the first occurrence
  std::array<std::uint32_t, 3> thread{};
  std::string where;    // "norm.cu:12:7", or the PTX line where there is no source
  std::string message;  // with the address and the nearest allocation
  std::uint64_t count = 1;
  bool is_fault = false;             // it ended its grid, and all other work of the context
  std::optional<std::uint64_t> tag;  // LaunchNote::tag of the launch of the first occurrence
  // Of two launches that nothing orders: the tag of the other one.
  std::optional<std::uint64_t> other_tag = std::nullopt;
};

// "kernel k, block (0, 0, 0), thread (3, 0, 0): reads … (24 times)", without the place.
std::string describe(const Finding& finding);

// What the caller of one kernel launch tells about it beyond what a CUDA driver is told.
struct LaunchNote {
  // Bytes of an allocation that the launch may access. If a launch has ranges in an allocation,
  // its accesses of all other bytes of that allocation are out of bounds. Ranges may overlap.
  struct Range {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::string name;  // for messages: "buffer x (f32 [1024])"
  };

  std::uint64_t tag = 0;  // the caller's own; findings of the launch have it
  std::vector<Range> ranges;
};

// Rows of a piece of memory that no kernel writes, and that kernels may read before their wait:
// those below an integer in device memory.
struct FrozenRange {
  CUdeviceptr address = 0;      // of the piece, in one allocation
  std::uint64_t bytes = 0;      // above 0
  std::uint64_t row_bytes = 0;  // from one row to the next, above 0
  // After the last one the first one follows again. 0: nothing is frozen any more.
  std::uint64_t rows = 0;
  CUdeviceptr counter = 0;
  std::uint32_t counter_bytes = 0;  // 1, 2, 4 or 8
  bool is_signed = false;           // the counter; below 0 no row is frozen
  std::string name;                 // of the counter, for messages: "pos[0]"
};

// How a timeline names a launch: as the caller's program does.
struct TracedLaunch {
  std::string name;        // "topk"
  std::uint64_t step = 0;  // its number in the run
  std::string indexes;     // "layer = 2"; may be empty
  std::string where;       // "decode.toml:40:1"
};

inline std::optional<std::uint64_t> tag_of(const LaunchNote* note) {
  return note == nullptr ? std::nullopt : std::optional(note->tag);
}

// What a simulated GPU executed.
struct Counters {
  std::uint64_t warp_instructions = 0;
  std::uint64_t lane_instructions = 0;  // threads that executed, summed over warp instructions
  std::uint64_t bytes_read = 0;         // global memory, by kernels
  std::uint64_t bytes_written = 0;
  std::uint64_t blocks = 0;
  std::optional<AccessCounts> accesses;  // with Simulator::Options::count_accesses

  Counters& operator+=(const Counters& other) {
    warp_instructions += other.warp_instructions;
    lane_instructions += other.lane_instructions;
    bytes_read += other.bytes_read;
    bytes_written += other.bytes_written;
    blocks += other.blocks;
    if (other.accesses) (accesses ? *accesses : accesses.emplace()) += *other.accesses;
    return *this;
  }
};

// The work that Simulator::stop ended.
struct StoppedWork {
  std::vector<std::string> lines;   // a line for each group of warps: where they are
  std::vector<std::uint64_t> tags;  // LaunchNote::tag of its launches, the earliest first
};

// How far the launches of a session are.
struct LaunchProgress {
  std::uint64_t ended = 0;  // launches
  double running = 0;       // the shares of their blocks that those under way have ended, summed
};

// What a simulated GPU can tell and a real one cannot. Thread-safe.
class Simulator {
 public:
  virtual ~Simulator() = default;

  // Whether accesses of global memory are noted and those that nothing orders are found. With
  // kAuto they are as soon as grids may overlap: when a stream is made beside another one, a kernel
  // that waits for others is asked for, or a launch or graph is programmatic.
  enum class Watch { kAuto, kOff, kOn };

  // What a session asks of its context.
  struct Options {
    // The order in which the context executes all work. Without one any will do: it is serial, or
    // what another session asked for.
    std::optional<Schedule> schedule = std::nullopt;
    Watch watch = Watch::kAuto;  // of the session's work
    Races races = Races::kUsual;
    bool trace = false;           // whether a timeline of the session's work is written
    bool count_accesses = false;  // whether Counters::accesses of the session's work are counted
    // All work of the session comes from its thread, which submits it before it waits, and nothing
    // from outside changes what its grids poll. Grids that do nothing but poll can then never end:
    // that is found, and stops them.
    bool alone = false;
    // A kernel that faults does not end the context, which continues without an error.
    bool keep_going = false;
  };

  // The work that one thread of the host submits to one context while the session lives, and what
  // the device notes of it. Any thread may use and destroy it. When it is destroyed, findings that
  // were not taken, and those that come later, are the context's.
  class Session {
   public:
    virtual ~Session() = default;
    // The findings so far in the order first seen, which are then forgotten.
    virtual std::vector<Finding> take_findings() = 0;
    virtual LaunchProgress progress() const = 0;
    // The tags of the launches in the timeline.
    virtual std::vector<std::uint64_t> traced_tags() const = 0;
    // The timeline so far as JSON in the Trace Event Format; empty without Options::trace. `names`:
    // what launches are called, by their tags; others have the names of their kernels.
    virtual std::string trace(const std::map<std::uint64_t, TracedLaunch>& names) const = 0;
  };

  // Begins a session of the calling thread. A session that is begun inside of another one has the
  // thread's work until it ends. Throws kInvalidInput where another session asked for another
  // schedule. Where the schedule changes, it waits for what was submitted before.
  virtual std::unique_ptr<Session> begin(CUcontext context, const Options& options) = 0;
  // Whether the calling thread has a session on the context.
  virtual bool in_session(CUcontext context) = 0;

  // The findings of work in no session, in the order first seen, which are then forgotten.
  virtual std::vector<Finding> take_findings(CUcontext context) = 0;
  // What poisoned the context, whoever submitted it; nothing where it is healthy or was stopped.
  virtual std::optional<Finding> fault(CUcontext context) = 0;

  // Applies to the next kernel launch of the calling thread, or to the launches of the next kernel
  // node of an instantiated graph that the thread gives other parameters. Holds for that call,
  // whether it succeeds or not.
  virtual void note_next_launch(LaunchNote note) = 0;
  // Takes back a note that no launch has used.
  virtual void forget_note() = 0;
  // Applies to the launches of a kernel node. Graphs that are instantiated from now on have it.
  virtual void note_node(CUgraphNode node, LaunchNote note) = 0;

  // Notes from now on what each kernel that is launched into the stream does, or, for false, stops
  // that and forgets what was noted.
  virtual void count_launches(CUstream stream, bool on) = 0;
  // What the launches that were noted did, oldest first, up to the first one that has not ended.
  // Each is given once.
  virtual std::vector<Counters> take_counted(CUstream stream) = 0;

  // What each kernel node of an instantiated graph did in its last launch, which must have
  // completed; by the nodes of the graph that it was made from.
  virtual std::vector<std::pair<CUgraphNode, Counters>> counters_of(CUgraphExec exec) = 0;

  // Stops the grids that run on the context with CUDA_ERROR_LAUNCH_TIMEOUT, as a watchdog would,
  // and tells which they are. If none has begun, it names the launch that would be the next.
  // Returns after they stopped.
  virtual StoppedWork stop(CUcontext context) = 0;

  // Whether all work that was submitted to the context has ended, so that no call waits for any.
  virtual bool is_idle(CUcontext context) = 0;

  // Ends the error state of a context after a fault or a stop. Memory, modules and streams stay as
  // they are. Waits for what runs.
  virtual void recover(CUcontext context) = 0;

  // Whether no kernel may write the allocation at the address from now on: one that does is found.
  virtual void protect(CUdeviceptr address, bool on) = 0;

  // The rows that no kernel writes, and dependent grids read early, from now on; in place of those
  // that were named before for the same address. They end with their allocation. No effect on
  // unknown addresses. Waits for what runs.
  virtual void freeze(const FrozenRange& range) = 0;

  // Names an allocation for messages: "buffer x (f32 [1024])". No effect on unknown addresses.
  virtual void name_allocation(CUdeviceptr address, std::string_view name) = 0;

  // How many registers a thread of the kernel has: what its machine code says, which the simulated
  // GPU does not get to see. Decides how many blocks fit on a multiprocessor.
  virtual void set_registers(CUkernel kernel, std::uint32_t registers) = 0;

  // Whether nothing has written any of these bytes of one allocation, as far as commands that have
  // completed go. False for addresses of none.
  virtual bool untouched(CUdeviceptr address, std::size_t bytes) = 0;
};

}  // namespace baton::driver
