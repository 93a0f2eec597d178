#include "world/rendezvous.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/file/byte_reader.h"
#include "base/file/byte_writer.h"
#include "base/text/text.h"
#include "world/socket.h"

namespace baton::world {
namespace {

constexpr std::uint32_t kGreetingMagic = 0x52544142;  // "BATR"
constexpr std::uint32_t kMostGreetingBytes = 1 << 20;
// A connection that sends nothing must not delay the ranks.
constexpr std::chrono::seconds kGreetingPatience{2};
const std::string kGreetingName = "the greeting of another rank";

// The first bytes that a rank sends when it connects.
struct Greeting {
  std::string version;
  std::string job;
  std::uint32_t rank = 0, ranks = 0;
  std::uint16_t port = 0;  // where it listens for others
};

bool send_text(const FileDescriptor& socket, std::string_view text, Deadline deadline) {
  ByteWriter writer;
  writer.number(kGreetingMagic);
  writer.number(static_cast<std::uint32_t>(text.size()));
  writer.bytes(text);
  return send_bytes(socket, writer.view(), deadline);
}

// Nothing if the other end closes the connection, or is not a rank.
std::optional<std::string> receive_text(const FileDescriptor& socket, Deadline deadline) {
  std::string bytes;
  if (!receive_bytes(socket, 8, bytes, deadline)) return std::nullopt;
  ByteReader reader(bytes, kGreetingName);
  const auto magic = reader.number<std::uint32_t>("the mark");
  const auto size = reader.number<std::uint32_t>("the size");
  if (magic != kGreetingMagic || size > kMostGreetingBytes) return std::nullopt;
  if (!receive_bytes(socket, size, bytes, deadline)) return std::nullopt;
  return bytes;
}

bool send_greeting(const FileDescriptor& socket, const Greeting& greeting, Deadline deadline) {
  ByteWriter writer;
  writer.counted_bytes(greeting.version);
  writer.counted_bytes(greeting.job);
  writer.number(greeting.rank);
  writer.number(greeting.ranks);
  writer.number(greeting.port);
  return send_text(socket, writer.view(), deadline);
}

std::optional<Greeting> receive_greeting(const FileDescriptor& socket, Deadline deadline) {
  const auto text = receive_text(socket, deadline);
  if (!text) return std::nullopt;
  ByteReader reader(*text, kGreetingName);
  Greeting greeting;
  greeting.version = reader.counted_bytes("the version");
  greeting.job = reader.counted_bytes("the job");
  greeting.rank = reader.number<std::uint32_t>("the rank");
  greeting.ranks = reader.number<std::uint32_t>("the number of ranks");
  greeting.port = reader.number<std::uint16_t>("the port");
  return greeting;
}

class RankMeeting {
 public:
  RankMeeting(const LaunchedRank& self, std::chrono::milliseconds patience)
      : self_(self),
        patience_(patience),
        deadline_(std::chrono::steady_clock::now() + patience),
        greeting_{BATON_VERSION, self.job, self.rank, self.ranks, 0},
        links_(self.ranks) {}

  std::vector<FileDescriptor> hold() {
    self_.rank == 0 ? gather() : attend();
    return std::move(links_);
  }

 private:
  // Rank 0: waits for all ranks, and sends each the addresses at which the others listen.
  void gather() {
    const FileDescriptor listener = listen_at({self_.host, self_.port});
    std::vector<SocketAddress> addresses(self_.ranks);
    for (std::uint32_t missing = self_.ranks - 1; missing > 0; --missing) {
      const Greeting greeting = accept_one(listener, 1);
      addresses[greeting.rank] = {peer_address(links_[greeting.rank]).host, greeting.port};
    }
    ByteWriter writer;
    for (const SocketAddress& address : addresses) {
      writer.counted_bytes(address.host);
      writer.number(address.port);
    }
    for (std::uint32_t rank = 1; rank < self_.ranks; ++rank) {
      if (!send_text(links_[rank], writer.view(), deadline_)) refuse_missing({rank});
    }
  }

