#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/executable.h"
#include "exec/buffers.h"
#include "exec/check.h"
#include "exec/executor.h"
#include "exec/footprints.h"
#include "exec/kernel_set.h"
#include "exec/plan.h"

namespace baton {

// What an Executable owns. The order of members is the order in which they are made; memory is
// freed before the stream and the modules go.
class ExecutableState {
 public:
  ExecutableState(const Program& prepared, const Device& on, const PrepareOptions& options);

  void bind(Bindings given);
  CheckReport check(Bindings given);
  void run(const RunOptions& options);

  const Program program;
  const Device device;
  const exec::KernelSet kernels;
  RunReport report;
  std::vector<Executable::BoundSymbol> symbols;
  std::map<std::string, Array, std::less<>> outputs;

  bool bound() const { return bound_; }
  // Whether work of a run that was stopped is still under way.
  bool still_runs() const noexcept;
  const exec::BufferTable& buffers() const { return buffers_; }
  const std::vector<EdgeReport>& edges() const { return extent_.edges; }

 private:
  // What a program comes to with values for its symbols, checked; its buffers are not allocated.
  struct Resolved {
    std::vector<Executable::BoundSymbol> symbols;
    std::vector<std::int64_t> values;  // of the symbols
    exec::BufferTable buffers;
    exec::RunExtent extent;
  };
  Resolved resolve(const Bindings& given);
  // What is downloaded after a run.
  static bool is_result(const exec::BoundBuffer& buffer);
  // A given array or the file that the program names, or null.
  const Array* contents(const ProgramBuffer& buffer) const;
  // Reads the files that the program names, and holds what every buffer starts with against it.
  std::map<std::string, Array, std::less<>> read_contents(Bindings& given,
                                                          const exec::BufferTable& table) const;
  void allocate(exec::BufferTable& table) const;
  // The memory of the variable that the buffer is.
  Memory variable(const exec::BoundBuffer& buffer) const;
  void initialise();
  void run_all(const RunOptions& options);
  void download(const exec::RunWatch& watch);
  void note_unwritten();
  // Puts what the device found into the report, and gives the errors among it.
  std::vector<std::string> collect_findings();
  void direct_simulator(const RunOptions& options);
  void release_simulator(const RunOptions& options);

  exec::BufferTable buffers_;
  exec::Footprints footprints_;
  exec::Plan plan_;
  Stream stream_;
  std::unique_ptr<exec::Executor> executor_;
  bool bound_ = false;
  bool stopped_ = false;       // the last run, by its time limit or its user
  std::uint64_t binding_ = 0;  // the number of the last `bind`
  exec::RunExtent extent_;
  std::vector<std::int64_t> values_;  // of the symbols, in the program's order
  std::uint64_t seed_ = 0;
  std::map<std::string, Array, std::less<>> contents_;  // by buffer
};

}  // namespace baton
