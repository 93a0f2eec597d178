#include "sim/engine/memory/kernel_heap.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim::kernel_heap_test {
namespace {

using driver::FindingKind;
using Freed = KernelHeap::Freed;

constexpr std::uint64_t kMiB = 1024 * 1024;

struct Heap {
  DeviceMemory memory{0, 64 * kMiB};
  KernelHeap& heap = memory.impl().heap();
};

TEST(KernelHeap, GivesBlocksOfTheirOwn) {
  Heap h;
  const std::uint64_t a = h.heap.allocate(40, 16);
  const std::uint64_t b = h.heap.allocate(40, 4096);
  EXPECT_NE(a, b);
  EXPECT_EQ(b % 4096, 0u);
  Region region;
  ASSERT_TRUE(h.heap.find(a + 39, &region));
  EXPECT_EQ(region.base, a);
  EXPECT_EQ(region.size, 40u);
  EXPECT_FALSE(h.heap.find(a + 40, &region));
  EXPECT_TRUE(h.heap.has_address(a));
  EXPECT_FALSE(h.heap.has_address(h.memory.allocate(64)));
  EXPECT_EQ(h.memory.impl().snapshot()->find(a), nullptr);
}

TEST(KernelHeap, ABlockOfNoBytesHasAnAddress) {
  Heap h;
  const std::uint64_t a = h.heap.allocate(0, 16);
  EXPECT_NE(a, 0u);
  EXPECT_NE(a, h.heap.allocate(0, 16));
  Region region;
  EXPECT_FALSE(h.heap.find(a, &region));
  EXPECT_EQ(h.heap.free(a), Freed::kNow);
}

TEST(KernelHeap, KeepsToItsLimit) {
  Heap h;
  ASSERT_TRUE(h.heap.set_limit(100));
  const std::uint64_t a = h.heap.allocate(50, 16);  // counts as 64
  ASSERT_NE(a, 0u);
  EXPECT_EQ(h.heap.allocate(40, 16), 0u);
  EXPECT_NE(h.heap.allocate(32, 16), 0u);
  EXPECT_EQ(h.heap.free(a), Freed::kNow);
  EXPECT_NE(h.heap.allocate(60, 16), 0u);
  h.heap.begin_use();
  EXPECT_FALSE(h.heap.set_limit(kMiB));
  EXPECT_EQ(h.heap.allocate(UINT64_MAX, 16), 0u);
}

TEST(KernelHeap, TellsWhatIsWrongWithAFree) {
  Heap h;
  const std::uint64_t a = h.heap.allocate(64, 16);
  EXPECT_EQ(h.heap.free(a + 16), Freed::kInside);
  EXPECT_EQ(h.heap.free(a + 64), Freed::kNoBlock);
  EXPECT_EQ(h.heap.free(h.memory.allocate(64)), Freed::kNoBlock);
  EXPECT_EQ(h.heap.free(a), Freed::kNow);
  EXPECT_EQ(h.heap.free(a), Freed::kBefore);
  EXPECT_EQ(h.memory.impl().classify(a), AddressKind::kFreed);
  EXPECT_NE(h.memory.describe(a).find("a block of the kernels' heap"), std::string::npos);
}

TEST(KernelHeap, UsesAddressesAgainWhereNoneAreLeft) {
  Heap h;
  ASSERT_TRUE(h.heap.set_limit(UINT64_MAX));
  const std::uint64_t kept = h.heap.allocate(64, 16);
  const std::uint64_t large = KernelHeap::kSpan / 4;
  for (int k = 0; k < 8; ++k) {
    const std::uint64_t address = h.heap.allocate(large, 16);
    if (address == 0) GTEST_SKIP() << "the host has no address space for so much memory";
    EXPECT_GT(address, kept);
    EXPECT_EQ(h.heap.free(address), Freed::kNow);
  }
  EXPECT_EQ(h.heap.free(kept), Freed::kNow);
}

constexpr const char* kKernels = R"(
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 a);
.extern .func free(.param .b64 a);

// out[t] = malloc(bytes); where it is not null, its first word = t
.visible .entry allocate(.param .u64 out, .param .u64 bytes)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<6>;
  .reg .pred %p;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  ld.param.u64 %d1, [out];
  ld.param.u64 %d2, [bytes];
  mad.wide.u32 %d1, %r1, 8, %d1;
  {
    .param .b64 a;
    .param .b64 r;
    st.param.b64 [a], %d2;
    call.uni (r), malloc, (a);
    ld.param.b64 %d3, [r];
  }
  st.global.u64 [%d1], %d3;
  setp.eq.u64 %p, %d3, 0;
  @%p ret;
  st.u32 [%d3], %r1;
  ret;
}

