// Two devices that access each other's memory: flags between them that do not order what they stand
// for, and right ones.

#include "corpus.h"

namespace baton::findings {
namespace {

using B = Bench;

// The other device puts into y, and this one waits for the flag v to take it from there.
auto passes(const char* puts, const char* gets) {
  return [puts, gets](B& b) {
    const B::Peer& peer = b.peer();
    b.launch(gets, b.z, b.y, b.v, 2);
    b.launch_on_peer(puts, b.y, peer.x, b.v);
  };
}

// All that the other device has so far comes before all that this one gets from now on.
void join(B& b) {
  Event event(b.peer().device);
  event.record(b.peer().stream);
  b.stream.wait(event);
}

// All-reduces, one after the other; all of them have the epoch 1, or each its own.
auto exchanges(int times, int mask, bool has_epochs) {
  return [=](B& b) {
    const B::Peer& peer = b.peer();
    const B::Floats& slots = b.slots();
    for (int k = 1; k <= times; ++k) {
      const int epoch = has_epochs ? k : 1;
      b.launch("exchanges", b.y, slots, peer.slots, b.v, peer.flags, epoch, mask);
      b.launch_on_peer("exchanges", peer.x, peer.slots, slots, peer.flags, b.v, epoch, mask);
    }
  };
}

}  // namespace

std::vector<Program> peer_programs() {
  return {
      {"puts_untold", {"peer_read"}, passes("puts_untold", "gets")},
      {"gets_unlearned", {"peer_read"}, passes("puts", "gets_unlearned")},
      {"untold_and_unlearned", {"peer_read"}, passes("puts_untold", "gets_unlearned")},
      {"puts_without_barrier",
       {"peer_read"},
       passes("puts_without_barrier", "gets"),
       "peer_overwrite"},
      {"gets_without_barrier",
       {"peer_overwrite"},
       passes("puts", "gets_without_barrier"),
       "peer_read"},
      {"puts_for_device", {"peer_scope"}, passes("puts_for_device", "gets")},
      {"gets_for_device", {"peer_scope"}, passes("puts", "gets_for_device")},
      {"puts_behind_device_fence", {"peer_scope"}, passes("puts_behind_device_fence", "gets")},
      {"gets_behind_device_fence", {"peer_scope"}, passes("puts", "gets_behind_device_fence")},
      {"both_write",
       {"peer_overwrite"},
       [](B& b) {
         const B::Peer& peer = b.peer();
         b.launch("produce", b.y, b.x);
         b.launch_on_peer("produce", b.y, peer.x);
       }},
      {"puts_again",
       {"peer_overwrite"},
       [](B& b) {
         passes("puts", "gets")(b);
         b.launch_on_peer("produce", b.y, b.peer().x);
       },
       "peer_read"},
      {"one_slot", {"peer_overwrite"}, exchanges(3, 0, true), "peer_read"},
      {"one_epoch", {"peer_overwrite"}, exchanges(3, 1, false), "peer_read"},
      {"copies_from_peer",
       {"host_race"},
       [](B& b) {
         b.launch_on_peer("produce", b.peer().y, b.peer().x);
         copy(b.y, b.peer().y, b.stream);
       }},
  };
}

std::vector<Program> right_peer_programs() {
  return {
      {"passes", {}, passes("puts", "gets")},
      {"passes_by_fences", {}, passes("puts_behind_fence", "gets_behind_fence")},
      {"passes_by_fence_and_acquire", {}, passes("puts_behind_fence", "gets")},
      {"uses_what_it_got",
       {},
       [](B& b) {
         passes("puts", "gets")(b);
         b.launch("consume", b.w, b.y);
         b.launch("produce", b.y, b.x);
       }},
      {"one_lane_is_told", {}, passes("puts", "gets_by_one_lane")},
      {"exchanges", {}, exchanges(4, 1, true)},
      {"event_between_devices",
       {},
       [](B& b) {
         b.launch_on_peer("produce", b.peer().y, b.peer().x);
         join(b);
         b.launch("consume", b.z, b.peer().y);
       }},
      {"copies_from_peer_behind_event",
       {},
       [](B& b) {
         b.launch_on_peer("produce", b.peer().y, b.peer().x);
         join(b);
         copy(b.y, b.peer().y, b.stream);
       }},
  };
}

}  // namespace baton::findings