  void attend() {
    links_[0] = connect_to({self_.host, self_.port}, deadline_);
    if (links_[0].number() < 0) refuse_missing({0});
    // It listens before any rank knows its address, which is the one that rank 0 sees.
    const FileDescriptor listener = listen_at({local_address(links_[0]).host, 0});
    greeting_.port = local_address(listener).port;
    if (!send_greeting(links_[0], greeting_, deadline_)) refuse_missing({0});
    const auto text = receive_text(links_[0], deadline_);
    if (!text) refuse_gone();
    ByteReader reader(*text, kGreetingName);
    for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
      SocketAddress address;
      address.host = reader.counted_bytes("a host");
      address.port = reader.number<std::uint16_t>("a port");
      if (rank == 0 || rank >= self_.rank) continue;
      links_[rank] = connect_to(address, deadline_);
      if (links_[rank].number() < 0 || !send_greeting(links_[rank], greeting_, deadline_)) {
        refuse_missing({rank});
      }
    }
    for (std::uint32_t rank = self_.rank + 1; rank < self_.ranks; ++rank) {
      accept_one(listener, self_.rank + 1);
    }
  }

  // Ignores connections that are not from a rank of this run.
  Greeting accept_one(const FileDescriptor& listener, std::uint32_t least) {
    while (true) {
      FileDescriptor socket = accept_from(listener, deadline_);
      if (socket.number() < 0) refuse_missing(missing_from(least));
      const Deadline soon = std::chrono::steady_clock::now() + kGreetingPatience;
      const auto greeting = receive_greeting(socket, std::min(soon, deadline_));
      if (!greeting || greeting->job != self_.job) continue;
      check(*greeting, least);
      links_[greeting->rank] = std::move(socket);
      return *greeting;
    }
  }

  void check(const Greeting& greeting, std::uint32_t least) const {
    if (greeting.version != greeting_.version) {
      throw error(ErrorCode::kInvalidInput,
                  "rank {} is Baton {}, rank {} is Baton {}; install one version for all ranks",
                  greeting.rank, printable(greeting.version), self_.rank, greeting_.version);
    }
    if (greeting.ranks != self_.ranks) {
      throw error(ErrorCode::kInvalidInput, "rank {} is one of {} ranks, rank {} is one of {}",
                  greeting.rank, greeting.ranks, self_.rank, self_.ranks);
    }
    if (greeting.rank < least || greeting.rank >= self_.ranks ||
        links_[greeting.rank].number() >= 0) {
      throw error(ErrorCode::kInvalidInput, "there are two processes with the rank {}",
                  greeting.rank);
    }
  }

  std::vector<std::uint32_t> missing_from(std::uint32_t least) const {
    std::vector<std::uint32_t> missing;
    for (std::uint32_t rank = least; rank < self_.ranks; ++rank) {
      if (links_[rank].number() < 0) missing.push_back(rank);
    }
    return missing;
  }

  [[noreturn]] void refuse_missing(const std::vector<std::uint32_t>& missing) const {
    throw error(ErrorCode::kNoDevice,
                "rank {} of {} waited {} for rank{} {} at {}; {} must start {} processes, and each "
                "must reach that address",
                self_.rank, self_.ranks,
                format_duration(static_cast<double>(patience_.count()) / 1e3),
                missing.size() == 1 ? "" : "s", fmt::join(missing, ", "),
                SocketAddress{self_.host, self_.port}.text(), self_.launcher, self_.ranks);
  }

  [[noreturn]] void refuse_gone() const {
    throw LeftByFirstRank(
        ErrorCode::kNoDevice,
        fmt::format(
            "rank {} of {} reached rank 0 at {}, which ended before all ranks were connected",
            self_.rank, self_.ranks, SocketAddress{self_.host, self_.port}.text()));
  }

  const LaunchedRank& self_;
  const std::chrono::milliseconds patience_;
  const Deadline deadline_;
  Greeting greeting_;
  std::vector<FileDescriptor> links_;
};

}  // namespace

std::vector<FileDescriptor> meet(const LaunchedRank& self, std::chrono::milliseconds patience) {
  return RankMeeting(self, patience).hold();
}

}  // namespace baton::world
