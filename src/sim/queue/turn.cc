#include "sim/queue/turn.h"

#include <condition_variable>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>

#include "sim/engine/judge/peer_order.h"

namespace baton::sim {
namespace {

struct PeerTurns {
  static PeerTurns& instance() {
    static auto& instance = *new PeerTurns;
    return instance;
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::set<int> joined;
  bool is_taken = false;
  int next = -1;  // whose turn it is; whoever asks first where that one has not joined
};

}  // namespace

void join_turns(int ordinal) {
  if (!PeerOrder::instance().is_active()) return;
  PeerTurns& turns = PeerTurns::instance();
  std::lock_guard lock(turns.mutex);
  turns.joined.insert(ordinal);
}

void leave_turns(int ordinal) {
  PeerTurns& turns = PeerTurns::instance();
  std::lock_guard lock(turns.mutex);
  if (turns.joined.erase(ordinal) != 0) turns.changed.notify_all();
}

PeerTurn::PeerTurn(int ordinal, Choose choose)
    : ordinal_(ordinal), choose_(std::move(choose)), is_held_(PeerOrder::instance().is_active()) {
  if (!is_held_) return;
  PeerTurns& turns = PeerTurns::instance();
  std::unique_lock lock(turns.mutex);
  turns.joined.insert(ordinal_);
  turns.changed.wait(lock, [&] {
    return !turns.is_taken && (turns.next == ordinal_ || !turns.joined.contains(turns.next));
  });
  turns.is_taken = true;
}

PeerTurn::~PeerTurn() {
  if (!is_held_) return;
  PeerTurns& turns = PeerTurns::instance();
  {
    std::lock_guard lock(turns.mutex);
    turns.is_taken = false;
    const auto own = turns.joined.find(ordinal_);
    const auto place = static_cast<std::size_t>(std::distance(turns.joined.begin(), own));
    const std::size_t chosen = choose_(turns.joined.size(), place);
    turns.next = *std::next(turns.joined.begin(), static_cast<std::ptrdiff_t>(chosen));
  }
  turns.changed.notify_all();
}

}  // namespace baton::sim
