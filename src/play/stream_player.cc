#include "base/error.h"
#include "bind/tape_walk.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "play/moves.h"
#include "play/player.h"
#include "play/step_timer.h"

namespace baton::play {
namespace {

// Enqueues the steps of a tape on the run's stream, one after another. `kNotes`: the device is
// simulated and is told of each launch which one it is. A GPU's loop has no code for that.
template <bool kNotes>
class Enqueuer {
 public:
  Enqueuer(const PlayContext& context, StepTimer& timer)
      : context_(context), timer_(timer), watched_(context.watch.looks()) {}

  void run() {
    bind::TapeWalk walk(context_.tape);
    walk.run([&](bind::RunStep& at, auto& action) {
      if (watched_) context_.watch.check();
      context_.log.next(at, action, walk.slots());
      if constexpr (kNotes) note(action, walk.slots());
      enqueue(at, action);
    });
  }

 private:
  driver::Simulator& simulator() const { return *context_.device.driver().simulator; }

  void note(const bind::TapeLaunch& launch, std::span<const std::int64_t> slots) {
    const std::uint64_t step = step_++;
    if (launch.form == nullptr) return;
    simulator().note_next_launch(note_of(launch, step, slots, context_.buffers, context_.tags));
  }
  template <typename Move>
  void note(const Move&, std::span<const std::int64_t>) {
    ++step_;
  }

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

  const PlayContext& context_;
  StepTimer& timer_;
  const bool watched_;
  std::uint64_t step_ = 0;  // among those of the run, where notes are made
};

class StreamPlayer : public Player {
 public:
  explicit StreamPlayer(const Device& device) : timer_(device) {}

  void play(const PlayContext& context) override {
    try {
      context.tape.set_stream(context.stream);
      context.log.begin_run();
      timer_.begin(context);
      if (context.device.driver().simulator == nullptr) {
        Enqueuer<false>(context, timer_).run();
      } else {
        Enqueuer<true>(context, timer_).run();
      }
      timer_.finish(context);
    } catch (Error& failure) {
      if (driver::Simulator* simulator = context.device.driver().simulator) {
        simulator->forget_note();  // of a launch that was not made
      }
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
