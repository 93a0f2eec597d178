#include "base/error.h"
#include "bind/tape_walk.h"
#include "play/moves.h"
#include "play/player.h"
#include "play/step_timer.h"

namespace baton::play {
namespace {

// Enqueues the steps of a tape on the run's stream, one after another.
class Enqueuer {
 public:
  Enqueuer(const PlayContext& context, StepTimer& timer) : context_(context), timer_(timer) {}

  void enqueue(const bind::RunStep& at, bind::TapeLaunch& launch) {
    if (launch.form == nullptr) return timer_.pass(context_, at.row);
    timer_.next(context_, at.programmatic);
    LaunchPlan& plan = at.programmatic ? *launch.form->early : *launch.form->full;
    const NativeResult result = plan.try_launch(launch.arguments);
    if (result != 0) throw plan.kernel().diagnose(plan.config(), result);
    timer_.enqueued(at);
  }

  template <typename Planned>
  void enqueue(const bind::RunStep& at, const bind::TapeMove<Planned>& move) {
    if (bytes_moved(move, context_.buffers) == 0) return timer_.pass(context_, at.row);
    timer_.next(context_, false);
    play::enqueue(move, context_.buffers, context_.stream);
    timer_.enqueued(at);
  }

 private:
  const PlayContext& context_;
  StepTimer& timer_;
};

class StreamPlayer : public Player {
 public:
  explicit StreamPlayer(const Device& device) : timer_(device) {}

  void play(const PlayContext& context) override {
    try {
      context.tape.set_stream(context.stream);
      context.log.begin_run();
      timer_.begin(context);
      Enqueuer enqueuer(context, timer_);
      bind::TapeWalk walk(context.tape);
      walk.run([&](bind::RunStep& at, auto& action) {
        context.watch.check();
        context.log.next(at, action, walk.slots());
        enqueuer.enqueue(at, action);
      });
      timer_.finish(context);
    } catch (Error& failure) {
      timer_.abandon(failure, context.log);
      context.log.abandon_run();
      throw;
    }
  }

 private:
  StepTimer timer_;
};

}  // namespace

std::unique_ptr<Player> make_stream_player(const Device& device) {
  return std::make_unique<StreamPlayer>(device);
}

}  // namespace baton::play
