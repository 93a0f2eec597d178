#include "world/communicator.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/text/text.h"
#include "world/socket.h"

namespace baton::world {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kReadBytes = 1 << 18;
constexpr auto kFarewell = 2s;  // for the delivery of what was sent

std::string stage_text(const Stage& stage) {
  return stage.text.empty() ? std::string("its steps") : stage.text;
}

}  // namespace

Communicator::Communicator(std::uint32_t rank, std::vector<FileDescriptor> links, Patience patience)
    : rank_(rank),
      patience_(patience),
      peers_(links.size()),
      wake_(links.size() > 1 ? ::eventfd(0, EFD_CLOEXEC) : -1) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    peers_[i].link = std::move(links[i]);
    peers_[i].heard = Clock::now();
    if (i != rank_) set_nonblocking(peers_[i].link);
  }
  if (peers_.size() > 1) thread_ = std::thread([this] { run(); });
}

Communicator::~Communicator() {
  if (!thread_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
      // Also to ranks that have ended: they wait for nothing, and this one for their answer. A rank
      // that was taken for dead and goes on must see the connection end without it.
      if (rank == rank_ || peers_[rank].knows_end) continue;
      peers_[rank].outgoing.push_back(frame_of(FrameKind::kEnd, {}));
    }
    wake();
    changed_.wait_for(lock, kFarewell, [this] { return is_delivered(); });
    closing_ = true;
  }
  wake();
  thread_.join();
}

// A connection that is closed with unread bytes may drop what it sent, so each rank answers kEnd.
bool Communicator::is_delivered() const {
  return std::ranges::all_of(
      peers_, [](const Peer& peer) { return peer.link.number() < 0 || peer.knows_end; });
}

void Communicator::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.number(), &one, sizeof(one));
}

void Communicator::queue(Peer& peer, std::string frame) {
  if (peer.link.number() < 0 || peer.has_ended) return;
  peer.outgoing.push_back(std::move(frame));
}

void Communicator::send(std::uint32_t to, const Stage& stage, std::string_view content) {
  std::lock_guard lock(mutex_);
  ++peers_[to].sent;
  if (to == rank_) {
    peers_[to].incoming.push_back({stage, std::string(content)});
    return;
  }
  queue(peers_[to], message_frame(stage, content));
  wake();
}

std::string Communicator::receive(std::uint32_t from, const Stage& stage) {
  std::unique_lock lock(mutex_);
  Peer& peer = peers_[from];
  own_.waits_for = from;
  own_.step = stage.text;
  own_.received = peer.received;
  const auto is_there = [&] { return failure_ || !peer.incoming.empty() || peer.has_ended; };
  if (!is_there())
    log(LogLevel::kDebug, "rank {} waits for rank {} at {}", rank_, from, stage.text);
  while (!is_there()) {
    changed_.wait_for(lock, patience_.beat, is_there);
    if (!is_there()) find_deadlock();
  }
  own_.waits_for.reset();
  if (!failure_ && peer.incoming.empty()) {
    end({rank_, std::nullopt,
         error(ErrorCode::kInvalidInput,
               "the ranks disagree: rank {} has ended its run, and rank {} waits for it at {}",
               from, rank_, stage_text(stage))},
        true);
  }
  if (!failure_ && peer.incoming.front().stage.key != stage.key) {
    Stage other = peer.incoming.front().stage;
    const auto [low, high] = std::minmax(rank_, from);
    const std::string& first = low == rank_ ? stage.text : other.text;
    const std::string& second = low == rank_ ? other.text : stage.text;
    end({rank_, std::nullopt,
         error(ErrorCode::kInvalidInput,
               "the ranks disagree: rank {} is at {}, rank {} is at {}; all ranks must come to "
               "the same collectives in the same order",
               low, first, high, second)},
        true);
  }
  if (failure_) {
    lock.unlock();
    throw_failure();
  }
  std::string content = std::move(peer.incoming.front().content);
  peer.incoming.pop_front();
  ++peer.received;
  return content;
}

RankFailure Communicator::fail(const Error& error) {
  Error named(error.code(), fmt::format("rank {}: {}", rank_, error.message()), error.where());
  for (const std::string& note : error.notes()) named.note(note);
  named.of_driver(error.driver_result());
  return end_run(named);
}

