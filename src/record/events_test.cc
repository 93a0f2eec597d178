#include "record/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "baton/error.h"

namespace baton::record::events_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A file of events, written as the recorder writes it.
class EventFile {
 public:
  EventFile() {
    RecordHeader header = {};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.version = kVersion;
    header.header_bytes = kHeaderBytes;
    header.chunk_bytes = kChunkBytes;
    header.process = 77;
    std::strcpy(header.program, "/bin/true");
    bytes_.assign(kHeaderBytes, '\0');
    std::memcpy(bytes_.data(), &header, sizeof header);
  }

  std::size_t chunk(std::uint32_t thread) {
    chunk_ = bytes_.size();
    bytes_.resize(chunk_ + kChunkBytes);
    const ChunkHeader header = {kChunkMagic, thread, sizeof header, 0};
    std::memcpy(bytes_.data() + chunk_, &header, sizeof header);
    return chunk_;
  }

  // Returns where the event begins.
  std::size_t add(EventKind kind, std::uint32_t function, std::uint64_t order,
                  std::string_view body, std::string_view text = {}) {
    std::uint32_t used = 0;
    char* const field = bytes_.data() + chunk_ + offsetof(ChunkHeader, used);
    std::memcpy(&used, field, sizeof used);
    const auto size =
        static_cast<std::uint32_t>(sizeof(EventHeader) + body.size() + text.size() + 7) & ~7U;
    const EventHeader header = {size,  kind,     static_cast<std::uint16_t>(text.size()),
                                order, function, 0};
    char* const at = bytes_.data() + chunk_ + used;
    std::memcpy(at, &header, sizeof header);
    std::copy(body.begin(), body.end(), at + sizeof header);
    std::copy(text.begin(), text.end(), at + sizeof header + body.size());
    const std::uint32_t now = used + size;
    std::memcpy(field, &now, sizeof now);
    return chunk_ + used;
  }

  std::string bytes_;

 private:
  std::size_t chunk_ = 0;
};

template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

TEST(Events, AreSortedOverTheThreadsAndNamed) {
  EventFile file;
  const std::uint64_t words[] = {10, 20};
  file.chunk(1);
  file.add(EventKind::kName, 3, 1, "", "cuMemAlloc_v2");
  file.add(EventKind::kCall, 3, 5, bytes_of(words));
  file.chunk(2);
  file.add(EventKind::kCall, 3, 4, bytes_of(words[1]));
  file.add(EventKind::kCall, 3, 0, bytes_of(words[1]));
  const ProcessRecord record = read_events(file.bytes_, "f");
  EXPECT_THAT(record.damage, IsEmpty());
  EXPECT_EQ(record.process, 77U);
  EXPECT_EQ(record.program, "/bin/true");
  ASSERT_EQ(record.events.size(), 2U);
  EXPECT_EQ(record.events[0].thread, 2U);
  EXPECT_EQ(record.events[0].word(0), 20U);
  EXPECT_EQ(record.events[0].word(1), 0U);
  EXPECT_EQ(record.events[1].function, "cuMemAlloc_v2");
  EXPECT_EQ(record.events[1].word(1), 20U);
  EXPECT_EQ(record.unreturned, 1U);
}

TEST(Events, LaunchesHaveTheirAttributesAndParameters) {
  EventFile file;
  file.chunk(1);
  LaunchEvent note = {};
  note.attributes = 1;
  note.param_bytes = 12;
  AttributeNote attribute = {6, 0, {1}};
  file.add(EventKind::kLaunch, 0, 2,
           std::string(bytes_of(note)) + std::string(bytes_of(attribute)) + "abcdefghijkl");
  const ProcessRecord record = read_events(file.bytes_, "f");
  ASSERT_EQ(record.events.size(), 1U) << record.damage;
  const RecordedLaunch launch = launch_of(record.events[0]);
  EXPECT_TRUE(launch.is_programmatic());
  EXPECT_FALSE(launch.has_attribute(7));
  EXPECT_EQ(launch.params, "abcdefghijkl");
}

TEST(Events, DamageCostsWhatIsBehindItInItsChunk) {
  EventFile file;
  file.chunk(1);
  file.add(EventKind::kCall, 0, 1, "");
  const std::size_t second = file.add(EventKind::kCall, 0, 2, "");
  file.add(EventKind::kCall, 0, 3, "");
  file.chunk(2);
  file.add(EventKind::kCall, 0, 4, "");
  file.bytes_[second] = 3;
  const ProcessRecord record = read_events(file.bytes_, "f");
  EXPECT_THAT(record.damage, HasSubstr("f is damaged at byte " + std::to_string(second)));
  EXPECT_EQ(record.events.size(), 2U);
}

