#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file/file_descriptor.h"
#include "world/frame.h"

namespace baton::world {

// When a rank counts as lost.
struct Patience {
  std::chrono::milliseconds beat{500};       // between two heartbeats
  std::chrono::milliseconds silence{10000};  // the longest time without a frame
};

// One rank's connections in a world: messages between ranks, and the one failure that ends the run
// of all of them. A thread of its own sends, receives and checks the other ranks, so no call of
// `send` waits for another rank. Thread-safe.
class Communicator {
 public:
  // `links`: connections by rank; the entry of this rank has none.
  Communicator(std::uint32_t rank, std::vector<FileDescriptor> links, Patience patience);
  // Delivers the messages that were sent, then sends kEnd and waits until every rank has received
  // it. Stops after some seconds if a rank receives nothing.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(peers_.size()); }

  // Sends the message of a stage, also to this rank itself. Returns before it is received.
  void send(std::uint32_t to, const Stage& stage, std::string_view content);
  // Waits for the next message of the rank. Throws what ended the run; a message of another stage
  // ends it.
  std::string receive(std::uint32_t from, const Stage& stage);

  // End the run of all ranks, unless it has ended already, and return the error that ended it.
  // `fail` adds the rank to the error; `end_run` takes an error that names it.
  RankFailure fail(const Error& error);
  RankFailure end_run(const Error& error);
  // Waits until all that was sent is on its way, or some seconds have passed: the process of a rank
  // that failed may end next, and the others must learn why.
  void flush();
  // Calls the function when the run has ended with a failure, or now where it has, on any thread.
  // It calls nothing of this, and does not throw.
  void when_failed(std::function<void()> act);
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  std::optional<RankFailure> failure() const;
  // Throws the error that ended the run.
  void check() const {
    if (failed()) [[unlikely]]
      throw_failure();
  }
  // Whether this rank prints the error of all ranks: the first rank that is not lost.
  bool speaks() const;
  // Waits until the rank that prints the error has ended, or the time has passed: a launcher ends
  // all ranks when the first one fails.
  void outlive_speaker(std::chrono::milliseconds most);

 private:
  using Clock = std::chrono::steady_clock;

  struct Peer {
    FileDescriptor link;
    FrameReader reader;
    std::deque<std::string> outgoing;  // frames
    std::size_t written = 0;           // bytes of the first of them
    std::deque<Message> incoming;
    std::uint64_t sent = 0, received = 0;  // messages
    Clock::time_point heard;
    Beat beat;               // the last one
    bool has_ended = false;  // it sent kEnd, or its connection ended
    bool knows_end = false;  // it received this rank's kEnd, or will receive nothing
  };

  void run();
  void wake();
  void queue(Peer& peer, std::string frame);
  void queue_beats();
  bool write(Peer& peer);
  void read(std::uint32_t from);
  void take(std::uint32_t from, PeerFrame frame);
  void watch(Clock::time_point now);
  void find_deadlock();
  std::optional<std::vector<std::uint32_t>> waiting_cycle() const;
  Beat beat_of(std::uint32_t rank) const;
  bool is_delivered() const;
  bool is_sent() const;
  void end(RankFailure failure, bool tell);
  void lose(std::uint32_t rank, std::string_view how);
  [[noreturn]] void throw_failure() const;
  std::uint32_t speaker() const;

  const std::uint32_t rank_;
  const Patience patience_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Peer> peers_;
  Beat own_;  // without its counts
  std::optional<RankFailure> failure_;
  std::vector<std::function<void()>> when_failed_;
  std::atomic<bool> failed_{false};
  bool closing_ = false;
  FileDescriptor wake_;
  std::thread thread_;
};

}  // namespace baton::world
