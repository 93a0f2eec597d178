#include "edges/peer_launch.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "peer/division.h"
#include "peer/epilogue.h"
#include "peer/kernel_parameters.h"
#include "peer/kernels.h"
#include "peer/own_launch.h"
#include "peer/peer_memory.h"
#include "ptx/ast.h"

namespace baton::edges::peer_launch_test {
namespace {

using overlap::GivenArgument;
using peer::KernelParameter;

constexpr overlap::MemoryId kShared = 77;
constexpr std::uint32_t kFrom = 0, kTo = 1, kAdd = 2, kWeight = 3, kNormed = 4;

// Each buffer is a memory of its own, and begins at an offset of its own.
MemoryPlace place_of(std::uint32_t buffer) {
  return {10 + buffer, std::uint64_t{1000} * (buffer + 1)};
}

struct Step {
  bind::PlannedCollective planned;
  bind::PlannedCollective::Values values;

  PeerLaunch launch() const { return peer_launch(planned, values, place_of, kShared); }
};

// 3 rows of 4096 elements.
Step step(DType dtype, bool adds, bool norms) {
  Step result;
  result.planned.dtype = dtype;
  result.planned.from = kFrom;
  result.planned.to = kTo;
  result.values.from = 16;
  result.values.to = 32;
  result.values.count = 3 * 4096;
  result.values.rank = 1;
  result.values.ranks = 2;
  if (adds) result.planned.epilogue.add.emplace().buffer = kAdd;
  result.values.epilogue.add = 48;
  if (norms) {
    auto& norm = result.planned.epilogue.norm.emplace();
    norm.weight.buffer = kWeight;
    norm.to.buffer = kNormed;
    result.values.epilogue.weight = 64;
    result.values.epilogue.to = 80;
    result.values.epilogue.row = 4096;
  }
  return result;
}

const GivenArgument& argument(const PeerLaunch& launch, KernelParameter what) {
  for (std::size_t k = 0; k < std::size(peer::kAllReduceParameters); ++k) {
    if (peer::kAllReduceParameters[k].what == what) return launch.arguments.at(k);
  }
  throw std::out_of_range("the kernel has no such parameter");
}

// By position, with the offset in the memory.
std::map<std::size_t, MemoryPlace> pointers_of(const GivenArgument& given) {
  std::map<std::size_t, MemoryPlace> result;
  for (const GivenArgument::Field& field : given.fields) {
    result[field.position] = {field.memory, field.offset};
  }
  return result;
}
std::map<std::size_t, std::uint64_t> numbers_of(const GivenArgument& given) {
  std::map<std::size_t, std::uint64_t> result;
  for (const GivenArgument::Number& number : given.numbers) result[number.position] = number.bits;
  return result;
}

void expect_at(const GivenArgument& given, std::uint32_t buffer, std::uint64_t offset) {
  EXPECT_EQ(given.kind, GivenArgument::Kind::kMemory);
  EXPECT_EQ(given.memory, place_of(buffer).memory);
  EXPECT_EQ(given.offset, place_of(buffer).offset + offset);
}

TEST(PeerLaunch, HasTheBlocksAndThreadsOfTheLaunch) {
  const Step of = step(DType::kBF16, false, true);
  const peer::Division division = peer::division_of(3 * 4096, 2, 4096, peer::kMostBlocks);
  const PeerLaunch launch = of.launch();
  EXPECT_EQ(launch.extents.block, (decltype(launch.extents.block){peer::kThreads, 1, 1}));
  EXPECT_EQ(launch.extents.grid, (decltype(launch.extents.block){division.blocks, 1, 1}));
  EXPECT_EQ(argument(launch, KernelParameter::kElements).bits, 3u * 4096);
  EXPECT_EQ(argument(launch, KernelParameter::kOfBlock).bits, division.of_block);
  EXPECT_EQ(argument(launch, KernelParameter::kOfRound).bits, division.of_round);
  EXPECT_EQ(argument(launch, KernelParameter::kRank).bits, 1u);
  EXPECT_EQ(argument(launch, KernelParameter::kCount).bits, 2u);
  EXPECT_EQ(argument(launch, KernelParameter::kNumber).bits, std::nullopt) << "of any operation";
}

TEST(PeerLaunch, HasItsBuffersWhereTheyBegin) {
  const PeerLaunch launch = step(DType::kF32, false, false).launch();
  expect_at(argument(launch, KernelParameter::kFrom), kFrom, 16);
  expect_at(argument(launch, KernelParameter::kTo), kTo, 32);
  const GivenArgument& stop = argument(launch, KernelParameter::kStop);
  EXPECT_EQ(stop.memory, kShared);
  EXPECT_EQ(stop.offset, overlap::kUnknownOffset);
}

// The kernel gets the addresses of all ranks' slots, one after another.
TEST(PeerLaunch, AllRanksSlotsAreSharedMemory) {
  const PeerLaunch launch = step(DType::kF32, false, false).launch();
  const auto ranks = pointers_of(argument(launch, KernelParameter::kRanks));
  ASSERT_EQ(ranks.size(), std::size_t{peer::kMostRanks});
  EXPECT_EQ(ranks.begin()->first, 0u);
  EXPECT_EQ(ranks.rbegin()->first, (peer::kMostRanks - 1) * sizeof(void*));
  for (const auto& [position, place] : ranks) EXPECT_EQ(place.memory, kShared) << position;
}

// What an epilogue lacks is a null pointer, and not anything.
TEST(PeerLaunch, EachPartOfAnEpilogueIsThereOrNull) {
  constexpr std::size_t kAddAt = offsetof(peer::Epilogue, add),
                        kWeightAt = offsetof(peer::Epilogue, weight),
                        kNormedAt = offsetof(peer::Epilogue, normed),
                        kRowAt = offsetof(peer::Epilogue, row);
  for (const bool adds : {false, true}) {
    for (const bool norms : {false, true}) {
      SCOPED_TRACE(adds);
      SCOPED_TRACE(norms);
      const PeerLaunch launch = step(DType::kF16, adds, norms).launch();
      const GivenArgument& epilogue = argument(launch, KernelParameter::kEpilogue);
      EXPECT_EQ(epilogue.kind, GivenArgument::Kind::kStruct);
      const auto pointers = pointers_of(epilogue);
      const auto numbers = numbers_of(epilogue);
      const auto expect = [&](std::size_t position, bool is_there, std::uint32_t buffer,
                              std::uint64_t offset) {
        ASSERT_EQ(pointers.contains(position), is_there) << position;
        ASSERT_EQ(numbers.contains(position), !is_there) << position;
        if (!is_there) {
          EXPECT_EQ(numbers.at(position), 0u) << position;
          return;
        }
        EXPECT_EQ(pointers.at(position).memory, place_of(buffer).memory) << position;
        EXPECT_EQ(pointers.at(position).offset, place_of(buffer).offset + offset) << position;
      };
      expect(kAddAt, adds, kAdd, 48);
      expect(kWeightAt, norms, kWeight, 64);
      expect(kNormedAt, norms, kNormed, 80);
      EXPECT_EQ(numbers.at(kRowAt), norms ? 4096u : 0u);
    }
  }
}

// Each dtype has a kernel of its own, which is read to its end.
TEST(PeerLaunch, EveryDTypeHasAKernelThatIsRead) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kU32,
                            DType::kI64, DType::kU64}) {
    const PeerLaunch launch = step(dtype, false, false).launch();
    EXPECT_FALSE(launch.footprint->unseen) << to_string(dtype);
    EXPECT_EQ(launch.footprint->kernel,
              "baton_all_reduce_" + std::string(peer::suffix_of(dtype).value()));
    EXPECT_EQ(launch.footprint, step(dtype, false, false).launch().footprint) << "read once";
  }
}

// How many warps a block has decides what its barriers order.
TEST(PeerLaunch, TheKernelIsReadForItsOwnThreads) {
  const PeerLaunch launch = step(DType::kF32, false, false).launch();
  const auto module = ptx::ParsedModule::parse(peer::kernels_ptx(true), "all_reduce_90.ptx");
  const ptx::Function* const function = module->function(launch.footprint->kernel);
  ASSERT_NE(function, nullptr);
  const overlap::Footprint own = overlap::read_footprint(module, *function, {peer::kThreads, 1, 1});
  ASSERT_EQ(own.accesses.size(), launch.footprint->accesses.size());
  for (std::size_t k = 0; k < own.accesses.size(); ++k) {
    EXPECT_EQ(own.accesses[k].order, launch.footprint->accesses[k].order);
    EXPECT_EQ(own.accesses[k].where, launch.footprint->accesses[k].where);
  }
  EXPECT_EQ(own.behind_barrier, launch.footprint->behind_barrier);
  EXPECT_EQ(own.ordering_ops, launch.footprint->ordering_ops);
  EXPECT_EQ(own.waits, launch.footprint->waits);
}

}  // namespace
}  // namespace baton::edges::peer_launch_test