TEST(Events, AFileThatIsCutOffHasWhatIsLeft) {
  EventFile file;
  file.chunk(1);
  file.add(EventKind::kCall, 0, 1, "");
  const std::size_t last = file.add(EventKind::kCall, 0, 2, "12345678");
  file.bytes_.resize(last + 8);
  const ProcessRecord record = read_events(file.bytes_, "f");
  EXPECT_THAT(record.damage, HasSubstr("are cut off"));
  EXPECT_EQ(record.events.size(), 1U);
}

TEST(Events, ALaunchThatClaimsMoreThanItHasIsDamage) {
  EventFile file;
  file.chunk(1);
  LaunchEvent note = {};
  note.attributes = UINT32_MAX;
  file.add(EventKind::kLaunch, 0, 1, bytes_of(note));
  const ProcessRecord record = read_events(file.bytes_, "f");
  EXPECT_THAT(record.damage, HasSubstr("an event of the kind 3"));
  EXPECT_THAT(record.events, IsEmpty());
}

TEST(Events, NodesOfGraphs) {
  EventFile file;
  file.chunk(1);
  const std::string edge(bytes_of(EdgeNote{5, 0, {1, 0, 1}}));
  LaunchEvent launch = {};
  launch.function = 9;
  launch.param_bytes = 8;
  file.add(EventKind::kNode, 0, 1,
           std::string(bytes_of(NodeNote{NodeKind::kKernel, 1})) + edge +
               std::string(bytes_of(launch)) + "abcdefgh");
  file.add(EventKind::kNode, 0, 2, bytes_of(NodeNote{NodeKind::kHost, 0}));
  // More edges than there are, a kind that there is not.
  file.add(EventKind::kNode, 0, 3, bytes_of(NodeNote{NodeKind::kEmpty, UINT32_MAX}));
  file.chunk(2);
  file.add(EventKind::kNode, 0, 4, bytes_of(NodeNote{static_cast<NodeKind>(7), 0}));
  const ProcessRecord record = read_events(file.bytes_, "f");
  EXPECT_THAT(record.damage, HasSubstr("an event of the kind 10"));
  ASSERT_EQ(record.events.size(), 2U);
  const RecordedNode node = node_of(record.events[0]);
  ASSERT_EQ(node.edges.size(), 1U);
  EXPECT_EQ(node.edges[0].from, 5U);
  EXPECT_EQ(node.launch.note.function, 9U);
  EXPECT_EQ(node.launch.params, "abcdefgh");
  EXPECT_EQ(node_of(record.events[1]).kind, NodeKind::kHost);
}

TEST(Events, OtherFilesAndVersionsAreRefused) {
  const auto message = [](std::string bytes) {
    try {
      read_events(std::move(bytes), "f");
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
      return failure.message();
    }
    return std::string();
  };
  EXPECT_THAT(message("BATON"), HasSubstr("not a file of a record"));
  EXPECT_THAT(message("BATONREC"), HasSubstr("truncated"));
  EventFile file;
  file.bytes_[8] = 1;
  EXPECT_EQ(message(file.bytes_), "") << "records of before are read";
  for (const char version : {0, 3}) {
    file.bytes_[8] = version;
    EXPECT_THAT(message(file.bytes_), HasSubstr("version " + std::to_string(version)));
  }
}

TEST(Events, WhatBelongsToTheNextCall) {
  EventFile file;
  file.chunk(1);
  file.add(EventKind::kContents, 0, 1, bytes_of(ContentsNote{64, 16}));
  file.add(EventKind::kStructure, 0, 2, std::string(bytes_of(StructureNote{0, 4})) + "abcd");
  file.add(EventKind::kVariable, 0, 3, bytes_of(VariableNote{4096, 8, 7}), "factor");
  file.add(EventKind::kStructure, 0, 4, std::string(bytes_of(StructureNote{0, 5000})) + "abcd");
  const ProcessRecord record = read_events(file.bytes_, "f");
  EXPECT_THAT(record.damage, HasSubstr("an event of the kind 8"));
  ASSERT_EQ(record.events.size(), 3U);
  EXPECT_EQ(contents_of(record.events[0]).offset, 64U);
  EXPECT_EQ(contents_of(record.events[0]).bytes, 16U);
  EXPECT_EQ(structure_of(record.events[1]), "abcd");
  EXPECT_EQ(variable_of(record.events[2]).module, 7U);
  EXPECT_EQ(record.events[2].text, "factor");
}

}  // namespace
}  // namespace baton::record::events_test
