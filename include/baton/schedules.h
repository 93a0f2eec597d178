#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/error.h"
#include "baton/executable.h"
#include "baton/export.h"
#include "baton/finding.h"
#include "baton/schedule.h"
#include "baton/span.h"

namespace baton {

// The first difference of a run's outputs from those of another run.
struct ScheduleDifference {
  std::string buffer;
  std::vector<std::int64_t> index;  // of the first element whose bits differ
  std::string got, reference;       // the element as text
  std::int64_t count = 0;           // such elements of the buffer
  std::int64_t elements = 0;        // of the buffer
};

// A run under one schedule.
struct ScheduleRun {
  Schedule schedule;
  std::optional<ScheduleDifference> difference;  // empty: each bit of each output is the same
  std::vector<FindingReport> findings;
  std::optional<Error> failure;  // of a run with errors that the simulated GPU found; no difference
};

// Runs the program once more under each of the schedules, and compares the outputs bit by bit with
// those of the last run. State buffers get their first contents before each run; variables of
// modules keep theirs. A difference is a race, or a sum whose order is not fixed. The executable
// has the outputs of the last schedule then. `options.schedule` and `options.repeat` do not count.
// A run in which the simulated GPU finds errors ends with these, and the next schedules follow. Throws
// kInvalidInput before a first run, and what else `run` throws, with the schedule in a note.
BATON_API std::vector<ScheduleRun> compare_schedules(Executable& executable,
                                                     Span<const Schedule> schedules,
                                                     const RunOptions& options = {});

}  // namespace baton
