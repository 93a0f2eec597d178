#include "base/error.h"
#include "bind/tape_walk.h"
#include "play/player.h"
#include "play/sender.h"
#include "play/step_timer.h"

namespace baton::play {
namespace {

// The steps of a run, timed and noted in its log.
template <typename Sending>
void play_steps(const PlayContext& context, StepTimer& timer, Sending sender) {
  const bool watched = context.watch.looks();
  bind::TapeWalk walk(context.tape);
  walk.run([&](bind::RunStep& at, auto& action) {
    if (watched) context.watch.check();
    context.log.next(at, action, walk.slots());
    sender.note(action, walk.slots());
    if (sender.is_empty(action, context.buffers)) return timer.pass(context, at.row);
    timer.next(context, at.programmatic);
    sender.send(at, action);
    timer.enqueued(at);
  });
}

class StreamPlayer : public Player {
 public:
  explicit StreamPlayer(const Device& device) : timer_(device) {}

  void play(const PlayContext& context) override {
    try {
      context.tape.set_stream(context.stream);
      context.log.begin_run();
      timer_.begin(context);
      with_sender(context, [&](auto sender) { play_steps(context, timer_, sender); });
      timer_.finish(context);
    } catch (Error& failure) {
      timer_.abandon(failure, context.log);
      context.log.abandon_run();
      throw;
    }
  }

  void enqueue(const PlayTarget& target) override { send_all(target); }
  // It keeps nothing of a tape.
  void note_changes(const bind::TapeChanges&, std::uint64_t, std::uint64_t) override {}
  void prepare(const PlayTarget& target) override { target.tape.set_stream(target.stream); }

 private:
  StepTimer timer_;
};

}  // namespace

std::unique_ptr<Player> make_stream_player(const Device& device) {
  return std::make_unique<StreamPlayer>(device);
}

}  // namespace baton::play
