#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/error.h"

namespace baton::world {

// The frames that two ranks exchange over a connection, and their bytes.

// The position of a rank in a run. Ranks that exchange messages have equal keys: the kind of the
// step, its elements and its place among the steps.
struct Stage {
  std::string key;
  std::string text;  // "all_reduce y (sum of 1024 f32), at mlp.toml:40:1"
};

// Why a run ended, and on which rank.
struct RankFailure {
  std::uint32_t rank = 0;             // that failed, or found the error
  std::optional<std::uint32_t> lost;  // the rank that ended or sends nothing
  Error error;
};

// A heartbeat: the rank runs, and perhaps waits for another one.
struct Beat {
  std::optional<std::uint32_t> waits_for;
  std::string step;                 // where it waits
  std::uint64_t received = 0;       // messages that it took from that rank
  std::vector<std::uint64_t> sent;  // messages that it sent, by rank
};

enum class FrameKind : std::uint8_t {
  kMessage,
  kBeat,
  kFailure,
  kEnd,      // the last frame of a rank, but for kEndSeen
  kEndSeen,  // the answer to kEnd
};

struct PeerFrame {
  FrameKind kind = FrameKind::kEnd;
  std::string payload;
};

// The bytes of a frame.
std::string frame_of(FrameKind kind, std::string_view payload);
std::string message_frame(const Stage& stage, std::string_view content);
std::string beat_frame(const Beat& beat);
std::string failure_frame(const RankFailure& failure);

struct Message {
  Stage stage;
  std::string content;
};

// Read a frame's payload. Throw kInvalidInput for bytes that are not a payload.
Message read_message(std::string_view payload);
Beat read_beat(std::string_view payload);
RankFailure read_failure(std::string_view payload);

// Splits the bytes of a connection into frames.
class FrameReader {
 public:
  // Throws kInvalidInput for bytes that do not begin a frame.
  void add(std::string_view bytes);
  // The next complete frame.
  std::optional<PeerFrame> next();

 private:
  void read_header();

  std::string bytes_;  // from the current frame on
  std::size_t at_ = 0;
  std::optional<std::uint64_t> size_;  // of the payload, once the header is read
  FrameKind kind_ = FrameKind::kEnd;
};

}  // namespace baton::world
