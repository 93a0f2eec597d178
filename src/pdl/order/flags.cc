#include "pdl/order/flags.h"

#include <algorithm>

#include "pdl/order/meetings.h"
#include "pdl/order/shared_place.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

constexpr std::uint32_t kMaxStorers = 8;  // whose stores are followed, one of each warp
constexpr std::size_t kMaxPolls = 16;     // with more flags, none is followed

std::uint64_t low_bits(std::uint64_t bits, unsigned width) {
  return loaded_bits(bits, width, false);
}

}  // namespace

bool has_flags(const Code& code) {
  return std::ranges::any_of(code.operations, may_poll);
}

Flags::Flags(const Code& code, const KnownThread& thread, const std::deque<Follower>& everything)
    : code_(code), thread_(thread), everything_(everything) {
  if (!has_flags(code) || is_disturbed(code, Meeting::kBlock)) return;
  collect();
}

void Flags::collect() {
  std::vector<std::uint32_t> passed;
  for (const Passed& each : count_meetings(code_, Meeting::kBlock)) passed.push_back(each.least);
  unfenced_ = find_unfenced(code_);
  for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
    const auto what = shared_write(code_.operations[at]);
    if (!what || !is_reached(at)) continue;
    Write write{at, *what, Value::varies(), Value::varies()};
    if (what->kind != SharedWrite::Kind::kUnknown) {
      write.place = joined_over_all(at, [&](const Follower& follower) {
        return shared_place_of(code_.operations[at], follower);
      });
    }
    if (code_.operations[at].sources.size() == 1) {
      write.value = joined_over_all(at, [&](const Follower& follower) {
        return follower.of(code_.operations[at].sources[0]);
      });
    }
    writes_.push_back(std::move(write));
  }
  for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
    if (!may_poll(code_.operations[at]) || !is_reached(at)) continue;
    if (const auto poll = poll_at(at, passed)) polls_.push_back(*poll);
    if (polls_.size() > kMaxPolls) return polls_.clear();
  }
}

// The flag at one known place, with a store of its initial value that comes before the poll.
std::optional<Flags::Poll> Flags::poll_at(std::uint32_t at,
                                          std::span<const std::uint32_t> passed) const {
  const Operation& operation = code_.operations[at];
  Poll poll;
  poll.at = at;
  poll.width = operation.width;
  poll.place = joined_over_all(
      at, [&](const Follower& follower) { return shared_place_of(operation, follower); });
  const bool is_known =
      poll.place.is_shared() && poll.place.bits == poll.place.most && !poll.place.is_remote;
  if (!is_known || (!acquires(operation) && !is_fenced_behind(code_, at))) return std::nullopt;
  for (const Write& write : writes_) {
    poll.initial = low_bits(write.value.bits, poll.width);
    poll.begin = write.at;
    if (!gives_initial_value(write, poll) || !begins(write, passed[at])) continue;
    return orders_all_writes(poll) ? std::optional(poll) : std::nullopt;
  }
  return std::nullopt;
}

// Whether a thread certainly makes the store, and then meets the others before they poll.
bool Flags::begins(const Write& store, std::uint32_t passed) const {
  const Operation* const operation = &code_.operations[store.at];
  constexpr Meeting kMeetings[] = {Meeting::kBlock};
  for (std::uint32_t warp = 0; warp < kMaxStorers; ++warp) {
    KnownThread thread = thread_;
    const std::uint32_t number = warp * kWarpThreads;
    if (thread.block) {
      const auto [x, y, z] = *thread.block;
      if (std::uint64_t{x} * std::max(y, 1u) * std::max(z, 1u) <= number) break;
      const std::uint32_t row = number / x;
      thread.tid = {number % x, row % std::max(y, 1u), row / std::max(y, 1u)};
    } else if (warp != 0) {
      break;  // each block has a thread 0
    } else {
      thread.tid = {0, 0, 0};
    }
    const ThreadFacts facts =
        follow_thread(code_, thread, kMeetings,
                      [operation](const Operation& other) { return &other == operation; });
    const MeetingFacts& meeting = facts.meetings[0];
    if (meeting.meets_others && passed > meeting.arrivals_before) return true;
  }
  return false;
}

// Whether the write leaves the flag unchanged. A weak store may race with polls, unless it is
// before all of them.
bool Flags::gives_initial_value(const Write& write, const Poll& poll) const {
  const bool is_same = write.what.kind == SharedWrite::Kind::kStore && write.place.is_shared() &&
                       !write.place.is_remote && write.place.root == poll.place.root &&
                       write.place.bits == poll.place.bits && write.place.most == poll.place.most &&
                       code_.operations[write.at].width == poll.width;
  return is_same && write.value.is_constant() &&
         low_bits(write.value.bits, poll.width) == poll.initial &&
         (write.what.is_strong || write.at == poll.begin);
}

bool Flags::may_touch(const SharedWrite& what, const Value& place, const Poll& poll) const {
  return may_overlap(code_, place, poll.place, std::max<std::uint64_t>(what.bytes, poll.width / 8));
}

// A write that changes the flag releases: threads that read it come after the earlier accesses of
// its writer.
bool Flags::orders_all_writes(const Poll& poll) const {
  return std::ranges::all_of(writes_, [&](const Write& write) {
    if (gives_initial_value(write, poll) || !may_touch(write.what, write.place, poll)) return true;
    const bool is_own = write.place.is_shared() && !write.place.is_remote;
    return is_own && write.what.is_strong && (write.what.releases || !unfenced_[write.at]);
  });
}

std::optional<std::uint64_t> Flags::value_at(std::uint32_t at) const {
  const auto poll = std::ranges::find(polls_, at, &Poll::at);
  if (poll == polls_.end()) return std::nullopt;
  const bool is_signed = code_.operations[at].instruction->modifiers.back().starts_with('s');
  return loaded_bits(poll->initial, poll->width, is_signed);
}

bool Flags::drop(const std::deque<Follower>& early,
                 const std::function<bool(const Follower&, std::uint32_t)>& may_execute) {
  const auto may_change = [&](const Poll& poll) {
    return std::ranges::any_of(writes_, [&](const Write& write) {
      if (gives_initial_value(write, poll)) return false;
      return std::ranges::any_of(early, [&](const Follower& follower) {
        if (!may_execute(follower, write.at)) return false;
        const bool is_unknown = write.what.kind == SharedWrite::Kind::kUnknown;
        const Value place =
            is_unknown ? Value::varies() : shared_place_of(code_.operations[write.at], follower);
        return may_touch(write.what, place, poll);
      });
    });
  };
  return std::erase_if(polls_, may_change) != 0;
}

bool Flags::is_reached(std::uint32_t at) const {
  return std::ranges::any_of(everything_,
                             [at](const Follower& follower) { return follower.may_execute(at); });
}

Value Flags::joined_over_all(std::uint32_t at,
                             const std::function<Value(const Follower&)>& get) const {
  Value value;
  for (const Follower& follower : everything_) {
    if (follower.may_execute(at)) value = joined(value, get(follower));
  }
  return value;
}

}  // namespace baton::overlap
