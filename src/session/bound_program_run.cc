// A bound program runs, or its caller waits for it.

#include <algorithm>

#include "base/error.h"
#include "driver/driver.h"
#include "play/failed_run.h"
#include "play/run_watch.h"
#include "runtime/crossing.h"
#include "session/bound_program.h"
#include "session/run/run_observer.h"
#include "session/run/run_teller.h"
#include "session/run/simulated_run.h"
#include "session/run/traced_run.h"

namespace baton {

std::function<void()> BoundProgram::watch_collectives(std::function<void()> tick) const {
  if (!collectives_->by_nccl()) return tick;
  return [this, tick = std::move(tick)] {
    collectives_->check();
    if (tick) tick();
  };
}

void BoundProgram::wait(const Stream& stream, const WaitOptions& options) {
  require_bound("wait");
  play::require_limit(options.timeout);
  require_one_device("program", state_->device, "stream", stream.device());
  in_world([&] { wait_for_rank(stream, options); });
}

void BoundProgram::wait_for_rank(const Stream& stream, const WaitOptions& options) {
  const play::RunWatch watch(state_->device, options.timeout, options.interrupt,
                             watch_collectives({}), &world_);
  try {
    watch.wait([&] { return stream.done(); });
    player_->check_conditions(stream);
  } catch (Error& failure) {
    play::name_launch(failure, state_->device, *tape_, tags_);
    play::stop_enqueued(failure, watch, state_->device, *tape_, tags_);
    collectives_->note_others(failure);
    note_stop(failure, stream, watch);
    throw;
  }
}

void BoundProgram::run(const RunOptions& options) {
  play::require_limit(options.timeout);
  if (RunObserver::is_wanted(options) && executor_ != ExecutorKind::kStream) {
    throw error(ErrorCode::kInvalidInput,
                "a graph is one launch, so that nothing can be seen between its steps; take the "
                "stream executor");
  }
  if (!bound()) bind({});
  in_world([&] { run_rank(options); });
}

void BoundProgram::run_rank(const RunOptions& options) {
  for (const std::string& name : options.results) buffer(name);
  outputs.clear();
  stopped_.reset();
  const bool overlaps = tape_->lanes() > 1 ||
                        std::ranges::any_of(edges_, &EdgeReport::programmatic) ||
                        std::ranges::any_of(collective_edges_, &CollectiveEdgeReport::programmatic);
  SimulatedRun simulated(state_->device, options, overlaps, is_instrumented_, report);
  try {
    play(options, simulated);
  } catch (Error& failure) {
    play::name_launch(failure, state_->device, *tape_, tags_);
    collectives_->note_others(failure);
    simulated.collect(*tape_, tags_);
    throw;
  }
  const std::vector<std::string> errors = simulated.collect(*tape_, tags_);
  if (errors.empty()) return;
  Error failure = error(ErrorCode::kFault, "the device found {} error{} in the program's kernels",
                        errors.size(), errors.size() == 1 ? "" : "s");
  for (const std::string& text : errors) failure.note(text);
  throw failure;
}

void BoundProgram::play(const RunOptions& options, const SimulatedRun& simulated) {
  play::RunLog run_log(report, state_->plan, buffers(), steps_, options.join_executions);
  report.warnings = warnings_;
  report.collectives = collectives_report_;
  report.parts = part_reports(parts_, *tape_, state_->plan.launches);
  memory_.initialise(stream_);
  RunTeller teller(options, steps_, simulated);
  const play::RunWatch watch(state_->device, options.timeout, options.interrupt,
                             watch_collectives(teller.tick()), &world_);
  std::optional<RunObserver> observer;
  try {
    if (RunObserver::is_wanted(options)) {
      observer.emplace(options, memory_, state_->plan.naming.get(), stream_, report);
    }
    for (std::uint64_t run = 0; run < options.repeat; ++run) {
      teller.begin(run);
      std::optional<TracedRun> traced;
      if (options.trace && records() != nullptr && run + 1 == options.repeat) {
        traced.emplace(state_->device, stream_, *records());
      }
      // On a GPU events between the launches would be seen in the timeline.
      const bool events =
          options.time_steps && (!traced || state_->device.driver().simulator != nullptr);
      player_->play({target(stream_), steps_, run_log, watch, teller.steps_done(), events,
                     options.steps_apart, observer && run == 0 ? &*observer : nullptr});
      if (traced) traced->finish(*tape_, tags_, state_->kernels, edges_, report);
      world_.check();
      if (run == 0) {
        const bool with_states = !options.wants_states || options.wants_states();
        outputs = memory_.download(stream_, options.results, with_states);
        watch.wait([this] { return stream_.done(); });
        // The steps that a run did not get to may write an output.
        if (!observer || !observer->ended()) {
          for (std::string& warning : memory_.unwritten(outputs, written_)) {
            report.warnings.push_back(std::move(warning));
          }
        }
      }
      if (observer) observer->finish();
      if (options.after_run) options.after_run(run);
    }
  } catch (Error& failure) {
    watch.stop(failure);
    note_stop(failure, stream_, watch);
    throw;
  }
  run_log.finish();
}

}  // namespace baton
