#include "record/memory_map.h"

#include <gtest/gtest.h>

#include <cstring>

namespace baton::record::memory_map_test {
namespace {

using Kind = overlap::GivenArgument::Kind;

constexpr std::uint64_t kFirst = 0x7f0000000000, kSecond = 0x7f0000001000;

std::string bytes_of(std::initializer_list<std::uint64_t> words) {
  std::string bytes;
  for (const std::uint64_t word : words) {
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return bytes;
}

class MemoryMapTest : public testing::Test {
 protected:
  void call(std::string_view function, std::initializer_list<std::uint64_t> words) {
    const std::string body = bytes_of(words);
    RecordedEvent event;
    event.kind = EventKind::kCall;
    event.function = function;
    event.body = body;
    map_.follow(event);
  }

  MemoryMap map_;
};

TEST_F(MemoryMapTest, AnAddressIsAnOffsetInItsAllocation) {
  call("cuMemAlloc_v2", {kFirst, 256});
  call("cuMemAllocAsync_ptsz", {kSecond, 256, 0});
  const auto first = map_.argument(bytes_of({kFirst + 8}), true);
  const auto second = map_.argument(bytes_of({kSecond}), false);
  EXPECT_EQ(first.kind, Kind::kMemory);
  EXPECT_EQ(first.offset, 8U);
  EXPECT_EQ(second.kind, Kind::kMemory);
  EXPECT_NE(first.memory, second.memory);
  EXPECT_EQ(map_.name(second.memory), "allocation 1 (256 bytes)");
}

TEST_F(MemoryMapTest, WhatWasFreedMayBeAnything) {
  call("cuMemAlloc_v2", {kFirst, 256});
  call("cuMemFree_v2", {kFirst});
  EXPECT_EQ(map_.argument(bytes_of({kFirst}), true).kind, Kind::kBytes);
  EXPECT_EQ(map_.argument(bytes_of({kFirst}), false).kind, Kind::kBytes);
  call("cuMemAlloc_v2", {kFirst, 256});
  EXPECT_EQ(map_.argument(bytes_of({kFirst}), true).memory, 1U);
}

TEST_F(MemoryMapTest, TensorMapsAreOfWhatTheyWereMadeOf) {
  call("cuMemAlloc_v2", {kFirst, 256});
  call("cuMemAlloc_v2", {kSecond, 256});
  TensorMapNote note = {};
  note.address = kSecond + 64;
  std::memset(note.map, 0x5A, sizeof note.map);
  const std::string body(reinterpret_cast<const char*>(&note), sizeof note);
  RecordedEvent event;
  event.kind = EventKind::kTensorMap;
  event.body = body;
  map_.follow(event);
  const std::string bytes(128, '\x5A');
  const auto given = map_.argument(bytes, false);
  EXPECT_EQ(given.kind, Kind::kTensorMap);
  EXPECT_EQ(given.memory, 1U);
  EXPECT_EQ(given.offset, 64U);
  const auto both = map_.argument(bytes_of({kFirst, 0, 0, 0, 0, 0, 0, 0}) + bytes, false);
  EXPECT_EQ(both.kind, Kind::kStruct);
  ASSERT_EQ(both.maps.size(), 1U);
  EXPECT_EQ(both.maps[0].position, 64U);
  EXPECT_EQ(both.maps[0].memory, 1U);
  EXPECT_EQ(both.fields.size(), 1U);
  EXPECT_FALSE(both.may_have_other_maps);
  EXPECT_TRUE(map_.argument(bytes_of({5}) + bytes, false).maps.empty()) << "maps are aligned";
  // Bytes that may be another map.
  const std::string zeros(128, '\0'), numbers(128, '\x01'), few(64, '\x01');
  EXPECT_FALSE(map_.argument(zeros + bytes + zeros, false).may_have_other_maps);
  EXPECT_FALSE(map_.argument(few + bytes + few, false).may_have_other_maps);
  EXPECT_TRUE(map_.argument(numbers + bytes, false).may_have_other_maps);
  EXPECT_TRUE(map_.argument(bytes + numbers, false).may_have_other_maps);
  EXPECT_TRUE(map_.argument(bytes + numbers + bytes, false).may_have_other_maps);
  call("cuMemFree_v2", {kSecond});
  EXPECT_EQ(map_.argument(bytes, false).kind, Kind::kBytes);
}

// The memory of a map's tensor was freed, and lies in others now.
TEST_F(MemoryMapTest, TensorsEndWithTheirAllocations) {
  const auto made = [&](std::uint32_t type, std::uint64_t columns, std::uint64_t rows,
                        std::uint64_t stride) {
    call("cuMemAlloc_v2", {kFirst, 4096});
    TensorMapNote note = {};
    note.map[0] = 1;
    note.address = kFirst;
    note.type = type;
    note.rank = 2;
    note.dims[0] = columns;
    note.dims[1] = rows;
    note.strides[0] = stride;
    const std::string body(reinterpret_cast<const char*>(&note), sizeof note);
    RecordedEvent event;
    event.kind = EventKind::kTensorMap;
    event.body = body;
    map_.follow(event);
    call("cuMemFree_v2", {kFirst});
    call("cuMemAlloc_v2", {kFirst, 256});
    return map_.argument(body.substr(0, 128), false).kind;
  };
  constexpr std::uint32_t kBytes = 0, kF32 = 7;
  EXPECT_EQ(made(kBytes, 64, 4, 64), Kind::kTensorMap) << "256 bytes";
  EXPECT_EQ(made(kF32, 16, 4, 64), Kind::kTensorMap) << "256 bytes";
  EXPECT_EQ(made(kBytes, 65, 4, 64), Kind::kBytes) << "257 bytes";
  EXPECT_EQ(made(kF32, 16, 5, 64), Kind::kBytes) << "320 bytes";
  EXPECT_EQ(made(kF32, 16, 4, 128), Kind::kBytes) << "448 bytes";
  EXPECT_EQ(made(99, 16, 1, 64), Kind::kBytes) << "a type that is not known";
  EXPECT_EQ(made(kBytes, 16, UINT64_MAX, UINT64_MAX), Kind::kBytes);
}

TEST_F(MemoryMapTest, NumbersStayNumbers) {
  call("cuMemAlloc_v2", {kFirst, 256});
  EXPECT_EQ(map_.argument(bytes_of({4096 * 4096}), false).bits, 4096U * 4096U);
  EXPECT_EQ(map_.argument("\x07\0\0\0", false).kind, Kind::kScalar);
  EXPECT_EQ(map_.argument(bytes_of({0}), true).kind, Kind::kScalar);
}

TEST_F(MemoryMapTest, StructsHaveFields) {
  call("cuMemAlloc_v2", {kFirst, 256});
  const auto given = map_.argument(bytes_of({5, kFirst + 16}), false);
  EXPECT_EQ(given.kind, Kind::kStruct);
  ASSERT_EQ(given.fields.size(), 1U);
  EXPECT_EQ(given.fields[0].position, 8U);
  EXPECT_EQ(given.fields[0].offset, 16U);
  EXPECT_EQ(given.numbers.size(), 2U);
  // An address of memory that the record does not have.
  EXPECT_EQ(map_.argument(bytes_of({5, kFirst + 4096}), false).kind, Kind::kBytes);
}

TEST_F(MemoryMapTest, MemoryWithTwoAddressesIsNotKeptApart) {
  call("cuMemAddressReserve", {kFirst, 4096, 0, 0, 0});
  call("cuMemAddressReserve", {kSecond, 4096, 0, 0, 0});
  call("cuMemMap", {kFirst, 4096, 0, 9, 0});
  EXPECT_EQ(map_.argument(bytes_of({kFirst}), true).kind, Kind::kMemory);
  call("cuMemMap", {kSecond, 4096, 0, 9, 0});
  EXPECT_EQ(map_.argument(bytes_of({kFirst}), true).kind, Kind::kBytes);
  EXPECT_EQ(map_.argument(bytes_of({kSecond}), true).kind, Kind::kBytes);
}

}  // namespace
}  // namespace baton::record::memory_map_test
