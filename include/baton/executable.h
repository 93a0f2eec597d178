#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/array.h"
#include "baton/device.h"
#include "baton/error.h"
#include "baton/export.h"
#include "baton/launch.h"
#include "baton/module.h"
#include "baton/program.h"
#include "baton/schedule.h"

namespace baton {

// How a prepared program is executed: each step enqueued on a stream, or all of them as one CUDA
// graph, which is made in the first run and updated in place when symbols or arrays are bound
// anew. Order, overlap and results are the same.
enum class ExecutorKind : std::uint8_t { kStream, kGraph };

struct PrepareOptions {
  ExecutorKind executor = ExecutorKind::kStream;
  bool use_cache = true;  // the compile cache
  // Of steps whose own is auto: kAuto, kOn or kOff. "On" is used where it can be. BATON_PDL=off in
  // the environment takes every overlap away, whatever is said here or in the program.
  PdlMode pdl = PdlMode::kAuto;
  // Of kernels that say nothing of it. Where BATON_PDL or `pdl` leaves no launch of a kernel to
  // start early, it stays as it is.
  RewriteMode rewrite = RewriteMode::kOff;
};

// A dense array in C order in device memory of the caller's, at a multiple of its elements' size. A
// plain value that owns nothing.
struct DeviceArray {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape = {};
  DeviceAddress address = 0;
};

// What a program's symbols and buffers hold at the start of a run. A symbol's value comes from
// here, else from the shapes of `inputs` and `memory`, else from the program.
struct Bindings {
  std::vector<std::pair<std::string, std::int64_t>> symbols = {};
  std::vector<std::pair<std::string, Array>> inputs = {};  // for input, weight and inout buffers
  std::uint64_t seed = 0;                                  // of init = "random"
  // Memory for buffers of any role in place of the executable's own: nothing is copied into it or
  // out of it, and a run begins with what it holds. The caller keeps it allocated until the next
  // `bind` or the executable's end, touches it in no other way while a run is under way, and orders
  // what was enqueued elsewhere (a run does not wait for other streams; it returns when its work is
  // done). Two of these may overlap each other, which the verdicts on edges take into account, but
  // nothing else that the program uses.
  std::vector<std::pair<std::string, DeviceArray>> memory = {};
};

// How far a run is: steps enqueued and completed, of all in this run.
struct RunProgress {
  std::uint64_t run = 0;  // 0 for the first
  std::uint64_t steps_done = 0;
  std::uint64_t steps = 0;
};

struct RunOptions {
  std::uint64_t repeat = 1;  // the first run initialises and is the one whose outputs are kept
  // Of all runs together; none where empty. When it passes, running kernels are stopped where the
  // device can (the simulated GPU), and the run throws kTimeout, with notes that say at which step
  // it stands and behind which edge. A GPU cannot stop them: there the kernel
  // goes on. An executable that is destroyed meanwhile does not wait for it: it leaves what it owns
  // to the end of the process. Binding it anew or running it again waits.
  std::optional<std::chrono::duration<double>> timeout = {};
  // Polled: the run throws kInterrupted soon after it becomes true. May be set by a signal handler.
  const std::atomic<bool>* interrupt = nullptr;
  // The order in which the simulated GPU executes what may run in any order. A GPU has its own:
  // there any other schedule than kSerial is refused with kInvalidInput.
  Schedule schedule = {};
  // Whether the simulated GPU notes what it does, for RunReport::trace. Refused elsewhere.
  bool trace = false;
  // Else the report has no times but the runs', and which step a GPU failed at is told less exactly:
  // no events stand between them that would tell. A graph has none for its steps.
  bool time_steps = true;
  // With time_steps: each step is timed by itself. An event stands then between launches that may
  // overlap, which keeps them apart on a GPU. Otherwise they are timed together.
  bool steps_apart = false;
  // One report for all executions of a step of the program, however few they are; its times are
  // those of all its executions in a run.
  bool join_executions = false;
  // Called between runs with the number of the one that is done, when nothing of it is under way.
  std::function<void(std::uint64_t run)> after_run = {};
  // Called from the running thread, a few times a second at most.
  std::function<void(const RunProgress&)> progress = {};
};

// How several times of one thing lie, in seconds: half of them from the lower to the upper
// quartile.
struct TimeStatistics {
  std::uint64_t count = 0;
  double least = 0, lower_quartile = 0, median = 0, upper_quartile = 0, greatest = 0;
};
// Nothing for no times. Quartiles between two times are interpolated.
BATON_API std::optional<TimeStatistics> time_statistics(std::vector<double> seconds);

// One step as it was executed. Steps of a repeated group are reported one by one as long as the run
// has no more than kMaxReportedSteps of them; else each step of the program has one report for all
// its executions.
inline constexpr std::uint64_t kMaxReportedSteps = 4096;

struct StepReport {
  enum class Kind : std::uint8_t { kLaunch, kCopy, kFill };
  Kind kind = Kind::kLaunch;
  std::string label;  // "rmsnorm", "copy y -> z + N", "fill z"
  // The values of the enclosing groups' indexes: "layer = 3"; empty outside, and in a report for
  // many executions.
  std::string indexes;
  SourceLocation where;
  std::uint64_t executions = 1;
  std::uint64_t skipped = 0;  // of these, launches with an empty grid
  // Of a run that failed: executions that are not known to have come to their end.
  std::uint64_t unfinished = 0;

