#include "sim/engine/debug/gdb_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace baton::sim {
namespace {

constexpr std::size_t kLongestPacket = 0x4000;  // as the answer to qSupported says

}  // namespace

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t k = 0; k + 1 < digits.size(); k += 2) {
    unsigned byte = 0;
    const auto [end, code] = std::from_chars(digits.data() + k, digits.data() + k + 2, byte, 16);
    if (code != std::errc{} || end != digits.data() + k + 2) break;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

void GdbConnection::listen(std::uint16_t port) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool listens =
      listener_ >= 0 && setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
      bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::listen(listener_, 1) == 0;
  if (listens) return;
  const int reason = errno;
  if (listener_ >= 0) ::close(std::exchange(listener_, -1));
  throw error(ErrorCode::kInvalidInput, "GDB cannot connect to port {}: {}; choose another port",
              port, std::strerror(reason));
}

GdbConnection::~GdbConnection() {
  close();
  if (listener_ >= 0) ::close(listener_);
}

void GdbConnection::close() {
  if (peer_ >= 0) ::close(std::exchange(peer_, -1));
}

bool GdbConnection::accept() {
  do {
    peer_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  } while (peer_ < 0 && errno == EINTR);
  return peer_ >= 0;
}

std::optional<char> GdbConnection::next() {
  char c = 0;
  ssize_t count = 0;
  do {
    count = recv(peer_, &c, 1, 0);
  } while (count < 0 && errno == EINTR);
  if (count == 1) return c;
  close();
  return std::nullopt;
}

std::optional<std::string> GdbConnection::receive() {
  while (is_open()) {
    auto c = next();
    if (c == '\x03') return "\x03";
    if (c != '$') continue;
    std::string content;
    unsigned char sum = 0;
    while ((c = next()) && *c != '#') {
      if (content.size() == kLongestPacket) {
        close();
        return std::nullopt;
      }
      content += *c;
      sum = static_cast<unsigned char>(sum + static_cast<unsigned char>(*c));
    }
    const auto high = next();
    const auto low = next();
    if (!high || !low) break;
    const bool fits = from_hex(std::string{*high, *low}) == std::string(1, static_cast<char>(sum));
    if (acknowledges_) ::send(peer_, fits ? "+" : "-", 1, MSG_NOSIGNAL);
    if (fits) return content;
  }
  return std::nullopt;
}

void GdbConnection::send(std::string_view content) {
  unsigned char sum = 0;
  for (const char c : content) {
    sum = static_cast<unsigned char>(sum + static_cast<unsigned char>(c));
  }
  const std::string packet =
      "$" + std::string(content) + "#" + to_hex(std::string(1, static_cast<char>(sum)));
  for (std::size_t done = 0; is_open() && done < packet.size();) {
    const ssize_t count = ::send(peer_, packet.data() + done, packet.size() - done, MSG_NOSIGNAL);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      close();
    }
  }
}

bool GdbConnection::is_interrupted() {
  char c = 0;
  if (!is_open()) return false;
  const ssize_t count = recv(peer_, &c, 1, MSG_DONTWAIT);
  if (count == 0) close();
  return count == 1 && c == '\x03';
}

}  // namespace baton::sim
