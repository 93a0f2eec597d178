#pragma once

#include <cstdint>
#include <optional>

#include "baton/executable.h"
#include "cli/command_line/options.h"
#include "cli/output/output.h"

namespace baton::cli {

// Runs a program again and again, and shows the elements that each run adds to a buffer as they
// come: the tokens of a text. One thread at a time.
class ListFollower {
 public:
  // Throws kNotFound and kInvalidInput for buffers that do not grow from run to run.
  ListFollower(const Program& program, const Followed& what);

  // Runs until a run adds nothing, the buffer is full, or the limit of runs is reached. Returns the
  // report of the first run with the findings of all. Throws what Executable::run throws, and
  // kInvalidInput for a counter beyond the buffer.
  RunReport run(Executable& executable, const RunOptions& options, Output& output);

 private:
  RunReport run_all(Executable& executable, const RunOptions& options, Output& output) const;
  // Elements that are there.
  std::int64_t count(const Executable& executable) const;
  void show(const Array& array, std::int64_t from, std::int64_t to, Output& output) const;

  const Followed what_;
};

}  // namespace baton::cli