  Dim3 grid, block;                         // launches: of the last execution that was not skipped
  std::uint32_t shared = 0;                 // dynamic shared memory, in bytes
  std::vector<LaunchAttribute> attributes;  // as sent with that execution
  std::optional<double> seconds;            // in the first run
  std::optional<double> best_seconds;       // in the fastest of all runs
  std::optional<TimeStatistics> times;      // of the runs after the first, where there are any
  // Bytes read and written: exact for copies and fills, and for launches on a device that counts
  // them; else an estimate, what there is of the buffers from where they are passed on, or, in a
  // repeated group, up to where its next iteration has them.
  std::uint64_t bytes = 0;
  bool bytes_counted = false;
  std::optional<std::uint64_t> instructions;  // by all threads, where the device counts them
};

// Something that the simulated GPU saw and a program should not do.
struct FindingReport {
  bool error = true;  // else a warning
  std::string kind;   // "out_of_bounds"
  std::string kernel;
  std::array<std::uint32_t, 3> block{}, thread{};  // indexes of the first occurrence
  std::string where;
  std::string message;
  std::uint64_t count = 1;
};

// What the graph executor has made, in all runs of the executable so far.
struct GraphReport {
  std::uint64_t builds = 0;   // graphs made: the first, and one for each change of nodes or edges
  std::uint64_t updates = 0;  // graphs that took the values of another `bind` in place
  std::uint64_t nodes = 0;    // of the graph that was launched last, and its edges, as the driver
  std::uint64_t edges = 0;    // has them
  std::uint64_t programmatic_edges = 0;  // of these
};

struct RunReport {
  std::vector<StepReport> steps;
  std::optional<GraphReport> graph;  // with ExecutorKind::kGraph
  std::vector<double> run_seconds;   // each run from its first step to its last; at most 10000 kept
  std::vector<FindingReport> findings;
  std::vector<std::string> warnings;
  // With RunOptions::trace: grids, blocks, waits and triggers, in the Trace Event Format's JSON,
  // which Perfetto opens. Also of a run that threw.
  std::string trace;
};

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
  bool programmatic = false;    // the later one may overlap; else it waits for the earlier one
  std::string decision_reason;  // why: "it is proven", "the program says off", "BATON_PDL=off"
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

// How far two values of one output may lie apart: |got - want| <= atol + rtol * |want|. Integers
// and bool must be equal.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

// f64 1e-7 and 1e-7; f32 1e-4 and 1e-5; f16 2e-3 and 1e-3; bf16 1.6e-2 and 1e-2; f8e4m3 0.125 and
// 0.03125; f8e5m2 0.25 and 0.0625; zero for integers and bool.
BATON_API Tolerance default_tolerance(DType dtype) noexcept;

struct Comparison {
  bool ok = true;
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  // The element that exceeds its tolerance most, or lies farthest from what was wanted; NaN where
  // none is wanted (or none where one is) is worse than any number. Empty for no elements.
  std::vector<std::int64_t> worst_index;
  double got = 0, want = 0;         // of the worst element
  std::string got_text, want_text;  // the same, exact for integers of 64 bits too
  double worst_error = 0;           // |got - want|
  Tolerance tolerance;
};

// Compares element by element. Throws kInvalidInput where dtype or shape differ, naming `name`.
BATON_API Comparison compare(const Array& got, const Array& want, Tolerance tolerance,
                             std::string_view name);

// What was changed in a kernel so that its launches may start early (docs/pdl.md).
struct KernelRewrite {
  struct Change {
    enum class Kind : std::uint8_t { kWait, kTrigger, kPlainLoad };
    Kind kind = Kind::kWait;
    std::string where;   // "norm.cu:14": what it stands before, or the load that was changed
    std::string reason;  // why there
  };
  std::string kernel;  // its name in the program
  RewriteMode mode = RewriteMode::kOff;
  std::string obstacle;  // why it cannot be changed and is as it was, else empty
  // "its own wait, at norm.cu:12": what it had itself, and keeps. Without changes, nothing was to
  // be done. Else empty.
  std::string own = {};
  std::vector<Change> changes;  // empty where it is as it was
};
BATON_API std::string_view to_string(KernelRewrite::Change::Kind kind) noexcept;

class ExecutableState;

// A program prepared for one device: its modules loaded, its launches packed. Owns its buffers.
// Movable; one thread at a time.
class BATON_API Executable {
 public:
  // Compiles and loads every kernel of the program. Throws what reading images, compiling and
  // loading throw, at the kernel's place in the program.
  static Executable prepare(const Program& program, const Device& device,
                            const PrepareOptions& options = {});
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();

