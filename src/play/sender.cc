#include "play/sender.h"

namespace baton::play {

void send_all(const PlayTarget& target) {
  if (target.records != nullptr) target.records->begin();
  target.tape.set_stream(target.stream, target.lanes.streams());
  with_sender(target, [&](auto sender) {
    typename decltype(sender)::Walk walk(target.tape);
    walk.run(
        [&](bind::RunStep& at, auto& action) {
          note_execution(at, action, target.collectives);
          sender.note(at, action, walk.slots());
          if (sender.is_empty(action, target.buffers)) return;
          sender.begin(action);
          sender.send(at, action);
        },
        walk.kOnce, [&](const auto& place) { sender.branch(place); });
    sender.finish();
  });
}

}  // namespace baton::play
