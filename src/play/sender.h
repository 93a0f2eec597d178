#pragma once

#include <span>
#include <type_traits>

#include "base/error.h"
#include "bind/tape_walk.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "play/moves.h"
#include "play/note_steps.h"
#include "play/player.h"

namespace baton::play {

// Sends single steps of a tape to the target's stream. `kNotes`: the device is simulated, and is
// told of each launch which one it is. A GPU's loop has no code for that.
template <bool kNotes>
class Sender {
 public:
  // What walks the tape for it.
  using Walk = bind::BasicTapeWalk<kNotes>;

  explicit Sender(const PlayTarget& target)
      : target_(target),
        has_parts_(target.lanes.has_parts()),
        is_rare_(has_parts_ || target.records != nullptr),
        keeps_messages_(target.collectives.by_nccl()) {}

  // The stream that gets the steps of the branch at hand.
  const Stream& stream() const { return target_.lanes.stream(lane_, target_.stream); }
  // As a walk calls them.
  void branch(const bind::TapeFork& fork) {
    if (keeps_messages_) flush();
    target_.lanes.fork(fork.parallel, target_.stream);
  }
  void branch(const bind::TapeBranch& branch) { take_lane(branch.group->lane); }
  void branch(const bind::TapeAfter& after) { target_.lanes.wait(after, target_.stream); }
  void branch(const bind::TapeRecorded& recorded) {
    target_.lanes.record(recorded, target_.stream);
  }
  // Later steps of the branch at hand go on in its own stream.
  void leave_part() { target_.lanes.leave_part(lane_, target_.stream); }
  // The host waits for what was sent.
  void halt() {
    leave_part();
    if (keeps_messages_) target_.collectives.flush_receives(stream());
  }
  // What comes after the run is after its last step.
  void finish() {
    target_.lanes.leave_part(0, target_.stream);
    if (keeps_messages_) flush();
  }
  void branch(const bind::TapeJoin& join) {
    target_.lanes.join(join.parallel, target_.stream);
    take_lane(Lanes::lane_around(join.parallel));
  }

  // Whether the driver gets nothing for the step: an empty grid, or no bytes to move.
  static bool is_empty(const bind::TapeLaunch& launch, const bind::BufferTable&) {
    return launch.form == nullptr;
  }
  template <typename Planned>
  static bool is_empty(const bind::TapeMove<Planned>& move, const bind::BufferTable& buffers) {
    return bytes_moved(move, buffers) == 0;
  }

  // Called for every step that is not empty, before `send` and its mark: messages before it are one
  // group, unless it is a further one.
  template <typename Action>
  void begin(const Action& action) {
    if (!keeps_messages_) return;
    if constexpr (std::is_same_v<Action, bind::TapeCollective>) {
      if (target_.collectives.joins(action)) return;
    }
    flush();
  }
  // Called for every step, before `send`.
  void note(const bind::RunStep& at, const bind::TapeLaunch& launch,
            std::span<const std::int64_t> slots) {
    if constexpr (kNotes) {
      if (launch.form == nullptr) return;
      target_.device.driver().simulator->note_next_launch(
          note_of(launch, at.number, slots, target_.buffers, target_.tags));
    }
  }
  template <typename Move>
  void note(const bind::RunStep&, const Move&, std::span<const std::int64_t>) {}

  // Of a step that is not empty. Throws the diagnosis of a launch that the driver rejects.
  void send(const bind::RunStep& at, bind::TapeLaunch& launch) {
    LaunchPlan& plan = at.programmatic ? *launch.form->early : *launch.form->full;
    if (is_rare_) [[unlikely]]
      prepare(at, launch, plan);
    const NativeResult result = plan.try_launch(launch.arguments);
    if (result != 0) throw plan.kernel().diagnose(plan.config(), result);
  }
  template <typename Planned>
  void send(const bind::RunStep& at, const bind::TapeMove<Planned>& move) {
    if (target_.records != nullptr) [[unlikely]]
      note_step(*target_.records, at);
    enqueue(move, target_.buffers, stream());
  }
  void send(const bind::RunStep& at, const bind::TapeCollective& collective) {
    // No kernel of a collective runs on a part of the SMs.
    if (keeps_messages_ || at.own_kernel) leave_part();
    if (target_.records != nullptr) [[unlikely]]
      note_step(*target_.records, at);
    target_.collectives.enqueue(at, collective, target_.buffers, stream());
  }

 private:
  void flush() { target_.collectives.flush(stream()); }
  void take_lane(std::uint32_t lane) { lane_ = lane; }

  const PlayTarget& target_;
  // Not inline: the usual launch would save registers for it.
  [[gnu::noinline]] void prepare(const bind::RunStep& at, const bind::TapeLaunch& launch,
                                 LaunchPlan& plan) {
    if (has_parts_) target_.lanes.take_part(*launch.site, target_.stream);
    if (target_.records != nullptr) note_step(*target_.records, at, launch, plan);
  }

  const bool has_parts_;
  const bool is_rare_;  // launches take a part of the SMs, or have records
  const bool keeps_messages_;
  std::uint32_t lane_ = 0;  // of the branch at hand
};

// Sends every step of the tape, which has no conditions. Throws the errors of the steps.
void send_all(const PlayTarget& target);

// Calls `act` with a Sender for the target's kind of device. A note of a launch that was not made
// is taken back.
template <typename Act>
void with_sender(const PlayTarget& target, Act&& act) {
  driver::Simulator* const simulator = target.device.driver().simulator;
  target.lanes.forget_parts();
  target.collectives.forget_messages();
  if (simulator == nullptr) return act(Sender<false>(target));
  try {
    act(Sender<true>(target));
  } catch (...) {
    simulator->forget_note();
    throw;
  }
}

}  // namespace baton::play
