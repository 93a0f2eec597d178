#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "exec/evaluate.h"
#include "exec/executor.h"
#include "exec/step_timer.h"
#include "exec/walker.h"

namespace baton::exec {
namespace {

// One run: enqueues each step on the stream as it comes to it.
class StreamPass : public Walker {
 public:
  StreamPass(const RunContext& context, StepTimer& timer)
      : Walker(context.plan, context.symbols), context_(context), timer_(timer) {}

  void run() {
    timer_.begin(context_);
    walk(context_.plan.steps);
    timer_.finish(context_);
  }

 private:
  void visit(PlannedStep& step) override {
    context_.watch.check();
    const std::uint32_t row = context_.report.next(step, [this] { return indexes(); });
    const bool enqueued =
        std::visit([&](auto& action) { return enqueue(action, row); }, step.action);
    if (enqueued) {
      timer_.enqueued(context_, row, step);
    } else {
      timer_.pass(context_, row);
    }
  }

  bool enqueue(PlannedLaunch& launch, std::uint32_t row) {
    LaunchValues values = evaluate(launch, slots(), context_.buffers);
    const bool report = context_.report.first_run();
    const bool programmatic = before_ == Before::kLaunch && context_.early[launch.number];
    before_ = values.skipped ? Before::kSkippedLaunch : Before::kLaunch;
    if (values.skipped) {
      if (report) context_.report.skipped(row);
      return false;
    }
    values.config.stream = context_.stream;
    if (programmatic) values.config.attributes.set(pdl());
    pack(launch, values.config, slots(), context_.buffers);
    timer_.next(context_, programmatic);
    launch.sent->launch();
    if (report) context_.report.launched(row, values.config, bytes_passed(launch));
    return true;
  }

  bool enqueue(PlannedCopy& copy, std::uint32_t row) {
    before_ = Before::kCopyOrFill;
    const CopyValues values = evaluate(copy, slots(), context_.buffers);
    if (context_.report.first_run()) context_.report.moved(row, 2 * values.bytes);
    if (values.bytes == 0) return false;
    timer_.next(context_, false);
    context_.buffers[copy.to].memory->copy_from(*context_.buffers[copy.from].memory, values.bytes,
                                                values.from, values.to, context_.stream);
    return true;
  }

  bool enqueue(PlannedFill& fill, std::uint32_t row) {
    before_ = Before::kCopyOrFill;
    const std::uint64_t bits = evaluate(fill, slots(), context_.buffers);
    const BoundBuffer& buffer = context_.buffers[fill.buffer];
    if (context_.report.first_run()) context_.report.moved(row, buffer.bytes);
    if (buffer.bytes == 0) return false;
    timer_.next(context_, false);
    buffer.memory->fill(bits, static_cast<unsigned>(buffer.element_size()),
                        static_cast<std::size_t>(buffer.elements), 0, context_.stream);
    return true;
  }

  bool enqueue(PlannedRepeat&, std::uint32_t) { return false; }  // is no leaf

  std::uint64_t bytes_passed(const PlannedLaunch& launch) const {
    // Each buffer's bytes once, however often they are passed.
    std::vector<std::uint64_t> of_buffer(launch.buffers.size());
    std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> seen;
    for (const PlannedArgument& arg : launch.args) {
      if (!arg.buffer()) continue;
      const auto [first, last] = arg.span(slots(), index_slot(), context_.buffers);
      if (!seen.emplace(*arg.buffer(), first, last).second) continue;
      const auto found = std::find(launch.buffers.begin(), launch.buffers.end(), *arg.buffer());
      std::uint64_t& sum = of_buffer[static_cast<std::size_t>(found - launch.buffers.begin())];
      sum = std::min(sum + last - first, context_.buffers[*arg.buffer()].bytes);
    }
    return std::accumulate(of_buffer.begin(), of_buffer.end(), std::uint64_t{0});
  }

  const RunContext& context_;
  StepTimer& timer_;
};

class StreamExecutor : public Executor {
 public:
  explicit StreamExecutor(const Device& device) : timer_(device) {}

  void run(const RunContext& context) override {
    try {
      StreamPass(context, timer_).run();
    } catch (Error& failure) {
      timer_.abandon(failure);
      context.report.abandon_run();
      throw;
    }
  }

 private:
  StepTimer timer_;
};

}  // namespace

std::unique_ptr<Executor> make_executor(ExecutorKind kind, const Device& device) {
  switch (kind) {
    case ExecutorKind::kStream:
      return std::make_unique<StreamExecutor>(device);
  }
  throw error(ErrorCode::kInvalidInput, "unknown executor {}", static_cast<int>(kind));
}

}  // namespace baton::exec
