#include "base/error.h"
#include "exec/executor.h"
#include "exec/pass.h"
#include "exec/recording.h"
#include "exec/step_timer.h"

namespace baton::exec {
namespace {

// Enqueues steps on the run's stream, one behind another.
class Enqueuer {
 public:
  Enqueuer(const RunContext& context, StepTimer& timer) : context_(context), timer_(timer) {}

  void launch(const Place& place, LaunchPlan& plan) {
    timer_.next(context_, place.programmatic);
    const NativeResult result = plan.try_launch();
    if (result != 0) throw plan.kernel().diagnose(plan.config(), result);
    timer_.enqueued(place);
  }

  void copy(const Place& place, const PlannedCopy& copy, const CopyValues& values) {
    timer_.next(context_, false);
    context_.buffers[copy.to].memory->copy_from(*context_.buffers[copy.from].memory, values.bytes,
                                                values.from, values.to, context_.stream);
    timer_.enqueued(place);
  }

  void fill(const Place& place, const PlannedFill& fill, std::uint64_t bits) {
    timer_.next(context_, false);
    const BoundBuffer& buffer = context_.buffers[fill.buffer];
    buffer.memory->fill(bits, static_cast<unsigned>(buffer.element_size()),
                        static_cast<std::size_t>(buffer.elements), 0, context_.stream);
    timer_.enqueued(place);
  }

  void nothing(const Place& place) { timer_.pass(context_, place.row); }

  void enqueue(const RecordedStep& step) {
    // Most steps are launches, and many follow one another as fast as they can.
    if (LaunchPlan* const* plan = std::get_if<LaunchPlan*>(&step.work)) {
      launch(step.place, **plan);
    } else if (const auto* recorded = std::get_if<RecordedCopy>(&step.work)) {
      copy(step.place, *recorded->copy, recorded->values);
    } else if (const auto* filled = std::get_if<RecordedFill>(&step.work)) {
      fill(step.place, *filled->fill, filled->bits);
    } else {
      nothing(step.place);
    }
  }

 private:
  const RunContext& context_;
  StepTimer& timer_;
};

// A run whose steps are evaluated as it comes to them, and recorded for the runs behind it.
class StreamPass : public Pass {
 public:
  StreamPass(const RunContext& context, StepTimer& timer, Recording& recording)
      : Pass(context), enqueuer_(context, timer), recording_(recording) {}

  void run() { walk(context_.plan.steps); }

 private:
  void launch(const Place& place, PlannedLaunch& launch) override {
    enqueuer_.launch(place, *launch.sent);
    recording_.add(place, launch);
  }

  void copy(const Place& place, const PlannedCopy& copy, const CopyValues& values) override {
    enqueuer_.copy(place, copy, values);
    recording_.add(place, copy, values);
  }

  void fill(const Place& place, const PlannedFill& fill, std::uint64_t bits) override {
    enqueuer_.fill(place, fill, bits);
    recording_.add(place, fill, bits);
  }

  void nothing(const Place& place) override {
    enqueuer_.nothing(place);
    recording_.add_nothing(place);
  }

  Enqueuer enqueuer_;
  Recording& recording_;
};

void run_again(const RunContext& context, StepTimer& timer,
               const std::vector<RecordedStep>& steps) {
  Enqueuer enqueuer(context, timer);
  std::size_t number = 0;
  try {
    for (; number < steps.size(); ++number) {
      context.watch.check();
      enqueuer.enqueue(steps[number]);
    }
  } catch (Error& failure) {
    failure.at(steps[number].place.step->source->where);
    const std::string indexes = indexes_of_step(context.plan, context.symbols, number);
    if (!indexes.empty()) failure.note("with " + indexes);
    throw;
  }
}

class StreamExecutor : public Executor {
 public:
  explicit StreamExecutor(const Device& device) : timer_(device) {}

  void run(const RunContext& context) override {
    try {
      const bool first = context.report.first_run();
      if (first) recording_.begin(context.plan, context.again);
      const std::vector<RecordedStep>* const steps = first ? nullptr : recording_.steps();
      if (steps != nullptr) {
        context.report.begin_same_run();
        timer_.begin(context);
        run_again(context, timer_, *steps);
      } else {
        context.report.begin_run();
        timer_.begin(context);
        StreamPass(context, timer_, recording_).run();
        recording_.end();
      }
      timer_.finish(context);
    } catch (Error& failure) {
      timer_.abandon(failure, context.report);
      context.report.abandon_run();
      throw;
    }
  }

 private:
  StepTimer timer_;
  Recording recording_;  // of the first of several runs
};

}  // namespace

std::unique_ptr<Executor> make_stream_executor(const Device& device) {
  return std::make_unique<StreamExecutor>(device);
}

}  // namespace baton::exec