  const Program& program() const;
  const Device& device() const;
  // The module that holds a kernel of the program. Throws kNotFound.
  const Module& module(std::string_view kernel) const;
  // What each module was made from, and what compiling gave: PTX, machine code, log, time. Kernels
  // with equal definitions share one.
  struct KernelModule {
    // The program's names for its kernels, with what is known of each.
    std::vector<std::pair<std::string, KernelFacts>> kernels = {};
    std::optional<Source> source = {};  // with `compiled`
    std::optional<Compiled> compiled = {};
    std::optional<Image> image = {};  // of kernels that come as images
    // The PTX that was loaded in place of all that, where kernels were rewritten, and of each
    // kernel that was to be what came of it.
    std::optional<Image> rewritten = {};
    std::vector<KernelRewrite> rewrites = {};
  };
  const std::vector<KernelModule>& modules() const;

  // Gives symbols their values, checks the whole program for them (shapes, offsets, arguments,
  // limits of the device: everything that can be known before it runs), and allocates the buffers.
  // Throws kInvalidInput, kNotFound or kLimit with the place of the step; kOutOfMemory. May be
  // called again with other values.
  void bind(Bindings bindings = {});

  // Gives symbols their values and checks the whole program for them as `bind` does, and needs
  // neither memory for the buffers nor their contents. What was bound stays as it is.
  CheckReport check(Bindings bindings = {});

  // The edges between the launches of the last `bind`.
  const std::vector<EdgeReport>& edges() const;

  // The symbols' values of the last `bind`, in the program's order, with where each came from
  // ("--set", "the shape of input x", "the program").
  struct BoundSymbol {
    std::string name;
    std::int64_t value = 0;
    std::string source;
  };
  const std::vector<BoundSymbol>& symbols() const;
  // The bound shape of a buffer. Throws kNotFound.
  const std::vector<std::int64_t>& shape(std::string_view buffer) const;

  // Initialises the buffers, runs the steps, and downloads output and inout buffers. Binds with
  // defaults where `bind` was not called. Throws kFault where the device reports a fault or an
  // error finding (the findings are the error's notes, and `report()` holds them), kTimeout,
  // kInterrupted.
  const RunReport& run(const RunOptions& options = {});

  // Of the last run, also where it threw: what is known of it.
  const RunReport& report() const;

  // What an output or inout buffer held after the first run. Throws kNotFound for another buffer
  // (naming the outputs), kInvalidInput before a run and for one in memory of the caller's.
  const Array& output(std::string_view buffer) const;
  std::vector<std::string> outputs() const;

 private:
  struct Release {
    void operator()(ExecutableState* state) const noexcept;
  };
  explicit Executable(std::unique_ptr<ExecutableState, Release> state);
  std::unique_ptr<ExecutableState, Release> state_;
};

}  // namespace baton
