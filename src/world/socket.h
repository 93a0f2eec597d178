#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/file/file_descriptor.h"

namespace baton::world {

// Streams of bytes between ranks: TCP between processes, a pair of sockets between threads.

using Deadline = std::chrono::steady_clock::time_point;

// A host and a port, of either family.
struct SocketAddress {
  std::string host;
  std::uint16_t port = 0;

  std::string text() const;  // "127.0.0.1:20017", "[::1]:20017"
};

// Listens at an address of this machine; port 0: any that is free. Throws kInvalidInput where the
// port is taken or the address is not this machine's.
FileDescriptor listen_at(const SocketAddress& address);
// The next connection; none (a negative number) where the deadline passes.
FileDescriptor accept_from(const FileDescriptor& listener, Deadline deadline);
// Connects as soon as someone listens there; none where the deadline passes. Throws kInvalidInput
// for a host that is not known.
FileDescriptor connect_to(const SocketAddress& address, Deadline deadline);
// Two ends of one connection.
std::pair<FileDescriptor, FileDescriptor> connected_pair();

// The two ends of a TCP connection.
SocketAddress local_address(const FileDescriptor& socket);
SocketAddress peer_address(const FileDescriptor& socket);

void set_nonblocking(const FileDescriptor& socket);

// Of a socket that blocks: false where the deadline passes or the other end is gone.
bool send_bytes(const FileDescriptor& socket, std::string_view bytes, Deadline deadline);
bool receive_bytes(const FileDescriptor& socket, std::size_t size, std::string& bytes,
                   Deadline deadline);

}  // namespace baton::world
