#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "baton/error.h"
#include "world/frame.h"

namespace {

using namespace baton::world;

void require(bool holds) {
  if (!holds) std::abort();
}

// What is read must be written as bytes that read alike.
void check(const PeerFrame& frame) {
  switch (frame.kind) {
    case FrameKind::kMessage: {
      const Message message = read_message(frame.payload);
      require(message_frame(message.stage, message.content) ==
              frame_of(FrameKind::kMessage, frame.payload));
      break;
    }
    case FrameKind::kBeat:
      require(beat_frame(read_beat(frame.payload)) == frame_of(FrameKind::kBeat, frame.payload));
      break;
    case FrameKind::kFailure:
      read_failure(frame.payload);
      break;
    case FrameKind::kEnd:
    case FrameKind::kEndSeen:
      break;
  }
}

void read(std::string_view bytes, std::size_t part) {
  FrameReader reader;
  for (std::size_t at = 0; at < bytes.size(); at += part) {
    reader.add(bytes.substr(at, part));
    while (auto frame = reader.next()) check(*frame);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::size_t part : {std::size_t{1}, std::size_t{13}, size + 1}) {
    try {
      read(bytes, part);
    } catch (const baton::Error& refused) {
      require(refused.code() == baton::ErrorCode::kInvalidInput);
    }
  }
  return 0;
}
