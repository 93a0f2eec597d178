#include "world/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/text/text.h"

namespace baton::world {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenAttempts = 20ms;
constexpr std::size_t kMostReceived = 1 << 16;

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses resolve(const SocketAddress& address, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const std::string port = std::to_string(address.port);
  const int failed = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &list);
  if (failed != 0) {
    throw error(
        ErrorCode::kInvalidInput,
        "the host \"{}\" of rank 0 cannot be resolved: {}; set MASTER_ADDR to its name or address",
        printable(address.host), gai_strerror(failed));
  }
  return Addresses(list);
}

int milliseconds_until(Deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000));
}

// Whether the socket is ready for `events` before the deadline.
bool await(const FileDescriptor& socket, short events, Deadline deadline) {
  while (true) {
    pollfd one{socket.number(), events, 0};
    const int left = milliseconds_until(deadline);
    if (uninterrupted([&] { return ::poll(&one, 1, left); }) > 0) return true;
    if (left == 0) return false;
  }
}

FileDescriptor new_socket(const addrinfo& address) {
  return FileDescriptor(::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, 0));
}

void set(const FileDescriptor& socket, int level, int option) {
  const int on = 1;
  ::setsockopt(socket.number(), level, option, &on, sizeof(on));
}

using NameOf = int (*)(int, sockaddr*, socklen_t*);

SocketAddress address_of(const FileDescriptor& socket, NameOf name_of) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (name_of(socket.number(), reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  char host[INET6_ADDRSTRLEN] = {};
  std::uint16_t port = 0;
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
    port = ntohs(v4->sin_port);
  } else if (storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
    port = ntohs(v6->sin6_port);
  }
  return {host, port};
}

}  // namespace

std::string SocketAddress::text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

FileDescriptor listen_at(const SocketAddress& address) {
  const Addresses found = resolve(address, AI_PASSIVE);
  FileDescriptor socket = new_socket(*found);
  set(socket, SOL_SOCKET, SO_REUSEADDR);
  if (socket.number() < 0 || ::bind(socket.number(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(socket.number(), SOMAXCONN) != 0) {
    const int reason = errno;
    throw error(ErrorCode::kInvalidInput,
                "rank 0 cannot listen at {}: {}; set MASTER_ADDR and MASTER_PORT to an address of "
                "its machine and a free port",
                address.text(), std::strerror(reason));
  }
  return socket;
}

FileDescriptor accept_from(const FileDescriptor& listener, Deadline deadline) {
  while (await(listener, POLLIN, deadline)) {
    FileDescriptor socket(uninterrupted(
        [&] { return ::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC); }));
    if (socket.number() < 0) continue;  // the other end has closed the connection
    set(socket, IPPROTO_TCP, TCP_NODELAY);
    return socket;
  }
  return FileDescriptor();
}

FileDescriptor connect_to(const SocketAddress& address, Deadline deadline) {
  const Addresses found = resolve(address, 0);
  do {
    for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
      FileDescriptor socket = new_socket(*each);
      if (uninterrupted(
              [&] { return ::connect(socket.number(), each->ai_addr, each->ai_addrlen); }) == 0) {
        set(socket, IPPROTO_TCP, TCP_NODELAY);
        return socket;
      }
    }
    std::this_thread::sleep_for(kBetweenAttempts);
  } while (std::chrono::steady_clock::now() < deadline);
  return FileDescriptor();
}

std::pair<FileDescriptor, FileDescriptor> connected_pair() {
  int ends[2] = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw error(ErrorCode::kInternal, "no pair of sockets: {}", std::strerror(errno));
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

SocketAddress local_address(const FileDescriptor& socket) {
  return address_of(socket, ::getsockname);
}

SocketAddress peer_address(const FileDescriptor& socket) {
  return address_of(socket, ::getpeername);
}

void set_nonblocking(const FileDescriptor& socket) {
  ::fcntl(socket.number(), F_SETFL, ::fcntl(socket.number(), F_GETFL) | O_NONBLOCK);
}

bool send_bytes(const FileDescriptor& socket, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (!await(socket, POLLOUT, deadline)) return false;
    const auto sent = uninterrupted([&] {
      return ::send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    });
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_bytes(const FileDescriptor& socket, std::size_t size, std::string& bytes,
                   Deadline deadline) {
  bytes.clear();
  char part[kMostReceived];
  while (bytes.size() < size) {
    if (!await(socket, POLLIN, deadline)) return false;
    const auto got = uninterrupted([&] {
      return ::recv(socket.number(), part, std::min(sizeof(part), size - bytes.size()),
                    MSG_DONTWAIT);
    });
    if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
    if (got > 0) bytes.append(part, static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace baton::world
