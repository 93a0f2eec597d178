#include "base/error.h"
#include "base/overloaded.h"
#include "bind/tape_walk.h"
#include "play/conditions.h"
#include "play/host_test.h"
#include "play/player.h"
#include "play/sender.h"
#include "play/step_timer.h"

namespace baton::play {
namespace {

// An observer wants no more steps.
struct RunEndsHere {};

// The steps of a run, timed and noted in its log. Conditions are tested on the host, which waits.
template <typename Sending>
void play_steps(const PlayContext& context, StepTimer& timer, HostTest& host, Sending sender) {
  const bool watched = context.watch.looks();
  bind::TapeWalk walk(context.tape);
  const auto show = [&](const bind::RunStep& at, bool sent) {
    // Branches are timed together, but each of their steps is seen by itself.
    sender.halt();
    Event end(context.device, false);
    end.record(sender.stream());
    context.watch.wait([&] { return end.done(); });
    timer.halt(context);
    timer.go_on(context);
    if (!context.observer->step_done(at, sent, walk.slots())) throw RunEndsHere();
  };
  const auto step = [&](bind::RunStep& at, auto& action) {
    if (watched) context.watch.check();
    note_execution(at, action, context.collectives);
    context.log.next(at, action, walk.slots());
    sender.note(at, action, walk.slots());
    const bool sent = !sender.is_empty(action, context.buffers);
    if (sent) {
      sender.begin(action);
      timer.next(context, at.programmatic);
      sender.send(at, action);
      timer.enqueued(at);
    } else {
      timer.pass(context, at.row);
    }
    if (context.observer != nullptr) [[unlikely]]
      show(at, sent);
  };
  const auto test = [&](const bind::RunStep& at, const bind::TapeCondition& condition,
                        std::uint64_t times) {
    const bind::PlannedTest& planned = condition.group->test;
    if (times == condition.values.at_most && !planned.is_loop()) return false;
    timer.halt(context);
    sender.halt();
    const bool holds = host.holds(context.buffers[planned.buffer], sender.stream(), context.watch);
    timer.go_on(context);
    if (!holds) return false;
    if (times == condition.values.at_most) throw too_many_iterations(*at.step, times);
    context.log.executed(*at.step, 1);
    return true;
  };
  const auto branch = Overloaded{[&](const bind::TapeFork& fork) {
                                   timer.begin_branches(context);
                                   sender.branch(fork);
                                 },
                                 [&](const bind::TapeBranch& each) { sender.branch(each); },
                                 [&](const bind::TapeAfter& after) { sender.branch(after); },
                                 [&](const bind::TapeRecorded& each) { sender.branch(each); },
                                 [&](const bind::TapeJoin& join) {
                                   sender.branch(join);
                                   timer.end_branches();
                                 }};
  walk.run(step, test, branch);
  sender.finish();
}

class StreamPlayer : public Player {
 public:
  explicit StreamPlayer(const Device& device) : device_(device), timer_(device), host_(device) {}

  void play(const PlayContext& context) override {
    try {
      if (context.records != nullptr) context.records->begin();
      context.tape.set_stream(context.stream, context.lanes.streams());
      context.log.begin_run();
      timer_.begin(context);
      try {
        with_sender(context, [&](auto sender) { play_steps(context, timer_, host_, sender); });
      } catch (const RunEndsHere&) {
        // What was sent is done.
      }
      timer_.finish(context);
    } catch (Error& failure) {
      timer_.abandon(failure, context.log);
      context.log.abandon_run();
      throw;
    }
  }

  // What is enqueued waits for no values that conditions test: the device tests those, in a graph.
  void enqueue(const PlayTarget& target) override {
    if (target.tape.has_conditions()) [[unlikely]]
      return graph().enqueue(target);
    send_all(target);
  }
  // Of a tape it keeps no more than that graph.
  void note_changes(const bind::TapeChanges& changes, std::uint64_t from,
                    std::uint64_t to) override {
    if (graph_ != nullptr) graph_->note_changes(changes, from, to);
  }
  void check_conditions(const Stream& stream) override {
    if (graph_ != nullptr) graph_->check_conditions(stream);
  }
  void prepare(const PlayTarget& target) override {
    if (target.tape.has_conditions()) return graph().prepare(target);
    target.tape.set_stream(target.stream, target.lanes.streams());
  }

 private:
  Player& graph() {
    if (graph_ == nullptr) graph_ = make_graph_player(device_);
    return *graph_;
  }

  Device device_;
  std::unique_ptr<Player> graph_;  // of a tape with conditions that was enqueued
  StepTimer timer_;
  HostTest host_;
};

}  // namespace

std::unique_ptr<Player> make_stream_player(const Device& device) {
  return std::make_unique<StreamPlayer>(device);
}

}  // namespace baton::play
