#include "world/frame.h"

#include <utility>

#include "base/file/byte_reader.h"
#include "base/file/byte_writer.h"

namespace baton::world {
namespace {

constexpr std::uint32_t kFrameMagic = 0x4e544142;  // "BATN"
constexpr std::size_t kHeaderBytes = 16;
constexpr std::uint32_t kNoRank = UINT32_MAX;
// Larger than any device's memory: more bytes than that cannot be a frame.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostSent = 1 << 16;

const std::string kFrameName = "a message of another rank";

std::optional<std::uint32_t> rank_of(std::uint32_t number) {
  return number == kNoRank ? std::nullopt : std::optional(number);
}

ErrorCode read_code(ByteReader& reader) {
  const auto number = reader.number<std::uint32_t>("the code");
  if (number > static_cast<std::uint32_t>(ErrorCode::kInternal)) {
    throw error(ErrorCode::kInvalidInput, "{} has the unknown error code {}", kFrameName, number);
  }
  return static_cast<ErrorCode>(number);
}

}  // namespace

std::string frame_of(FrameKind kind, std::string_view payload) {
  ByteWriter writer;
  writer.number(kFrameMagic);
  writer.number(static_cast<std::uint32_t>(kind));
  writer.counted_bytes(payload);
  return writer.take();
}

std::string message_frame(const Stage& stage, std::string_view content) {
  ByteWriter writer;
  writer.counted_bytes(stage.key);
  writer.counted_bytes(stage.text);
  writer.counted_bytes(content);
  return frame_of(FrameKind::kMessage, writer.view());
}

Message read_message(std::string_view payload) {
  ByteReader reader(payload, kFrameName);
  Message message;
  message.stage.key = reader.counted_bytes("the key");
  message.stage.text = reader.counted_bytes("the step");
  message.content = reader.counted_bytes("the content");
  reader.expect_end("the content");
  return message;
}

std::string beat_frame(const Beat& beat) {
  ByteWriter writer;
  writer.number(beat.waits_for.value_or(kNoRank));
  writer.counted_bytes(beat.step);
  writer.number(beat.received);
  writer.count(beat.sent.size());
  for (const std::uint64_t sent : beat.sent) writer.number(sent);
  return frame_of(FrameKind::kBeat, writer.view());
}

Beat read_beat(std::string_view payload) {
  ByteReader reader(payload, kFrameName);
  Beat beat;
  beat.waits_for = rank_of(reader.number<std::uint32_t>("the rank"));
  beat.step = reader.counted_bytes("the step");
  beat.received = reader.number<std::uint64_t>("the count");
  for (auto left = reader.count(sizeof(std::uint64_t), "the counts"); left > 0; --left) {
    beat.sent.push_back(reader.number<std::uint64_t>("a count"));
    if (beat.sent.size() > kMostSent) {
      throw error(ErrorCode::kInvalidInput, "{} counts for more than {} ranks", kFrameName,
                  kMostSent);
    }
  }
  reader.expect_end("the counts");
  return beat;
}

std::string failure_frame(const RankFailure& failure) {
  ByteWriter writer;
  writer.number(failure.rank);
  writer.number(failure.lost.value_or(kNoRank));
  const Error& error = failure.error;
  writer.number(static_cast<std::uint32_t>(error.code()));
  writer.counted_bytes(error.message());
  writer.counted_bytes(error.where().file.text());
  writer.number(static_cast<std::uint32_t>(error.where().line));
  writer.number(static_cast<std::uint32_t>(error.where().column));
  writer.count(error.notes().size());
  for (const std::string& note : error.notes()) writer.counted_bytes(note);
  return frame_of(FrameKind::kFailure, writer.view());
}

RankFailure read_failure(std::string_view payload) {
  ByteReader reader(payload, kFrameName);
  const auto rank = reader.number<std::uint32_t>("the rank");
  const auto lost = rank_of(reader.number<std::uint32_t>("the lost rank"));
  const ErrorCode code = read_code(reader);
  std::string text(reader.counted_bytes("the text"));
  SourceLocation where;
  where.file = reader.counted_bytes("the file");
  where.line = static_cast<int>(reader.number<std::uint32_t>("the line"));
  where.column = static_cast<int>(reader.number<std::uint32_t>("the column"));
  Error error(code, std::move(text), std::move(where));
  for (std::string& note : reader.counted_strings("the notes")) error.note(std::move(note));
  reader.expect_end("the notes");
  return {rank, lost, std::move(error)};
}

void FrameReader::add(std::string_view bytes) {
  bytes_ += bytes;
  if (!size_) read_header();
}

void FrameReader::read_header() {
  if (bytes_.size() - at_ < kHeaderBytes) return;
  ByteReader reader(std::string_view(bytes_).substr(at_, kHeaderBytes), kFrameName);
  const auto magic = reader.number<std::uint32_t>("the mark");
  const auto kind = reader.number<std::uint32_t>("the kind");
  const auto size = reader.number<std::uint64_t>("the size");
  if (magic != kFrameMagic || kind > static_cast<std::uint32_t>(FrameKind::kEndSeen) ||
      size > kMostBytes) {
    throw error(ErrorCode::kInvalidInput,
                "{} begins with the mark 0x{:08x}, the kind {} and {} bytes: it is not from Baton",
                kFrameName, magic, kind, size);
  }
  kind_ = static_cast<FrameKind>(kind);
  size_ = size;
}

std::optional<PeerFrame> FrameReader::next() {
  if (!size_ || bytes_.size() - at_ - kHeaderBytes < *size_) {
    // Removes the frames that were taken only when no complete frame is left, so that many small
    // frames are moved once.
    bytes_.erase(0, std::exchange(at_, 0));
    return std::nullopt;
  }
  PeerFrame frame{kind_, bytes_.substr(at_ + kHeaderBytes, *size_)};
  at_ += kHeaderBytes + *size_;
  size_.reset();
  read_header();
  return frame;
}

}  // namespace baton::world
