#include "play/sender.h"

namespace baton::play {

void send_all(const PlayTarget& target) {
  target.tape.set_stream(target.stream);
  with_sender(target, [&](auto sender) {
    bind::TapeWalk walk(target.tape);
    walk.run([&](bind::RunStep& at, auto& action) {
      sender.note(action, walk.slots());
      if (!sender.is_empty(action, target.buffers)) sender.send(at, action);
    });
  });
}

}  // namespace baton::play