// sum[t] = the first word of blocks[t] + the word at `offset` bytes
.visible .entry use(.param .u64 blocks, .param .u64 sum, .param .u64 offset)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<6>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %d1, [blocks];
  ld.param.u64 %d2, [sum];
  ld.param.u64 %d4, [offset];
  mad.wide.u32 %d1, %r1, 8, %d1;
  mad.wide.u32 %d2, %r1, 4, %d2;
  ld.global.u64 %d3, [%d1];
  ld.u32 %r2, [%d3];
  add.u64 %d3, %d3, %d4;
  ld.global.u32 %r3, [%d3];
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%d2], %r2;
  ret;
}

// free(blocks[t] + offset)
.visible .entry release(.param .u64 blocks, .param .u64 offset)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<6>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %d1, [blocks];
  ld.param.u64 %d2, [offset];
  mad.wide.u32 %d1, %r1, 8, %d1;
  ld.global.u64 %d3, [%d1];
  add.u64 %d3, %d3, %d2;
  {
    .param .b64 a;
    st.param.b64 [a], %d3;
    call.uni free, (a);
  }
  ret;
}

// A block of the grid's first thread, which the second block's threads free while they read it.
.visible .entry races(.param .u64 blocks, .param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<6>;
  .reg .pred %p;
  ld.param.u64 %d1, [blocks];
  ld.param.u64 %d2, [out];
  ld.global.u64 %d3, [%d1];
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p, %r1, 0;
  @%p bra FREE;
  ld.u32 %r2, [%d3];
  st.global.u32 [%d2], %r2;
  ret;
FREE:
  {
    .param .b64 a;
    st.param.b64 [a], %d3;
    call.uni free, (a);
  }
  ret;
}
)";

class HeapKernels : public testing::Test {
 protected:
  std::vector<driver::Finding> findings_of(Grid& grid, CUresult fault) {
    EXPECT_EQ(grid.fault(), fault);
    return device.engine.take_findings();
  }
  TestDevice device{2};
  std::shared_ptr<LoadedModule> module = device.load(kKernels);
  std::uint64_t blocks = device.upload(std::vector<std::uint64_t>(256, 0));
  std::uint64_t sums = device.upload(std::vector<std::uint32_t>(256, 0));
};

TEST_F(HeapKernels, ABlockOutlivesItsKernel) {
  device.run(module, "allocate", {4}, {64}, blocks, std::uint64_t{12});
  const auto addresses = device.download<std::uint64_t>(blocks, 256);
  EXPECT_EQ(std::set(addresses.begin(), addresses.end()).size(), 256u);
  EXPECT_EQ(device.run(module, "use", {1}, {256}, blocks, sums, std::uint64_t{0})->fault(),
            CUDA_SUCCESS);
  const auto words = device.download<std::uint32_t>(sums, 256);
  for (std::uint32_t k = 0; k < 256; ++k) EXPECT_EQ(words[k], 2 * k);
  EXPECT_EQ(device.run(module, "release", {1}, {256}, blocks, std::uint64_t{0})->fault(),
            CUDA_SUCCESS);
  EXPECT_TRUE(device.engine.take_findings().empty());
}

TEST_F(HeapKernels, EachRunGivesTheSameAddresses) {
  std::vector<std::uint64_t> first;
  for (int k = 0; k < 3; ++k) {
    TestDevice fresh(4);
    const auto loaded = fresh.load(kKernels);
    const auto out = fresh.upload(std::vector<std::uint64_t>(8192, 0));
    fresh.run(loaded, "allocate", {128}, {64}, out, std::uint64_t{8});
    const auto addresses = fresh.download<std::uint64_t>(out, 8192);
    if (k == 0) first = addresses;
    EXPECT_EQ(addresses, first);
  }
}

TEST_F(HeapKernels, AFullHeapGivesNull) {
  ASSERT_TRUE(device.memory.impl().heap().set_limit(1600));
  EXPECT_EQ(device.run(module, "allocate", {1}, {32}, blocks, std::uint64_t{160})->fault(),
            CUDA_SUCCESS);
  const auto addresses = device.download<std::uint64_t>(blocks, 32);
  EXPECT_EQ(std::count(addresses.begin(), addresses.end(), 0u), 22);
  EXPECT_FALSE(device.memory.impl().heap().set_limit(kMiB));
}

