#include "base/error.h"
#include "exec/executor.h"
#include "exec/pass.h"
#include "exec/step_timer.h"

namespace baton::exec {
namespace {

// One run: enqueues each step on the stream as it comes to it.
class StreamPass : public Pass {
 public:
  StreamPass(const RunContext& context, StepTimer& timer) : Pass(context), timer_(timer) {}

  void run() {
    timer_.begin(context_);
    walk(context_.plan.steps);
    timer_.finish(context_);
  }

 private:
  void launch(const Place& place, PlannedLaunch& launch) override {
    timer_.next(context_, place.programmatic);
    const NativeResult result = launch.sent->try_launch();
    if (result != 0) throw launch.kernel.diagnose(launch.sent->config(), result);
    timer_.enqueued(place);
  }

  void copy(const Place& place, const PlannedCopy& copy, const CopyValues& values) override {
    timer_.next(context_, false);
    context_.buffers[copy.to].memory->copy_from(*context_.buffers[copy.from].memory, values.bytes,
                                                values.from, values.to, context_.stream);
    timer_.enqueued(place);
  }

  void fill(const Place& place, const PlannedFill& fill, std::uint64_t bits) override {
    timer_.next(context_, false);
    const BoundBuffer& buffer = context_.buffers[fill.buffer];
    buffer.memory->fill(bits, static_cast<unsigned>(buffer.element_size()),
                        static_cast<std::size_t>(buffer.elements), 0, context_.stream);
    timer_.enqueued(place);
  }

  void nothing(const Place& place) override { timer_.pass(context_, place.row); }

  StepTimer& timer_;
};

class StreamExecutor : public Executor {
 public:
  explicit StreamExecutor(const Device& device) : timer_(device) {}

  void run(const RunContext& context) override {
    try {
      StreamPass(context, timer_).run();
    } catch (Error& failure) {
      timer_.abandon(failure, context.report);
      context.report.abandon_run();
      throw;
    }
  }

 private:
  StepTimer timer_;
};

}  // namespace

std::unique_ptr<Executor> make_stream_executor(const Device& device) {
  return std::make_unique<StreamExecutor>(device);
}

}  // namespace baton::exec
