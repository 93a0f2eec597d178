#pragma once

#include <cstdint>

#include "baton/access_counts.h"
#include "sim/engine/isa/insn.h"
#include "sim/engine/memory/region.h"

namespace baton::sim {

struct Warp;
struct BlockState;
struct GridState;

// Why the instruction loop was left.
enum class Stop : std::uint8_t {
  kWaiting,  // every fragment of the warp waits
  kYield,    // the time slice ended, or the warp spins
  kDone,     // no lane is left
  kFault,    // the grid faulted
  kTrigger,  // the block triggered, and the schedule wants to know
};

// How the addresses of a warp's lanes lie to each other. Instructions that use one address register
// with several offsets, as unrolled loops do, find it out once.
struct Pattern {
  enum class Kind : std::uint8_t {
    kNone,     // unknown: not all lanes execute, or they are too far apart
    kStrided,  // lane l is at l * stride
    kGroups,   // eight lanes each share an address
    kHalves,   // the upper 16 lanes have the lower ones' addresses
    kAny,
  };
  Kind kind = Kind::kNone;
  std::uint32_t stride = 0;
  std::uint32_t bits = 0;                     // of all addresses, or-ed, for alignment
  std::uint64_t low = 0;                      // the smallest address
  std::uint64_t span = 0;                     // from there to the largest
  alignas(32) std::uint32_t at[kLanes] = {};  // less `low`
  std::uint64_t footprint = 0;                // watch.h's own; 0: not known yet
};
inline constexpr std::uint32_t kPatterns = 8;

// What the instruction loop of one worker has at hand while it runs one fragment of a warp. Plain
// data, as handlers are compiled for several processors and share nothing but layout.
struct Exec {
  std::byte* frame = nullptr;  // registers of the present call
  std::uint32_t mask = 0;      // lanes that execute
  bool full = false;           // mask is all 32 lanes
  // No other live lane of the warp is hidden by the mask: results may be written to all lanes.
  bool whole = false;
  Stop stop = Stop::kDone;
  std::uint32_t from = 0;    // instruction count of the function at which `mask` last changed
  std::uint32_t active = 0;  // lanes in `mask`
  std::int64_t slice = 0;    // warp instructions left
  std::uint64_t lane_instructions = 0;
  std::uint64_t warp_instructions = 0;
  // A flag told the fragment what another cluster did: others that poll it have a look, too, before
  // this one goes on and writes it again.
  bool gives_way = false;
  // Both count over the warp's slice, since the lanes of a polling loop may part and meet again.
  std::uint32_t spin = 0;   // reads that wait for others, since it last polled for long
  std::uint32_t polls = 0;  // how often it polled for long
  alignas(32) std::uint32_t lanes[kLanes] = {};  // mask, all ones or zero a lane; kept unless whole

  Pattern patterns[kPatterns];

  Region* regions = nullptr;           // one a memory instruction of the kernel
  Region shared;                       // of the block; its base is the rank in the cluster
  std::uint32_t shared_unwritten = 0;  // words of shared memory that nothing wrote yet
  Region params;
  std::byte* local = nullptr;              // the warp's local memory, words interleaved by lane
  std::uint32_t local_size = 0;            // bytes a lane
  std::uint32_t* local_written = nullptr;  // a mask of lanes for each word
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t written_before = 0;  // of those, before the present slice
  std::uint32_t detours = 0;         // backward branches after the end of the slice
  AccessCounts accesses;             // of kernels that count them

  Warp* warp = nullptr;
  std::uint32_t* ordered = nullptr;  // Warp::ordered, OrderedLanes::kSources masks
  // Not zero where some lanes of the warp are ordered apart from the rest (SharedWatch).
  const std::uint8_t* apart = nullptr;
  BlockState* block = nullptr;
  GridState* grid = nullptr;
};

}  // namespace baton::sim
