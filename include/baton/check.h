#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/error.h"
#include "baton/export.h"
#include "baton/launch.h"
#include "baton/module.h"

namespace baton {

// What the device allows a kernel, for a given config.
struct KernelLimits {
  std::uint32_t max_threads = 0;         // of a block
  std::uint32_t max_dynamic_shared = 0;  // bytes of a block
  std::uint32_t registers = 0;           // of a thread
  std::uint32_t static_shared = 0;       // bytes of a block
  // With the config's block, shared memory and cluster; nothing where the device has no answer.
  std::optional<std::uint32_t> blocks_per_multiprocessor;
  std::optional<std::uint32_t> max_cluster;             // blocks of the largest cluster
  std::optional<std::uint64_t> max_cooperative_blocks;  // of the largest cooperative grid
};
BATON_API KernelLimits kernel_limits(const Kernel& kernel, const LaunchConfig& config);

// An edge between consecutive launches of a program: may the later one start before the earlier one
// is done? Launches are numbered from 0 in the program's order; inside a group the last one is
// followed by the first one.
enum class EdgeVerdict : std::uint8_t { kProven, kUnsafe, kUnknown };
BATON_API std::string_view to_string(EdgeVerdict verdict) noexcept;

// The reason why the later launch of an edge may, or may not, start early.
enum class EdgeDecision : std::uint8_t {
  // It may start early.
  kProven,  // the edge is proven
  kAsked,   // the program or the caller says "on"
  kForced,  // the program says "force"
  // It starts when the earlier launch is done.
  kOff,          // the program, the caller or BATON_PDL says "off"
  kUnsafe,       // "on" was asked for, and the edge is unsafe
  kNoWait,       // "on" was asked for, and the kernel never waits
  kNotProven,    // "auto" takes proven edges only
  kOtherEdge,    // the edge is proven, and another edge of the same launch is not
  kNoPdl,        // the device has no programmatic dependent launch
  kCooperative,  // a cooperative grid must fit on the device as a whole
  kEmptyGrid,    // one of the two launches has an empty grid
};
// "proven", "not_proven": the enumerator in snake case.
BATON_API std::string_view to_string(EdgeDecision decision) noexcept;

// What room a launch that starts early finds on a multiprocessor that holds blocks of the launch
// before it: registers, threads, shared memory and places for blocks, of both.
struct EarlyRoom {
  std::uint32_t held = 0;    // blocks of the earlier launch there, at the most
  std::uint32_t beside = 0;  // blocks of the later one that fit beside those
  std::uint32_t share = 0;   // and how many it has for each multiprocessor, rounded up
  std::string limit;         // what there is too little of for one more: "registers"
};

struct EdgeReport {
  std::uint32_t from = 0, to = 0;
  EdgeVerdict verdict = EdgeVerdict::kUnknown;
  std::string reason;
  bool programmatic = false;  // the later one may overlap; else it waits for the earlier one
  EdgeDecision decision = EdgeDecision::kNotProven;
  std::string decision_reason;  // in words: "it is proven", "the program says off"
  // Of programmatic edges, with the configs of both launches' last executions; none behind a launch
  // that never triggers, since nothing of it is left when the later one starts.
  std::optional<EarlyRoom> room = {};
};

// A launch of a program as it would be executed.
struct LaunchReport {
  std::uint32_t number = 0;
  std::string kernel;  // its name in the program
  SourceLocation where;
  std::uint64_t executions = 0;
  std::uint64_t skipped = 0;  // of these, with an empty grid
  // Of the last execution that is not skipped; nothing where all are.
  std::optional<LaunchConfig> config;
  std::optional<KernelLimits> limits;  // for that config
  std::uint32_t padding = 0;           // of its shared memory, bytes that placement = "even" added
  std::string placement;               // where the program says "even": what came of it
};

// What is known of a program before it runs.
struct CheckReport {
  std::uint64_t steps = 0;  // of one run, repeats unrolled
  std::vector<LaunchReport> launches;
  std::vector<EdgeReport> edges;
  std::vector<std::string> warnings;
  // Of the first edge that is unsafe and not switched off: kFault, also where a run leaves it full.
  // Or what `bind` throws for an edge that the program insists on.
  std::optional<Error> objection;
};

}  // namespace baton
