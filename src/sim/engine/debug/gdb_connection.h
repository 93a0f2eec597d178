#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton::sim {

// A connection of GDB, by its remote serial protocol over TCP, to a port of this machine alone. One
// thread at a time.
class GdbConnection {
 public:
  GdbConnection() = default;
  ~GdbConnection();
  GdbConnection(const GdbConnection&) = delete;
  GdbConnection& operator=(const GdbConnection&) = delete;

  // Throws Error(kInvalidInput) where the port cannot be listened at.
  void listen(std::uint16_t port);
  // Waits until GDB connects. False where that fails.
  bool accept();
  bool is_open() const { return peer_ >= 0; }
  void close();

  // The next packet's content, or "\x03" for an interrupt; nothing once GDB is gone.
  std::optional<std::string> receive();
  void send(std::string_view content);
  // Acknowledgements stop after this packet.
  void stop_acknowledging() { acknowledges_ = false; }
  // Whether GDB asked to interrupt the program since it runs. Does not wait.
  bool is_interrupted();

 private:
  std::optional<char> next();

  int listener_ = -1;
  int peer_ = -1;
  bool acknowledges_ = true;
};

// Bytes as hexadecimal digits, and back; an odd or wrong digit ends the bytes.
std::string to_hex(std::string_view bytes);
std::string from_hex(std::string_view digits);

}  // namespace baton::sim
