#include "sim/engine/memory/memory.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "sim/engine/memory/address.h"
#include "sim/engine/memory/memory_impl.h"

namespace baton::sim::memory_test {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

TEST(DeviceMemory, AddressesAreOfTheDeviceAndNeverUsedTwice) {
  DeviceMemory memory(3, 64 * kMiB);
  std::set<std::uint64_t> seen;
  for (int k = 0; k < 1000; ++k) {
    const std::uint64_t address = memory.allocate(1000);
    ASSERT_NE(address, 0u);
    EXPECT_EQ(window_of(address), window_number(kGlobalWindow));
    EXPECT_EQ(address % 256, 0u);
    EXPECT_TRUE(seen.insert(address).second);
    EXPECT_TRUE(memory.free(address));
    EXPECT_FALSE(memory.free(address));
  }
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_NE(DeviceMemory(4, kMiB).allocate(1), DeviceMemory(3, kMiB).allocate(1));
}

// Programs may keep marks of their own in the upper bits of a pointer.
TEST(DeviceMemory, LeavesTheUpperBitsOfAddressesFree) {
  DeviceMemory memory(7, kMiB);
  EXPECT_EQ(memory.allocate(1000) >> 47, 0u);
}

TEST(DeviceMemory, UsesAddressesAgainWhereNoneAreLeft) {
  constexpr std::uint64_t kMany = std::uint64_t{1} << 38;
  DeviceMemory memory(0, 2 * kMany);
  const std::uint64_t kept = memory.allocate(kMiB);
  for (int k = 0; k < 10; ++k) {
    const std::uint64_t address = memory.allocate(kMany);
    if (address == 0) GTEST_SKIP() << "the host has no address space for so much memory";
    EXPECT_TRUE(address > kept + kMiB);
    EXPECT_TRUE(memory.free(address));
  }
  EXPECT_TRUE(memory.free(kept));
}

TEST(DeviceMemory, KeepsToItsCapacity) {
  DeviceMemory memory(0, kMiB);
  EXPECT_EQ(memory.allocate(0), 0u);
  EXPECT_EQ(memory.allocate(kMiB + 1), 0u);
  const std::uint64_t all = memory.allocate(kMiB);
  ASSERT_NE(all, 0u);
  EXPECT_EQ(memory.allocate(1), 0u);
  EXPECT_TRUE(memory.free(all));
  EXPECT_NE(memory.allocate(1), 0u);
  EXPECT_EQ(memory.allocate(UINT64_MAX), 0u);
}

TEST(DeviceMemory, ReadsAndWritesWithinOneAllocationOnly) {
  DeviceMemory memory(0, kMiB);
  const std::uint64_t a = memory.allocate(16);
  const std::uint64_t b = memory.allocate(16);
  const std::uint64_t pattern = 0x0123456789abcdef;
  EXPECT_TRUE(memory.write(a + 8, &pattern, 8));
  std::uint64_t back = 0;
  EXPECT_TRUE(memory.read(a + 8, &back, 8));
  EXPECT_EQ(back, pattern);
  EXPECT_FALSE(memory.write(a + 9, &pattern, 8));
  EXPECT_FALSE(memory.read(a - 1, &back, 1));
  EXPECT_FALSE(memory.read(b + 16, &back, 1));
  EXPECT_FALSE(memory.read(a, &back, UINT64_MAX));
  EXPECT_TRUE(memory.copy(b, a + 8, 8));
  EXPECT_TRUE(memory.read(b, &back, 8));
  EXPECT_EQ(back, pattern);
  EXPECT_FALSE(memory.copy(b + 9, a, 8));
}

TEST(DeviceMemory, FillsByWidth) {
  DeviceMemory memory(0, kMiB);
  const std::uint64_t a = memory.allocate(12);
  EXPECT_TRUE(memory.fill(a, 0x11223344, 4, 3));
  std::uint8_t bytes[12];
  EXPECT_TRUE(memory.read(a, bytes, 12));
  EXPECT_EQ(bytes[0], 0x44);
  EXPECT_EQ(bytes[11], 0x11);
  EXPECT_TRUE(memory.fill(a, 0xaabb, 2, 1));
  EXPECT_TRUE(memory.fill(a + 2, 0x7f, 1, 1));
  EXPECT_TRUE(memory.read(a, bytes, 12));
  EXPECT_EQ(bytes[0], 0xbb);
  EXPECT_EQ(bytes[1], 0xaa);
  EXPECT_EQ(bytes[2], 0x7f);
  EXPECT_FALSE(memory.fill(a, 0, 4, 4));
  EXPECT_FALSE(memory.fill(a, 0, 3, 1));
  EXPECT_FALSE(memory.fill(a, 0, 4, UINT64_MAX));
}

TEST(DeviceMemory, KnowsWhatWasWritten) {
  DeviceMemory memory(0, kMiB);
  const std::uint64_t a = memory.allocate(64);
  const std::uint64_t b = memory.allocate(64);
  const auto region = [&](std::uint64_t address) {
    return *memory.impl().snapshot()->find(address);
  };
  ASSERT_NE(region(a).written, nullptr);
  EXPECT_EQ(region(a).written[5], 0);
  std::vector<std::byte> half(32);
  memory.write(a, half.data(), 32);
  EXPECT_EQ(region(a).written[31], 1);
  EXPECT_EQ(region(a).written[32], 0);
  memory.write(a + 32, half.data(), 32);  // in pieces, but without a gap
  EXPECT_EQ(region(a).written, nullptr);
  memory.copy(a, b, 16);  // brings what nothing wrote
  ASSERT_NE(region(a).written, nullptr);
  EXPECT_EQ(region(a).written[15], 0);
  EXPECT_EQ(region(a).written[16], 1);
}

// Marks are made when someone reads them. What the order of writes, copies and snapshots is does
// not matter.
TEST(DeviceMemory, MarksWhatWasWrittenInAnyOrder) {
  constexpr std::uint64_t kBytes = 96;
  const std::vector<std::byte> source(kBytes);
  const auto marks = [](DeviceMemory& memory, std::uint64_t address) {
    const Region region = *memory.impl().snapshot()->find(address);
    std::string text(kBytes, '1');
    for (std::uint64_t i = 0; i < kBytes && region.written != nullptr; ++i) {
      text[i] = region.written[i] != 0 ? '1' : '.';
    }
    return text;
  };
  // Bits of `order` say where a snapshot is taken in between.
  for (unsigned order = 0; order < 32; ++order) {
    DeviceMemory memory(0, kMiB);
    const std::uint64_t a = memory.allocate(kBytes), b = memory.allocate(kBytes);
    std::string of_a(kBytes, '.'), of_b(kBytes, '.');
    auto step = [&, at = 0u]() mutable {
      if ((order >> at++ & 1) == 0) return;
      EXPECT_EQ(marks(memory, a), of_a) << order;
      EXPECT_EQ(marks(memory, b), of_b) << order;
    };
    const auto write = [&](std::uint64_t offset, std::uint64_t bytes) {
      EXPECT_TRUE(memory.write(a + offset, source.data(), bytes));
      of_a.replace(offset, bytes, bytes, '1');
      step();
    };
    write(0, 20);
    EXPECT_FALSE(memory.untouched(a + 19, 8));
    EXPECT_TRUE(memory.untouched(a + 20, 8));
    write(20, 10);
    write(50, 6);
    EXPECT_TRUE(memory.write(b, source.data(), 64));
    of_b.replace(0, 64, 64, '1');
    EXPECT_TRUE(memory.copy(b + 8, a + 24, 32));  // of which 6 and 6 bytes are written
    of_b.replace(8, 32, of_a.substr(24, 32));
    step();
    EXPECT_TRUE(memory.untouched(b + 14, 20));
    EXPECT_FALSE(memory.untouched(b + 14, 21));
    EXPECT_TRUE(memory.write(b, source.data(), kBytes));
    EXPECT_TRUE(memory.copy(b + 90, a + 90, 2));
    of_b.assign(90, '1').append("..1111");
    step();
    EXPECT_EQ(marks(memory, a), of_a) << order;
    EXPECT_EQ(marks(memory, b), of_b) << order;
  }
}

TEST(DeviceMemory, MemoryOfTheHostCountsAsWritten) {
  DeviceMemory memory(3, kMiB);
  std::vector<unsigned char> host(64, 7);
  memory.map_host(host.data(), host.size(), "pinned memory");
  const auto there = reinterpret_cast<std::uint64_t>(host.data());
  const std::uint64_t partly = memory.allocate(64);
  const std::uint8_t one = 1;
  ASSERT_TRUE(memory.write(partly, &one, 1));
  ASSERT_TRUE(memory.copy(there + 8, partly, 4));
  EXPECT_EQ(host[8], 1);
  EXPECT_EQ(host[7], 7);
  EXPECT_EQ(host[12], 7);
  ASSERT_TRUE(memory.copy(partly + 16, there, 16));
  std::uint8_t back = 0;
  ASSERT_TRUE(memory.read(partly + 24, &back, 1));
  EXPECT_EQ(back, 1);
  memory.unmap_host(there);
  EXPECT_FALSE(memory.copy(there, partly, 1));
}

TEST(DeviceMemory, KnowsWhatNothingWrote) {
  DeviceMemory memory(0, kMiB);
  const std::uint64_t a = memory.allocate(64);
  EXPECT_TRUE(memory.untouched(a, 64));
  memory.fill(a + 16, 0, 4, 1);
  EXPECT_FALSE(memory.untouched(a, 64));
  EXPECT_FALSE(memory.untouched(a + 19, 1));
  EXPECT_TRUE(memory.untouched(a, 16));
  EXPECT_TRUE(memory.untouched(a + 20, 44));
  memory.fill(a, 0, 4, 16);
  EXPECT_FALSE(memory.untouched(a, 64));
  EXPECT_FALSE(memory.untouched(a + 20, 64)) << "not in one allocation";
  EXPECT_FALSE(memory.untouched(4096, 4));
}

TEST(DeviceMemory, DescribesAddresses) {
  DeviceMemory memory(0, kMiB);
  const std::uint64_t a = memory.allocate(1024);
  memory.set_name(a, "buffer y (f32 [256])");
  EXPECT_EQ(memory.describe(a + 1056).rfind("32 bytes past the end of buffer y (f32 [256], 1024 "
                                            "bytes at 0x",
                                            0),
            0u)
      << memory.describe(a + 1056);
  EXPECT_EQ(memory.describe(a + 4).rfind("4 bytes inside buffer y", 0), 0u);
  EXPECT_EQ(memory.describe(0), "the null pointer");
  EXPECT_EQ(memory.describe(0x7fff'0000'0000), "a host pointer");
  memory.free(a);
  EXPECT_NE(memory.describe(a).find("freed"), std::string::npos);
}

TEST(DeviceMemory, RemembersBoundedlyManyFreedAllocations) {
  DeviceMemory memory(0, kMiB);
  for (int k = 0; k < 60'000; ++k) memory.free(memory.allocate(1));
  EXPECT_LT(memory.impl().allocations.size(), 20'000u);
}

TEST(DeviceMemory, ASnapshotKeepsWhatIsFreedMeanwhile) {
  DeviceMemory memory(0, kMiB);
  const std::uint64_t a = memory.allocate(kMiB);
  const auto snapshot = memory.impl().snapshot();
  memory.free(a);
  snapshot->find(a)->host[0] = std::byte{1};
  EXPECT_EQ(memory.impl().snapshot()->find(a), nullptr);
}

TEST(DeviceMemory, ForgetsTheTouchesOfEveryLiveAllocation) {
  DeviceMemory memory(0, kMiB);
  memory.impl().watch();
  const std::uint64_t addresses[] = {memory.allocate(64), memory.allocate(64), memory.allocate(64)};
  const auto shadow_of = [&](std::uint64_t address) -> Shadow& {
    return memory.impl().holding(address, 1)->second.backing->shadow();
  };
  for (const std::uint64_t address : addresses) {
    Shadow& shadow = shadow_of(address);
    shadow.keep(shadow.readers, shadow.layout(0, 4)->cells, 1, [](Toucher) { return false; });
  }
  memory.free(addresses[1]);
  memory.impl().forget_touches();
  EXPECT_FALSE(shadow_of(addresses[0]).readers.has_any());
  EXPECT_FALSE(shadow_of(addresses[2]).readers.has_any());
}

// Addresses are plenty; what the host lacks is memory.
TEST(DeviceMemory, RefusesWhatTheHostCannotMap) {
  constexpr std::uint64_t kTooMuch = std::uint64_t{1} << 48;
  DeviceMemory memory(0, 2 * kTooMuch);
  EXPECT_EQ(memory.allocate(kTooMuch), 0u);
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_NE(memory.allocate(kMiB), 0u);
  EXPECT_EQ(memory.used(), kMiB);
}

// The sanitizers reserve more addresses than any limit leaves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The process may take so many bytes more.
void limit_memory(std::uint64_t bytes) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * static_cast<std::uint64_t>(getpagesize()) + bytes;
  setrlimit(RLIMIT_AS, &limit);
}

// In a process of its own, whose memory ends soon: small allocations come from the heap.
TEST(DeviceMemoryDeathTest, RefusesWhatTheHeapCannotHold) {
  const auto exhaust = [] {
    DeviceMemory memory(0, kConstantBit);
    limit_memory(64 * kMiB);
    std::uint64_t held = 0;
    while (memory.allocate(128 * 1024) != 0) ++held;
    _exit(memory.used() == held * 128 * 1024 ? 0 : 1);
  };
  EXPECT_EXIT(exhaust(), testing::ExitedWithCode(0), "");
}

// The heap gets 80 bytes back at a time, and so each part of an allocation is once what it lacks.
TEST(DeviceMemoryDeathTest, WhatTheHeapHoldsInPartLeavesNothing) {
  const auto give_back = [] {
    DeviceMemory memory(0, kConstantBit);
    mallopt(M_MXFAST, 0);  // blocks that are freed become one with their neighbours
    std::vector<void*> blocks;
    blocks.reserve(kMiB);
    limit_memory(8 * kMiB);
    while (void* const block = std::malloc(64)) blocks.push_back(block);
    // What the C library keeps of each size.
    [[maybe_unused]] void* volatile kept = nullptr;
    for (std::size_t size = 16; size <= 1024; size += 16) {
      do {
        kept = std::malloc(size);
      } while (kept != nullptr);
    }
    const std::size_t middle = blocks.size() / 2;  // neighbours from here on
    std::size_t given = 0;
    std::uint64_t address = 0;
    for (; address == 0 && given < 200; ++given) {
      std::free(blocks[middle + given]);
      address = memory.allocate(16);
      if (memory.used() != (address == 0 ? 0 : 16)) _exit(1);
    }
    // More than the blocks that the C library keeps for requests of their size.
    _exit(address != 0 && given > 7 ? 0 : 2);
  };
  EXPECT_EXIT(give_back(), testing::ExitedWithCode(0), "");
}
#endif

TEST(DeviceMemory, ServesThreadsAtOnce) {
  DeviceMemory memory(0, 256 * kMiB);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&memory, t] {
      for (int k = 0; k < 200; ++k) {
        const std::uint64_t a = memory.allocate(4096);
        const int value = t * 1000 + k;
        int back = -1;
        memory.write(a + 128, &value, 4);
        memory.read(a + 128, &back, 4);
        EXPECT_EQ(back, value);
        memory.free(a);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.used(), 0u);
}

}  // namespace
}  // namespace baton::sim::memory_test
