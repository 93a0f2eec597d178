#pragma once

#include "bind/tape_walk.h"
#include "trace/launch_records.h"

namespace baton::play {

// Notes a launch of a traced run, and gives the plan that sends it the address of its records.
// `is_repeated`: the device executes it any number of times.
void note_step(trace::LaunchRecords& records, const bind::RunStep& at,
               const bind::TapeLaunch& launch, LaunchPlan& plan, bool is_repeated = false);
// Notes a copy, a fill or a collective.
void note_step(trace::LaunchRecords& records, const bind::RunStep& at);

// The blocks of instrumented launches that a walk over the tape sends, the steps of conditions
// once.
std::uint64_t count_traced_blocks(bind::Tape& tape);

}  // namespace baton::play