RankFailure Communicator::end_run(const Error& error) {
  std::lock_guard lock(mutex_);
  end({rank_, std::nullopt, error}, true);
  wake();
  return *failure_;
}

bool Communicator::is_sent() const {
  return std::ranges::all_of(
      peers_, [](const Peer& peer) { return peer.link.number() < 0 || peer.outgoing.empty(); });
}

void Communicator::flush() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kFarewell, [this] { return is_sent(); });
}

// The first failure counts. The rank that saw it sends it to every other rank.
void Communicator::end(RankFailure failure, bool tell) {
  if (failure_) return;
  if (tell) {
    for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
      if (rank != rank_) queue(peers_[rank], failure_frame(failure));
    }
    wake();
  }
  failure_ = std::move(failure);
  failed_.store(true, std::memory_order_release);
  for (const auto& act : when_failed_) act();
  when_failed_.clear();
  changed_.notify_all();
}

void Communicator::when_failed(std::function<void()> act) {
  std::lock_guard lock(mutex_);
  if (failure_) {
    act();
  } else {
    when_failed_.push_back(std::move(act));
  }
}

// A rank that ends regularly sends kEnd first. One that was only silent may go on later: it gets
// the failure too, and then knows that the run has ended without it.
void Communicator::lose(std::uint32_t rank, std::string_view how) {
  const Beat& last = peers_[rank].beat;
  Error lost =
      error(ErrorCode::kNoDevice, "rank {} {}{}{}", rank, how,
            last.waits_for ? ", at " + last.step : std::string(),
            own_.waits_for ? fmt::format("; rank {} was at {}", rank_, own_.step) : std::string());
  end({rank_, rank, std::move(lost)}, true);
  peers_[rank].has_ended = true;
  peers_[rank].knows_end = true;
  changed_.notify_all();
}

std::optional<RankFailure> Communicator::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

void Communicator::throw_failure() const {
  std::lock_guard lock(mutex_);
  throw Error(failure_->error);
}

std::uint32_t Communicator::speaker() const {
  return failure_ && failure_->lost == 0U ? 1 : 0;
}

bool Communicator::speaks() const {
  std::lock_guard lock(mutex_);
  return rank_ == speaker();
}

void Communicator::outlive_speaker(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most,
                    [this] { return rank_ == speaker() || peers_[speaker()].has_ended; });
}

void Communicator::run() {
  auto next_beat = Clock::now();
  auto last_turn = Clock::now();
  std::unique_lock lock(mutex_);
  while (!closing_) {
    const auto now = Clock::now();
    // If this process itself was stopped, it could not receive from the others.
    if (now - last_turn > patience_.silence / 2) {
      for (Peer& peer : peers_) peer.heard = now;
    }
    last_turn = now;
    if (now >= next_beat) {
      queue_beats();
      watch(now);
      next_beat = now + patience_.beat;
    }
    std::vector<pollfd> polled = {{wake_.number(), POLLIN, 0}};
    std::vector<std::uint32_t> ranks = {rank_};
    for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
      const Peer& peer = peers_[rank];
      if (rank == rank_ || peer.link.number() < 0) continue;
      const short events = peer.outgoing.empty() ? POLLIN : POLLIN | POLLOUT;
      polled.push_back({peer.link.number(), events, 0});
      ranks.push_back(rank);
    }
    lock.unlock();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_beat - Clock::now());
    ::poll(polled.data(), polled.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    lock.lock();
    if (polled[0].revents != 0) {
      std::uint64_t count = 0;
      (void)!::read(wake_.number(), &count, sizeof(count));
    }
    for (std::size_t i = 1; i < polled.size(); ++i) {
      Peer& peer = peers_[ranks[i]];
      // First reads the bytes that the other end sent before it ended.
      if ((polled[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read(ranks[i]);
      if (peer.link.number() >= 0 && !peer.outgoing.empty() && !write(peer)) {
        peer.outgoing.clear();
      }
    }
    if (failure_ && is_sent()) changed_.notify_all();
  }
}

void Communicator::queue_beats() {
  const Beat beat = beat_of(rank_);
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    // A rank that gets another frame needs no heartbeat.
    if (rank != rank_ && peers_[rank].outgoing.empty()) queue(peers_[rank], beat_frame(beat));
  }
}

Beat Communicator::beat_of(std::uint32_t rank) const {
  if (rank != rank_) return peers_[rank].beat;
  Beat beat = own_;
  for (const Peer& peer : peers_) beat.sent.push_back(peer.sent);
  return beat;
}

bool Communicator::write(Peer& peer) {
  while (!peer.outgoing.empty()) {
    const std::string_view rest = std::string_view(peer.outgoing.front()).substr(peer.written);
    const auto sent = uninterrupted(
        [&] { return ::send(peer.link.number(), rest.data(), rest.size(), MSG_NOSIGNAL); });
    if (sent < 0 && errno == EAGAIN) return true;
    if (sent < 0) {
      peer.written = 0;
      return false;
    }
    peer.written += static_cast<std::size_t>(sent);
    if (peer.written < peer.outgoing.front().size()) return true;
    peer.outgoing.pop_front();
    peer.written = 0;
  }
  return true;
}

void Communicator::read(std::uint32_t from) {
  Peer& peer = peers_[from];
  char bytes[kReadBytes];
  const auto got =
      uninterrupted([&] { return ::recv(peer.link.number(), bytes, sizeof(bytes), 0); });
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    if (!peer.has_ended) lose(from, "ended unexpectedly");
    peer.link = FileDescriptor();
    changed_.notify_all();
    return;
  }
  peer.heard = Clock::now();
  try {
    peer.reader.add({bytes, static_cast<std::size_t>(got)});
    while (auto frame = peer.reader.next()) take(from, std::move(*frame));
  } catch (const Error& failure) {
    end({rank_, std::nullopt, failure}, true);
    peer.link = FileDescriptor();
    changed_.notify_all();
  }
}

