#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/array.h"
#include "baton/bindings.h"
#include "baton/buffer.h"
#include "baton/check.h"
#include "baton/compare.h"
#include "baton/device.h"
#include "baton/error.h"
#include "baton/forward.h"
#include "baton/loaded_program.h"
#include "baton/program.h"
#include "baton/races.h"
#include "baton/report.h"
#include "baton/schedule.h"
#include "baton/span.h"

namespace baton {

// The execution of a program: each step enqueued on a stream, or all of them as one CUDA graph. The
// first run makes the graph, and later bindings update it in place. Order, overlap and results are
// the same.
enum class ExecutorKind : std::uint8_t { kStream, kGraph };

// LoadOptions, with the executor.
struct PrepareOptions {
  ExecutorKind executor = ExecutorKind::kStream;
  bool use_cache = true;
  PdlMode pdl = PdlMode::kAuto;
  RewriteMode rewrite = RewriteMode::kOff;
  bool assemble = false;
  std::function<void(const LoadProgress&)> progress = {};  // see LoadOptions
  bool instrument = false;                                 // see LoadOptions

  LoadOptions load() const { return {use_cache, pdl, rewrite, assemble, progress, instrument}; }
};

// The progress of a run: the completed steps, and all steps of the run.
struct RunProgress {
  std::uint64_t run = 0;  // 0 for the first
  std::uint64_t steps_done = 0;
  std::uint64_t steps = 0;
  // The share of the run that is done, from 0 to 1. On the simulated GPU a launch under way has the
  // share of its blocks that ended.
  double share = 0;
};

// A step of a run that has just completed. No other step of the run is under way. Valid during the
// call that gets it.
struct CompletedStep {
  std::uint64_t number = 0;  // among the executed steps of the run, repeats unrolled, from 0
  StepReport::Kind kind = StepReport::Kind::kLaunch;
  std::string label;  // "rmsnorm", "copy y -> z + N", "fill z"
  // The indexes of the enclosing groups, outermost first.
  std::vector<std::pair<std::string, std::int64_t>> indexes;
  SourceLocation where;
  std::optional<std::uint32_t> launch;  // its number in the program, as CheckReport counts
  bool skipped = false;                 // its grid was empty, or it had no bytes to move
  // Downloads a buffer of the program. Throws kNotFound.
  std::function<Array(std::string_view buffer)> contents;

  // "layer = 2, i = 0".
  BATON_API std::string indexes_text() const;
};

struct RunOptions {
  std::uint64_t repeat = 1;  // the first run initialises; its outputs are kept
  // The time limit of all runs together. When it passes, the run throws kTimeout, with notes about
  // the step that did not complete and the edge before it. The simulated GPU stops the running
  // kernels. A GPU cannot stop them: there the kernel continues. An executable that is destroyed
  // then does not wait for it: it leaves its objects to the end of the process. Binding or running
  // it again waits.
  std::optional<std::chrono::duration<double>> timeout = {};
  // Polled: the run throws kInterrupted soon after it becomes true. May be set by a signal handler.
  const std::atomic<bool>* interrupt = nullptr;
  // The order in which the simulated GPU executes work without a fixed order. A GPU rejects every
  // other schedule than kSerial with kInvalidInput.
  Schedule schedule = {};
  // Which races the simulated GPU looks for. A GPU rejects every other value than kUsual with
  // kInvalidInput.
  Races races = Races::kUsual;
  // Whether the simulated GPU records a timeline, for RunReport::trace. A GPU rejects it.
  bool trace = false;
  // Whether the simulated GPU counts accesses of memory, for StepReport::accesses. Kernels run
  // slower then. A GPU rejects it.
  bool count_accesses = false;
  // Whether events time the steps. Without them the report has only the times of runs, and a
  // failure on a GPU names its step less exactly. The steps of a graph have no times.
  bool time_steps = true;
  // With time_steps: whether each step is timed by itself. An event between launches that may
  // overlap separates them on a GPU. Without this option they are timed together.
  bool steps_apart = false;
  // Whether all executions of a step share one report. Its times are those of all its executions in
  // a run.
  bool join_executions = false;
  // Called after each step of the first run. If it returns false, the run ends there. Steps do not
  // overlap then. Only the stream executor has it: the other one throws kInvalidInput. Setup steps
  // are not among the steps.
  std::function<bool(const CompletedStep& step)> after_step = {};
  // Whether to look after each step of the first run for elements of float buffers that became NaN
  // or infinite. The first step that made one of finite values ends the run, which throws kMismatch
  // and has RunReport::non_finite. Executors and overlap are as for after_step.
  bool find_non_finite = false;
  // Names of more buffers whose contents after the first run are kept for `output`.
  std::vector<std::string> results = {};
  // Called after the first run, when none of its work is running: whether `output` gets its states
  // and caches, and `results`. They are downloaded if there is no such function. They also stay on
  // the device, where `memory` reads what is needed of them.
  std::function<bool()> wants_states = {};
  // Called between runs with the number of the completed run, when none of its work is running.
  std::function<void(std::uint64_t run)> after_run = {};
  // Called from the thread that runs, at most a few times a second.
  std::function<void(const RunProgress&)> progress = {};
};

class BoundProgram;

// An output compared with the file that the program expects of it.
struct ExpectedOutput {
  std::string buffer;
  std::filesystem::path file;
  Comparison comparison;
};

// A loaded program with values and buffers of its own. Movable; one thread at a time. A call that
// overlaps another thread's call, or of one that was moved from, throws kInvalidInput. Several may
// share one loaded program, each in its own thread, and the weights that the program describes.
//
// `run` executes a program, waits and downloads: for tools and tests. `enqueue` only submits: for
// engines, which call it once for each step of their own loop.
class BATON_API Executable {
 public:
  // Binds nothing yet.
  explicit Executable(LoadedProgram program, ExecutorKind executor = ExecutorKind::kStream);
  // Loads the program first. Throws the errors of LoadedProgram::load.
  static Executable prepare(const Program& program, const Device& device,
                            const PrepareOptions& options = {});
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();

