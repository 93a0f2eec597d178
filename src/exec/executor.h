#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "baton/executable.h"
#include "exec/plan.h"
#include "exec/report.h"
#include "exec/spread.h"
#include "exec/watch.h"

namespace baton::exec {

// What an executor is given for one run. Refers to what the executable owns.
struct RunContext {
  const Device& device;
  const Stream& stream;
  Plan& plan;
  const std::vector<std::int64_t>& symbols;  // their values, in the program's order
  const BufferTable& buffers;                // allocated
  const std::vector<bool>& early;            // by launch: it may start early behind another
  const std::vector<bool>& waits;            // by launch: its end is the end of what it waits for
  const std::vector<Spreading>& spreading;   // by launch: sent beside what its step says
  std::uint64_t binding = 0;                 // another number for other symbols or buffers
  std::uint64_t steps = 0;                   // of this run, repeats unrolled
  ReportBuilder& report;
  const RunWatch& watch;
  std::uint64_t& steps_done;  // of this run, counted while it goes on
  bool time_steps = true;
  bool again = false;        // another run of the same follows
  bool steps_apart = false;  // an event behind each step, also where that keeps launches apart
};

// A way to execute a program's steps in their order. Keeps what can be reused between runs. One
// thread at a time.
class Executor {
 public:
  virtual ~Executor() = default;

  // Executes every step once and returns when all are done. Throws what the steps throw, and what
  // the watch throws, with notes that say where the run stood.
  virtual void run(const RunContext& context) = 0;
};

// Enqueues each step on the stream.
std::unique_ptr<Executor> make_stream_executor(const Device& device);
// Makes the program a CUDA graph and launches that.
std::unique_ptr<Executor> make_graph_executor(const Device& device);

std::unique_ptr<Executor> make_executor(ExecutorKind kind, const Device& device);

}  // namespace baton::exec
