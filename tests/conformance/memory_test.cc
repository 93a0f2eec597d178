#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <memory>
#include <numeric>

#include "conformance/conformance.h"

namespace baton::conformance::memory_test {
namespace {

using Memories = Conformance;

std::vector<std::uint8_t> counting_bytes(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  return bytes;
}

TEST_F(Memories, ComeBackAsTheyWereSent) {
  for (std::size_t count : {1u, 3u, 255u, 256u, 257u, 65536u, 1000003u}) {
    const auto sent = counting_bytes(count);
    EXPECT_EQ(Buffer<std::uint8_t>::of(device(), sent).download(), sent) << count;
  }
}

TEST_F(Memories, MayBeEmpty) {
  const Buffer<float> empty(device(), 0);
  EXPECT_EQ(empty.data().address, 0u);
  EXPECT_TRUE(empty.download().empty());
  empty.upload(std::span<const float>());
}

TEST_F(Memories, StartAlignedToTwoHundredFiftySixBytes) {
  std::vector<Memory> memories;
  for (std::size_t bytes : {1u, 5u, 300u, 4097u}) {
    memories.emplace_back(device(), bytes);
    EXPECT_EQ(memories.back().address() % 256, 0u) << bytes;
  }
}

TEST_F(Memories, CopyAtOffsets) {
  const auto sent = counting_bytes(1000);
  const Memory source(device(), 1000), target(device(), 1000);
  const Stream stream(device());
  source.upload(sent.data(), 1000, 0, stream);
  target.fill(0xEE, 1, 1000, 0, stream);
  target.copy_from(source, 123, 17, 801, stream);
  std::vector<std::uint8_t> got(1000);
  target.download(got.data(), 1000, 0, stream);
  stream.synchronize();
  std::vector<std::uint8_t> want(1000, 0xEE);
  std::copy_n(sent.begin() + 17, 123, want.begin() + 801);
  EXPECT_EQ(got, want);

  std::vector<std::uint8_t> part(50);
  target.download(part.data(), part.size(), 801, stream);
  stream.synchronize();
  EXPECT_TRUE(std::equal(part.begin(), part.end(), sent.begin() + 17));
}

// Counts what it gave, of which nothing may be left at the end.
class CountingAllocator : public Allocator {
 public:
  ~CountingAllocator() override { EXPECT_TRUE(given_.empty()); }

  DeviceAddress allocate(const Device& on, std::size_t bytes) override {
    if (bytes > largest) return 0;
    Memory memory(on, bytes + 256);
    const DeviceAddress address = memory.address() + offset;
    given_.emplace(address, std::move(memory));
    return address;
  }
  void free(const Device&, DeviceAddress address, std::size_t bytes) noexcept override {
    freed += bytes;
    given_.erase(address);
  }

  std::size_t largest = SIZE_MAX, freed = 0, offset = 0;

