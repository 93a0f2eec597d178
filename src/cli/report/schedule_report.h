#pragma once

#include <vector>

#include "baton/races.h"
#include "baton/schedules.h"
#include "cli/output/output.h"

namespace baton::cli {

// Runs under other schedules, as a table and as JSON, and what they found that the first run did
// not. `first`: the schedule that they are compared with; `known`: its findings.
void show_schedules(const Schedule& first, const std::vector<FindingReport>& known,
                    const std::vector<ScheduleRun>& runs, Output& output);

// Throws kMismatch for the first run whose outputs differ. `races`: those that the runs looked for.
void throw_on_difference(const Schedule& first, const std::vector<ScheduleRun>& runs, Races races);

}  // namespace baton::cli