TEST_F(HeapKernels, AnAccessBehindABlockIsFound) {
  device.run(module, "allocate", {1}, {1}, blocks, std::uint64_t{12});
  const auto grid = device.run(module, "use", {1}, {1}, blocks, sums, std::uint64_t{12});
  const auto found = findings_of(*grid, CUDA_ERROR_ILLEGAL_ADDRESS);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::kOutOfBounds);
  EXPECT_NE(found[0].message.find("0 bytes past the end of a block of the kernels' heap (12 bytes"),
            std::string::npos)
      << found[0].message;
}

TEST_F(HeapKernels, AReadOfWhatNothingWroteIsFound) {
  device.run(module, "allocate", {1}, {1}, blocks, std::uint64_t{12});
  const auto grid = device.run(module, "use", {1}, {1}, blocks, sums, std::uint64_t{8});
  const auto found = findings_of(*grid, CUDA_SUCCESS);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::kUninitialized);
}

TEST_F(HeapKernels, AUseAfterFreeIsFound) {
  device.run(module, "allocate", {1}, {1}, blocks, std::uint64_t{16});
  device.run(module, "release", {1}, {1}, blocks, std::uint64_t{0});
  const auto grid = device.run(module, "use", {1}, {1}, blocks, sums, std::uint64_t{0});
  const auto found = findings_of(*grid, CUDA_ERROR_ILLEGAL_ADDRESS);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::kUseAfterFree);
}

TEST_F(HeapKernels, AWrongFreeIsFound) {
  device.run(module, "allocate", {1}, {1}, blocks, std::uint64_t{16});
  const auto inside = device.run(module, "release", {1}, {1}, blocks, std::uint64_t{8});
  auto found = findings_of(*inside, CUDA_ERROR_LAUNCH_FAILED);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::kBadFree);
  EXPECT_NE(found[0].message.find("not the start of the block"), std::string::npos);

  device.run(module, "release", {1}, {1}, blocks, std::uint64_t{0});
  const auto twice = device.run(module, "release", {1}, {1}, blocks, std::uint64_t{0});
  found = findings_of(*twice, CUDA_ERROR_LAUNCH_FAILED);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].message.find("freed before"), std::string::npos);

  device.memory.write(blocks, &sums, sizeof(sums));
  const auto foreign = device.run(module, "release", {1}, {1}, blocks, std::uint64_t{0});
  found = findings_of(*foreign, CUDA_ERROR_LAUNCH_FAILED);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].message.find("malloc or new of a kernel"), std::string::npos);

  const std::uint64_t null = 0;
  device.memory.write(blocks, &null, sizeof(null));
  EXPECT_EQ(device.run(module, "release", {1}, {1}, blocks, std::uint64_t{0})->fault(),
            CUDA_SUCCESS);
}

TEST_F(HeapKernels, AFreeThatNothingOrdersIsARace) {
  TestDevice watching(1, true);
  watching.memory.impl().watch();
  const auto loaded = watching.load(kKernels);
  const auto out = watching.upload(std::vector<std::uint64_t>(2, 0));
  watching.run(loaded, "allocate", {1}, {1}, out, std::uint64_t{16});
  GridLaunch launch;
  launch.module = loaded;
  launch.kernel = loaded->kernel("races");
  launch.grid = {2};
  launch.finds_own_races = true;
  launch.params.resize(16);
  const std::uint64_t result = out + 8;
  std::memcpy(launch.params.data(), &out, 8);
  std::memcpy(launch.params.data() + 8, &result, 8);
  const auto grid = watching.engine.begin(std::move(launch));
  watching.finish(*grid);
  EXPECT_EQ(grid->fault(), CUDA_SUCCESS);
  const auto found = watching.engine.findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::kGlobalRace);
}

TEST(HeapModule, WrongParametersOfMallocAreRefused) {
  TestDevice device;
  const auto module = device.load(R"(
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b32 a);
.visible .entry k()
{
  .param .b32 a;
  .param .b64 r;
  call.uni (r), malloc, (a);
  ret;
}
)");
  try {
    module->kernel("k");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the parameters are not those of malloc"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace baton::sim::kernel_heap_test