 private:
  std::map<DeviceAddress, Memory> given_;
};

TEST_F(Memories, ComeFromAnAllocatorOfTheCaller) {
  const auto allocator = std::make_shared<CountingAllocator>();
  const Stream stream(device());
  {
    Memory first(device(), 1000, allocator), empty(device(), 0, allocator);
    const auto sent = counting_bytes(1000);
    first.upload(sent.data(), 1000, 0, stream);
    Memory moved = std::move(first);
    first = Memory(device(), 24, allocator);
    std::vector<std::uint8_t> got(1000);
    moved.download(got.data(), 1000, 0, stream);
    stream.synchronize();
    EXPECT_EQ(got, sent);
    EXPECT_EQ(empty.address(), 0u);
    EXPECT_EQ(allocator->freed, 0u);
  }
  EXPECT_EQ(allocator->freed, 1024u);
  EXPECT_NE(Memory(device(), 8, nullptr).address(), 0u) << "the driver's";
}

TEST_F(Memories, ThatAnAllocatorLacksOrMisplacesAreRefused) {
  const auto allocator = std::make_shared<CountingAllocator>();
  allocator->largest = 100;
  const auto refusal = [&](std::size_t bytes) {
    try {
      Memory(device(), bytes, allocator);
    } catch (const Error& refused) {
      return refused;
    }
    return Error(ErrorCode::kInternal, "it was not refused");
  };
  EXPECT_EQ(refusal(101).code(), ErrorCode::kOutOfMemory);
  EXPECT_THAT(refusal(101).what(), testing::HasSubstr("the allocator has none left"));
  EXPECT_EQ(Memory(device(), 100, allocator).bytes(), 100u);
  allocator->offset = 128;
  EXPECT_EQ(refusal(10).code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(refusal(10).what(), testing::HasSubstr("must be a multiple of 256"));
}

TEST_F(Memories, AreAllocatedAndFreedInTheOrderOfAStream) {
  const auto sent = counting_bytes(5000);
  std::vector<std::uint8_t> got(5000);
  const Stream stream(device()), other(device());
  for (int round = 0; round < 3; ++round) {
    Memory memory = Memory::in_order(stream, 5000);
    EXPECT_EQ(memory.address() % 256, 0u);
    memory.upload(sent.data(), 5000, 0, stream);
    memory.download(got.data(), 5000, 0, stream);
    Event written(device(), false);
    written.record(stream);
    other.wait(written);
    memory.fill(7, 1, 5000, 0, other);
    memory.free_in_order(other);
  }
  stream.synchronize();
  other.synchronize();
  EXPECT_EQ(got, sent);
  EXPECT_EQ(Memory::in_order(stream, 0).address(), 0u);
  auto typed = Buffer<int>::in_order(stream, 3);
  typed.upload(std::vector<int>{1, 2, 3}, stream);
  EXPECT_EQ(typed.size(), 3u);
  EXPECT_THROW(Memory(device(), 8).free_in_order(stream), Error);
}

class Fill : public Conformance, public testing::WithParamInterface<unsigned> {};

TEST_P(Fill, RepeatsItsValue) {
  const unsigned width = GetParam();
  const std::uint64_t value = 0x8899AABBCCDDEEFFu;
  for (std::size_t count : {1u, 2u, 3u, 100u, 4099u}) {
    const std::size_t bytes = (count + 2) * width;
    const Memory memory(device(), bytes);
    const Stream stream(device());
    memory.fill(0x11, 1, bytes, 0, stream);
    memory.fill(value, width, count, width, stream);
    std::vector<std::uint8_t> got(bytes);
    memory.download(got.data(), bytes, 0, stream);
    stream.synchronize();
    std::vector<std::uint8_t> want(bytes, 0x11);
    for (std::size_t i = 1; i <= count; ++i) std::memcpy(&want[i * width], &value, width);
    EXPECT_EQ(got, want) << count;
  }
}
INSTANTIATE_TEST_SUITE_P(Widths, Fill, testing::Values(1, 2, 4, 8));

TEST_F(Memories, RefuseRangesThatLeaveThem) {
  const Memory memory(device(), 100), other(device(), 50);
  const Stream stream(device());
  std::uint8_t bytes[200] = {};
  expect_error(ErrorCode::kInvalidInput, {"101", "100"},
               [&] { memory.upload(bytes, 101, 0, stream); });
  expect_error(ErrorCode::kInvalidInput, {"download", "offset 51"},
               [&] { memory.download(bytes, 50, 51, stream); });
  expect_error(ErrorCode::kInvalidInput, {"copy"},
               [&] { memory.copy_from(other, 51, 0, 0, stream); });
  expect_error(ErrorCode::kInvalidInput, {"fill"}, [&] { memory.fill(0, 8, 13, 0, stream); });
  expect_error(ErrorCode::kInvalidInput, {"multiple of 4"},
               [&] { memory.fill(0, 4, 1, 2, stream); });
  expect_error(ErrorCode::kInvalidInput, {"3"}, [&] { memory.fill(0, 3, 1, 0, stream); });
  // An offset near the top of the address space must not wrap around.
  expect_error(ErrorCode::kInvalidInput, {}, [&] { memory.upload(bytes, 2, SIZE_MAX, stream); });
}

TEST_F(Memories, RunOutWithBothNumbers) {
  expect_error(ErrorCode::kOutOfMemory, {"asked for", "free"},
               [&] { Memory(device(), device().total_memory() * 2); });
  expect_error(ErrorCode::kOutOfMemory, {},
               [&] { Buffer<double>(device(), SIZE_MAX / sizeof(double) + 1); });
}

TEST_F(Memories, CountAsUsedUntilFreed) {
  const std::size_t bytes = 64 << 20;
  constexpr int kTries = 20;
  bool used = false, freed = false;
  // Other processes may take and give back memory of a GPU at the same time.
  for (int i = 0; i < kTries && !(used && freed); ++i) {
    const std::uint64_t before = device().free_memory();
    {
      const Memory memory(device(), bytes);
      used = device().free_memory() <= before - bytes / 2;
    }
    freed = device().free_memory() + bytes / 2 >= before;
  }
  EXPECT_TRUE(used);
  EXPECT_TRUE(freed);
}

TEST_F(Memories, MoveTheirOwnership) {
  Memory first(device(), 64);
  const DeviceAddress address = first.address();
  Memory second(std::move(first));
  EXPECT_EQ(second.address(), address);
  EXPECT_EQ(first.address(), 0u);  // NOLINT: a moved-from Memory is empty
  Memory third(device(), 32);
  third = std::move(second);
  EXPECT_EQ(third.address(), address);
  EXPECT_EQ(third.bytes(), 64u);
}

TEST_F(Memories, PageableSourcesMayChangeAfterTheCall) {
  const std::size_t count = 1 << 20;
  const Buffer<int> buffer(device(), count);
  const Stream stream(device());
  std::vector<int> source(count, 1);
  for (int round = 1; round <= 4; ++round) {
    std::fill(source.begin(), source.end(), round);
    buffer.upload(source, stream);
  }
  std::fill(source.begin(), source.end(), -1);
  stream.synchronize();
  EXPECT_EQ(buffer.download(), std::vector<int>(count, 4));
}

TEST_F(Memories, PinnedMemoryServesCopies) {
  const std::size_t count = 100000;
  const PinnedBuffer<int> source(device(), count), target(device(), count);
  ASSERT_EQ(source.size(), count);
  std::iota(source.begin(), source.end(), 5);
  std::fill(target.begin(), target.end(), 0);
  const Buffer<int> buffer(device(), count);
  const Stream stream(device());
  buffer.upload(source, stream);
  buffer.download(target, stream);
  stream.synchronize();
  EXPECT_TRUE(std::equal(source.begin(), source.end(), target.begin()));
}

}  // namespace
}  // namespace baton::conformance::memory_test