  const LoadedProgram& loaded() const;
  const Program& program() const { return loaded().program(); }
  const Device& device() const { return loaded().device(); }
  const Module& module(std::string_view kernel) const { return loaded().module(kernel); }
  using KernelModule = baton::KernelModule;
  const std::vector<KernelModule>& modules() const { return loaded().modules(); }

  // Gives symbols their values, checks the whole program for them (shapes, offsets, arguments,
  // limits of the device: everything that can be known before it runs), allocates the buffers and
  // uploads weights and states. A weight that comes from a file or an init and keeps its shape
  // stays where it is: it is neither read nor uploaded again. A state that keeps its shape and gets
  // no new input keeps what the steps wrote into it. Throws kInvalidInput, kNotFound or kLimit with
  // the place of the step, and what was bound stays; kOutOfMemory, and then nothing is bound. May
  // be called again with other values: where shapes, counts and verdicts stay, only what depends on
  // them is evaluated again.
  void bind(Bindings bindings = {});

  CheckReport check(Bindings bindings = {}) { return loaded().check(bindings); }

  // The edges between the launches of the last `bind`.
  const std::vector<EdgeReport>& edges() const;
  // The same with kernels between peers.
  const std::vector<CollectiveEdgeReport>& collective_edges() const;

  // The symbols' values of the last `bind`, in the program's order.
  using BoundSymbol = baton::BoundSymbol;
  const std::vector<BoundSymbol>& symbols() const;
  // The bound shape of a buffer. Throws kNotFound.
  const std::vector<std::int64_t>& shape(std::string_view buffer) const;

  // Enqueues the program's steps on `stream`, a Stream of the program's device that may be adopted,
  // and returns. Does not wait, download or initialise. The first step starts when the stream's
  // earlier work is done. Buffers keep their contents from one call to the next: the caller uploads
  // inputs, and reads results, through `memory`, on the same stream. The exception is the first
  // call after a `bind`: it gives the buffers their first contents, as `initialise` does.
  //
  // On a GPU later calls allocate no memory and take no lock. The graph executor launches its
  // graph; the first call after `bind`, `set` or `set_memory` makes or updates it (`prepare` does
  // so beforehand). While a graph is captured from the stream, both executors add the steps as
  // nodes of the caller's graph, with their programmatic edges.
  //
  // A program with if or while steps is launched as a graph by both executors, because the device
  // tests the values. A capture of such a program needs `prepare` before it begins, and throws
  // kInvalidInput without. The caller's graph then uses memory of the executable, and has
  // conditional nodes: one instance at a time.
  //
  // Throws kInvalidInput if the program is not bound, and the errors of launches. A fault of a
  // kernel, and findings of the simulated GPU, come from a later call that waits.
  void enqueue(const Stream& stream);
  // Does what `enqueue` does once for a binding: makes or updates the graph.
  void prepare(const Stream& stream);
  // Enqueues the first contents of all buffers but weights and states.
  void initialise(const Stream& stream);
  // Waits for the stream's work. Throws what it failed with, naming the launch of this program
  // where the device knows it; kFault for a while that was not done after `at_most` iterations, in
  // any run since the last call; kTimeout and kInterrupted as `run` does.
  void wait(const Stream& stream, const WaitOptions& options = {});