void Communicator::take(std::uint32_t from, PeerFrame frame) {
  Peer& peer = peers_[from];
  switch (frame.kind) {
    case FrameKind::kMessage:
      peer.incoming.push_back(read_message(frame.payload));
      break;
    case FrameKind::kBeat:
      peer.beat = read_beat(frame.payload);
      return;
    case FrameKind::kFailure:
      end(read_failure(frame.payload), false);
      break;
    case FrameKind::kEnd:
      peer.has_ended = true;
      peer.outgoing.push_back(frame_of(FrameKind::kEndSeen, {}));
      break;
    case FrameKind::kEndSeen:
      peer.knows_end = true;
      break;
  }
  changed_.notify_all();
}

void Communicator::watch(Clock::time_point now) {
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    const Peer& peer = peers_[rank];
    if (rank == rank_ || peer.has_ended || now - peer.heard <= patience_.silence) continue;
    lose(rank,
         fmt::format("has sent nothing for {}",
                     format_duration(std::chrono::duration<double>(now - peer.heard).count())));
  }
}

// The ranks of a cycle, each of which waits for the next one, with no message in transit between
// them: a deadlock. A rank that waits sends nothing, so this holds although the heartbeats of the
// ranks are from different times.
std::optional<std::vector<std::uint32_t>> Communicator::waiting_cycle() const {
  std::vector<std::uint32_t> cycle;
  std::uint32_t rank = rank_;
  do {
    const Beat beat = beat_of(rank);
    if (!beat.waits_for || *beat.waits_for >= peers_.size()) return std::nullopt;
    const Beat next = beat_of(*beat.waits_for);
    if (next.sent.size() != peers_.size() || next.sent[rank] != beat.received) return std::nullopt;
    cycle.push_back(rank);
    rank = *beat.waits_for;
  } while (rank != rank_ && cycle.size() <= peers_.size());
  if (rank != rank_) return std::nullopt;
  return cycle;
}

void Communicator::find_deadlock() {
  auto cycle = waiting_cycle();
  if (!cycle) return;
  // All ranks of the cycle report the same text.
  std::rotate(cycle->begin(), std::ranges::min_element(*cycle), cycle->end());
  std::string text;
  for (const std::uint32_t rank : *cycle) {
    const Beat beat = beat_of(rank);
    text += fmt::format("{}rank {} waits for rank {} at {}", text.empty() ? "" : ", ", rank,
                        *beat.waits_for, beat.step);
  }
  end({rank_, std::nullopt,
       error(ErrorCode::kInvalidInput, "the ranks wait for each other: {}", text)},
      true);
}

}  // namespace baton::world
