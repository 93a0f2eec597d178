#pragma once

#include <optional>

#include "baton/buffer.h"
#include "baton/stream.h"
#include "bind/buffers.h"
#include "play/run_watch.h"

namespace baton::play {

// Tests the conditions of a program on the host. One thread at a time.
class HostTest {
 public:
  explicit HostTest(const Device& device) : device_(device) {}

  // Waits for the stream's work. Returns whether the first element of the buffer is not 0 then.
  // Throws the failure of that work, and what the watch throws.
  bool holds(const bind::BoundBuffer& buffer, const Stream& stream, const RunWatch& watch);

 private:
  // What the reads need; made by the first one.
  struct Reader {
    explicit Reader(const Device& device) : value(device, kMostBytes), end(device, false) {}

    static constexpr std::size_t kMostBytes = 8;
    PinnedMemory value;
    Event end;
  };

  Device device_;
  std::optional<Reader> reader_;
};

}  // namespace baton::play
