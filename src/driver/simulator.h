#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/schedule.h"

namespace baton::driver {

// The export table id under which a simulated driver hands out its Simulator.
// 6f1e9c0a-7d34-4b52-9e0b-ba7082518e01
inline constexpr CUuuid kSimulatorUuid = {{'\x6f', '\x1e', '\x9c', '\x0a', '\x7d', '\x34', '\x4b',
                                           '\x52', '\x9e', '\x0b', '\xba', '\x70', '\x82', '\x51',
                                           '\x8e', '\x01'}};

// One thing that a simulated GPU saw and a program should not do. Equal findings (same kind, kernel
// and place) are one, with a count.
struct Finding {
  enum class Severity { kWarning, kError };
  Severity severity = Severity::kError;
  std::string kind;                      // "out_of_bounds", "use_after_free", "misaligned", …
  std::string kernel;                    // as the image names it
  std::array<std::uint32_t, 3> block{};  // of the first occurrence
  std::array<std::uint32_t, 3> thread{};
  std::string where;    // "norm.cu:12:7", or the PTX line where there is no source
  std::string message;  // with the address and the nearest allocation
  std::uint64_t count = 1;
};

// What a simulated GPU executed.
struct Counters {
  std::uint64_t warp_instructions = 0;
  std::uint64_t lane_instructions = 0;  // threads that executed, summed over warp instructions
  std::uint64_t bytes_read = 0;         // global memory, by kernels
  std::uint64_t bytes_written = 0;
  std::uint64_t blocks = 0;

  Counters& operator+=(const Counters& other) {
    warp_instructions += other.warp_instructions;
    lane_instructions += other.lane_instructions;
    bytes_read += other.bytes_read;
    bytes_written += other.bytes_written;
    blocks += other.blocks;
    return *this;
  }
};

// What a simulated GPU can tell and a real one cannot. Thread-safe.
class Simulator {
 public:
  virtual ~Simulator() = default;

  // Notes from now on what each kernel that is launched into the stream does, or, for false, stops
  // that and forgets what was noted.
  virtual void count_launches(CUstream stream, bool on) = 0;
  // What the launches that were noted did, oldest first, up to the first one that has not ended.
  // Each is given once.
  virtual std::vector<Counters> take_counted(CUstream stream) = 0;

  // What each kernel node of an instantiated graph did in its last launch, which must have
  // completed; by the nodes of the graph that it was made from.
  virtual std::vector<std::pair<CUgraphNode, Counters>> counters_of(CUgraphExec exec) = 0;

  // All findings of the context so far, in the order first seen; `take` empties the list.
  virtual std::vector<Finding> findings(CUcontext context) = 0;
  virtual std::vector<Finding> take_findings(CUcontext context) = 0;

  // Stops the grids that run on the context with CUDA_ERROR_LAUNCH_TIMEOUT, as a watchdog would,
  // and says where their warps stand, one line a group of warps. Returns after they stopped.
  virtual std::vector<std::string> stop(CUcontext context) = 0;

  // The order in which the context executes what is submitted from now on. Waits first for what
  // was submitted before.
  virtual void set_schedule(CUcontext context, Schedule schedule) = 0;

  // Whether accesses of global memory are noted and those that nothing orders are found. With
  // kAuto, which holds at first, they are as soon as grids may overlap: when a stream is made
  // beside another one, a kernel that waits for others is asked for, or a launch or graph is
  // programmatic.
  enum class Watch { kAuto, kOff, kOn };
  virtual void watch(CUcontext context, Watch mode) = 0;

  // Whether all work of the context comes from one thread of the host, which submits it before it
  // waits. Grids that do nothing but poll can then never end: that is found, and stops them.
  virtual void expect_no_help(CUcontext context, bool alone) = 0;

  // No kernel may write the allocation at the address: one that does is found.
  virtual void protect(CUdeviceptr address) = 0;

  // Notes from now on what the context does, until `take_trace`, which gives the timeline as JSON
  // in the Trace Event Format. Both wait for what was submitted before.
  virtual void start_trace(CUcontext context) = 0;
  virtual std::string take_trace(CUcontext context) = 0;

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