  // Give symbols other values for later calls of `enqueue` and `run`. Calls that
  // were enqueued before keep the old ones. Only what depends on them is evaluated again. Memory
  // and contents of all buffers stay. Throw kNotFound for an unknown symbol; kInvalidInput for a
  // value that changes the shape of a buffer (`bind` allocates it anew), and what `bind` throws.
  // After an error the old values stay.
  void set(Span<const SymbolValue> values);
  void set(std::initializer_list<SymbolValue> values) {
    set(Span<const SymbolValue>(values.begin(), values.end()));
  }
  void set(std::string_view symbol, std::int64_t value) { set({{symbol, value}}); }
  // Makes memory of the caller the buffer's, for later calls; see Bindings::memory. The dtype and
  // the shape stay. Throws kInvalidInput for others, and kNotFound.
  void set_memory(std::string_view buffer, const DeviceArray& array);

  // The memory of a bound buffer, its own or the caller's, for uploads and downloads. It stays
  // valid until the next `bind`, or `set_memory` of the buffer. Executables of one loaded program
  // share the memory of a weight with equal contents: an upload into it changes all of them. Throws
  // kNotFound; kInvalidInput before `bind`.
  const Memory& memory(std::string_view buffer) const;
  // The same memory as an array.
  DeviceArray array(std::string_view buffer) const;
  // Enqueues the first contents of a state buffer again. Throws kInvalidInput for another role.
  void reset(std::string_view state, const Stream& stream);

  // Initialises the buffers that are neither weights nor states, runs the steps, and downloads
  // output, inout and state buffers (see RunOptions::wants_states). Binds with defaults if `bind`
  // was not called. Throws kFault if the device reports a fault or an error finding (the findings
  // are the error's notes, and `report()` holds them), kTimeout, kInterrupted.
  const RunReport& run(const RunOptions& options = {});

  // The report of the last run, even if it threw.
  const RunReport& report() const;

  // The contents of an output, inout or state buffer, or of one of RunOptions::results, after the
  // first run. Throws kNotFound for another buffer (naming the outputs), kInvalidInput before a run
  // and for a buffer in the caller's memory.
  const Array& output(std::string_view buffer) const;
  std::vector<std::string> outputs() const;

  // The world of the last `bind`.
  const World& world() const;
  // The shape of the whole array of a sharded buffer; of another buffer, its own shape.
  std::vector<std::int64_t> whole_shape(std::string_view buffer) const;
  // After a run, on all ranks: rank 0 then has the whole arrays of sharded buffers as `output`. The
  // others keep their parts. Throws the error that ended the run of all ranks.
  void gather_outputs();

  // Waits for the executable's own work, and downloads any bound buffer as it is now: also after a
  // run that failed, on the simulated GPU once `Device::recover` was called. Throws kNotFound,
  // kInvalidInput before `bind`, and what the work failed with.
  Array contents(std::string_view buffer) const;

  // Compares the outputs of the last run with the files that the program expects of them
  // (ProgramBuffer::expect), with the default tolerances of their dtypes. Empty if it expects
  // nothing. Throws kNotFound or kInvalidInput for a file that cannot be read or has another dtype
  // or shape, and what `output` throws.
  std::vector<ExpectedOutput> compare_expected() const;

 private:
  struct Release {
    void operator()(BoundProgram* state) const noexcept;
  };
  std::unique_ptr<BoundProgram, Release> state_;
};

}  // namespace baton
