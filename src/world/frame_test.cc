#include "world/frame.h"

#include <gtest/gtest.h>

namespace baton::world::frame_test {
namespace {

TEST(FrameTest, PartsOfAnySizeBecomeTheFramesThatWereSent) {
  Error failure(ErrorCode::kFault, "a kernel trapped", {"p.toml", 3, 7});
  failure.note("in block 4");
  const std::string bytes = message_frame({"key", "text"}, std::string(1000, 'x')) +
                            beat_frame({3, "a step", 17, {1, 2, 3}}) +
                            failure_frame({2, 1, failure}) + frame_of(FrameKind::kEnd, {});
  for (const std::size_t part : {std::size_t{1}, std::size_t{7}, std::size_t{100}, bytes.size()}) {
    FrameReader reader;
    std::vector<PeerFrame> frames;
    for (std::size_t at = 0; at < bytes.size(); at += part) {
      reader.add(std::string_view(bytes).substr(at, part));
      while (auto frame = reader.next()) frames.push_back(std::move(*frame));
    }
    ASSERT_EQ(frames.size(), 4u);
    const Message message = read_message(frames[0].payload);
    EXPECT_EQ(message.stage.key, "key");
    EXPECT_EQ(message.stage.text, "text");
    EXPECT_EQ(message.content, std::string(1000, 'x'));
    const Beat beat = read_beat(frames[1].payload);
    EXPECT_EQ(beat.waits_for, 3u);
    EXPECT_EQ(beat.step, "a step");
    EXPECT_EQ(beat.received, 17u);
    EXPECT_EQ(beat.sent, (std::vector<std::uint64_t>{1, 2, 3}));
    const RankFailure read = read_failure(frames[2].payload);
    EXPECT_EQ(read.rank, 2u);
    EXPECT_EQ(read.lost, 1u);
    EXPECT_EQ(read.error.code(), ErrorCode::kFault);
    EXPECT_EQ(read.error.where().to_string(), "p.toml:3:7");
    EXPECT_EQ(read.error.notes(), (std::vector<std::string>{"in block 4"}));
    EXPECT_EQ(frames[3].kind, FrameKind::kEnd);
    EXPECT_EQ(frames[3].payload, "");
  }
}

TEST(FrameTest, OtherBytesAreRefused) {
  FrameReader reader;
  EXPECT_THROW(reader.add("GET / HTTP/1.1\r\nHost: x\r\n"), Error);
  std::string huge = frame_of(FrameKind::kMessage, {});
  huge.replace(8, 8, std::string(8, '\xff'));
  FrameReader other;
  EXPECT_THROW(other.add(huge), Error);
  EXPECT_THROW(read_message("abc"), Error);
  EXPECT_THROW(read_beat(std::string(40, '\xff')), Error);
  EXPECT_THROW(read_failure(std::string(12, '\xff')), Error);
}

}  // namespace
}  // namespace baton::world::frame_test
