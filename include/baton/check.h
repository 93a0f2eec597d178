#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/edge.h"
#include "baton/error.h"
#include "baton/export.h"
#include "baton/launch.h"
#include "baton/module.h"
#include "baton/sm_part.h"

namespace baton {

// The device's limits for a kernel with a given config.
struct KernelLimits {
  std::uint32_t max_threads = 0;         // of a block
  std::uint32_t max_dynamic_shared = 0;  // bytes of a block
  std::uint32_t registers = 0;           // of a thread
  std::uint32_t static_shared = 0;       // bytes of a block
  // With the config's block, shared memory and cluster. Empty if the device has no answer.
  std::optional<std::uint32_t> blocks_per_multiprocessor;
  std::optional<std::uint32_t> max_cluster;             // blocks of the largest cluster
  std::optional<std::uint64_t> max_cooperative_blocks;  // blocks of the largest cooperative grid
};
BATON_API KernelLimits kernel_limits(const Kernel& kernel, const LaunchConfig& config);

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
  kOtherPart,    // the two launches run on different parts of the SMs
  kEmptyGrid,    // one of the two launches has an empty grid
};
// "proven", "not_proven": stable names.
BATON_API std::string_view to_string(EdgeDecision decision) noexcept;

// The blocks of a PDL launch that can be resident on a multiprocessor together with blocks of the
// launch before it. Registers, threads, shared memory and block slots of both count.
struct EarlyRoom {
  std::uint32_t held = 0;    // blocks of the earlier launch there, at most
  std::uint32_t beside = 0;  // blocks of the later launch that fit with those
  std::uint32_t share = 0;   // its blocks for each multiprocessor, rounded up
  std::string limit;         // the resource that limits `beside`: "registers"
};

struct EdgeReport {
  std::uint32_t from = 0, to = 0;
  EdgeVerdict verdict = EdgeVerdict::kUnknown;
  EdgeCause cause = EdgeCause::kUnseen;
  std::string reason;         // the cause in words, with the accesses that it is about
  bool programmatic = false;  // the later launch may overlap the earlier one
  EdgeDecision decision = EdgeDecision::kNotProven;
  std::string decision_reason;  // in words: "it is proven", "the program says off"
  // For programmatic edges, with the configs of both launches' last executions. Empty after a
  // launch that never triggers: none of its blocks is left when the later launch starts.
  std::optional<EarlyRoom> room = {};
  // Forecasts for one run, the largest first; the steps of each if and while count once.
  // LoadedProgram::check makes them on devices with programmatic dependent launch.
  std::vector<EdgeAdvice> advice = {};
};

// An end of an edge: a launch, or a collective that a kernel between peers executes.
struct EdgeEnd {
  std::string label;                    // the kernel's name in the program, or "all_reduce y"
  std::optional<std::uint32_t> launch;  // its number
  SourceLocation where;
};

// An edge with a kernel between peers at one end, or at both. Launches and such kernels are judged
// by the same rules. A report has these where kernels between peers execute a step.
struct CollectiveEdgeReport {
  EdgeEnd from, to;
  EdgeVerdict verdict = EdgeVerdict::kUnknown;
  EdgeCause cause = EdgeCause::kUnseen;
  std::string reason;
  bool programmatic = false;
  EdgeDecision decision = EdgeDecision::kNotProven;
  std::string decision_reason;
};

// A launch of a program, as a run would execute it.
struct LaunchReport {
  std::uint32_t number = 0;
  std::string kernel;  // its name in the program
  SourceLocation where;
  std::uint64_t executions = 0;  // the steps of each if and while are counted once
  std::uint64_t skipped = 0;     // of these, with an empty grid
  bool conditional = false;      // in an if or a while: a run may execute it less or more often
  // The config of the last execution that is not skipped. Empty if all are skipped.
  std::optional<LaunchConfig> config;
  std::optional<KernelLimits> limits;  // for that config
  std::uint32_t padding = 0;           // bytes of shared memory that placement = "even" added
  std::string placement;               // the result of placement = "even"
};

// A parallel of a program.
struct ParallelReport {
  SourceLocation where;
  std::size_t branches = 0;
  // kProven: branches share only memory that they read, or update by atomic operations, in any
  // execution. Otherwise kUnknown.
  EdgeVerdict verdict = EdgeVerdict::kProven;
  std::vector<std::string> conflicts;  // why it is unknown; the first 16
};

// The facts about a program before it runs.
struct CheckReport {
  // In one run, with repeats unrolled; the steps of each if and while are counted once.
  std::uint64_t steps = 0;
  std::vector<LaunchReport> launches;
  std::vector<EdgeReport> edges;
  std::vector<CollectiveEdgeReport> collective_edges;  // sorted by their later ends
  std::vector<ParallelReport> parallels;
  std::vector<SmPartReport> parts;  // disjoint
  std::vector<std::string> warnings;
  // The error of the first edge that is unsafe and not switched off (kFault), even if a run leaves
  // the edge full. Or the error that `bind` throws for an edge that the program requires.
  std::optional<Error> objection;
};

}  // namespace baton
