#include "play/nccl_steps.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/program.h"
#include "play/collectives.h"
#include "world/test_ranks.h"

// What ranks ask of NCCL, by a table of functions that note their calls. Devices are simulated.

namespace baton::play::nccl_steps_test {
namespace {

using nccl::Nccl;
using nccl::NcclRank;
using ::testing::ElementsAre;

// A communicator that knows who made it.
struct NotedComm {
  int id, rank, ranks;
};

NotedComm& noted(Nccl::Comm comm) {
  return *reinterpret_cast<NotedComm*>(comm);
}

// The calls of the rank of this thread.
thread_local std::vector<std::string> calls;

Nccl::Result note(Nccl::Comm comm, const std::string& call) {
  const NotedComm& from = noted(comm);
  calls.push_back(fmt::format("{} of {}: {}", from.rank, from.ranks, call));
  return Nccl::kSuccess;
}

Nccl noting_table() {
  Nccl table;
  table.number = Nccl::kFloor;
  table.error_string = [](Nccl::Result) { return "an error"; };
  table.last_error = [](Nccl::Comm) { return ""; };
  table.unique_id = [](Nccl::UniqueId* id) {
    static std::atomic<int> last{0};
    const int number = ++last;
    std::memcpy(id->bytes, &number, sizeof(number));
    return Nccl::kSuccess;
  };
  table.init_rank = [](Nccl::Comm* comm, int ranks, Nccl::UniqueId id, int rank) {
    auto made = std::make_unique<NotedComm>();
    std::memcpy(&made->id, id.bytes, sizeof(made->id));
    made->rank = rank;
    made->ranks = ranks;
    *comm = reinterpret_cast<Nccl::Comm>(made.release());
    return Nccl::kSuccess;
  };
  table.destroy = [](Nccl::Comm comm) {
    delete &noted(comm);
    return Nccl::kSuccess;
  };
  table.abort = table.destroy;
  table.async_error = [](Nccl::Comm, Nccl::Result* result) { return *result = Nccl::kSuccess; };
  table.group_start = [] { return Nccl::kSuccess; };
  table.group_end = [] { return Nccl::kSuccess; };
  table.all_reduce = [](const void*, void*, std::size_t count, Nccl::Type, Nccl::Op,
                        Nccl::Comm comm, Nccl::Stream) {
    return note(comm, fmt::format("all_reduce of {} in {}", count, noted(comm).id));
  };
  table.all_gather = [](const void*, void*, std::size_t bytes, Nccl::Type, Nccl::Comm comm,
                        Nccl::Stream) {
    return note(comm, fmt::format("all_gather of {}", bytes));
  };
  table.reduce_scatter = [](const void*, void*, std::size_t count, Nccl::Type, Nccl::Op,
                            Nccl::Comm comm, Nccl::Stream) {
    return note(comm, fmt::format("reduce_scatter of {}", count));
  };
  table.broadcast = [](const void*, void*, std::size_t, Nccl::Type, int root, Nccl::Comm comm,
                       Nccl::Stream) { return note(comm, fmt::format("broadcast of {}", root)); };
  table.send = [](const void*, std::size_t, Nccl::Type, int peer, Nccl::Comm comm, Nccl::Stream) {
    return note(comm, fmt::format("send to {}", peer));
  };
  table.receive = [](void*, std::size_t, Nccl::Type, int peer, Nccl::Comm comm, Nccl::Stream) {
    return note(comm, fmt::format("receive from {}", peer));
  };
  return table;
}

const Nccl kTable = noting_table();

// Ranks 0 and 1 are the first stage, 2 and 3 the second one.
world::RankGroup stages_of(std::uint32_t rank) {
  return {rank % 2, 2, rank / 2, 2};
}
world::RankGroup stage_of(std::uint32_t rank) {
  return {rank / 2 * 2, 1, rank % 2, 2};
}

// One rank with its communicators and a buffer of 16 f32.
class NcclRankOfGrid {
 public:
  explicit NcclRankOfGrid(const World& world)
      : world_(world),
        device_(Device::open(world.rank() == 0 ? std::string("sim:tiny")
                                               : fmt::format("sim:tiny:{}", world.rank()))),
        stream_(device_),
        steps_({NcclRank::make(kTable, device_, world, {0, 1, world.rank(), world.ranks()}),
                NcclRank::make(kTable, device_, world, stages_of(world.rank())),
                NcclRank::make(kTable, device_, world, stage_of(world.rank()))}) {
    definition_.dtype = DType::kF32;
    bind::BoundBuffer& buffer = buffers_.emplace_back();
    buffer.definition = &definition_;
    buffer.elements = 16;
    buffer.memory.emplace(device_, 64);
    calls.clear();
  }

  // `group`: 1 for the stages, 2 for the ranks of a stage.
  void add(CollectiveKind kind, std::uint32_t group, std::int32_t peer = 0) {
    bind::PlannedCollective& planned = planned_.emplace_back();
    planned.kind = kind;
    planned.group = group;
    bind::TapeCollective step{&planned, {}, false};
    step.values.group = group == 1 ? stages_of(world_.rank()) : stage_of(world_.rank());
    step.values.rank = static_cast<std::int32_t>(step.values.group.rank);
    step.values.ranks = 2;
    step.values.count = 4;
    step.values.peer = peer;
    steps_.add({.stream = &stream_}, step, buffers_);
  }
  void flush() { steps_.flush({.stream = &stream_}); }

 private:
  const World world_;
  const Device device_;
  const Stream stream_;
  NcclSteps steps_;
  ProgramBuffer definition_;
  bind::BufferTable buffers_;
  std::list<bind::PlannedCollective> planned_;
};

TEST(NcclGroups, CollectivesUseTheCommunicatorOfTheirGroup) {
  const auto failures = world::on_ranks(4, [](const World& world) {
    NcclRankOfGrid rank(world);
    rank.add(CollectiveKind::kAllGather, 2);
    rank.add(CollectiveKind::kReduceScatter, 1);
    rank.add(CollectiveKind::kBroadcast, 1, 1);
    const std::uint32_t of_stages = world.rank() / 2, of_stage = world.rank() % 2;
    EXPECT_THAT(calls, ElementsAre(fmt::format("{} of 2: all_gather of 16", of_stage),
                                   fmt::format("{} of 2: reduce_scatter of 4", of_stages),
                                   fmt::format("{} of 2: broadcast of 1", of_stages)));
    // Groups do not share what their ranks start with.
    calls.clear();
    rank.add(CollectiveKind::kAllReduce, 2);
    const auto all = world.gather("the calls", calls.at(0).substr(6));
    if (world.rank() != 0) return;
    EXPECT_EQ(all[0], all[1]);
    EXPECT_EQ(all[2], all[3]);
    EXPECT_NE(all[0], all[2]);
  });
  for (const auto& failure : failures) EXPECT_FALSE(failure) << failure->what();
}

// Messages name ranks of the world, whose communicator has them all.
TEST(NcclGroups, MessagesGoBetweenRanksOfTheWorld) {
  const auto failures = world::on_ranks(4, [](const World& world) {
    NcclRankOfGrid rank(world);
    const std::int32_t other = world.rank() < 2 ? 1 : 0;
    rank.add(world.rank() < 2 ? CollectiveKind::kSend : CollectiveKind::kReceive, 1, other);
    EXPECT_TRUE(calls.empty());
    rank.flush();
    const std::uint32_t far = (world.rank() + 2) % 4;
    EXPECT_THAT(calls,
                ElementsAre(fmt::format("{} of 4: {} {}", world.rank(),
                                        world.rank() < 2 ? "send to" : "receive from", far)));
  });
  for (const auto& failure : failures) EXPECT_FALSE(failure) << failure->what();
}

// Each of two ranks has a device of its own.
Device device_of(const World& world) {
  return Device::open(world.rank() == 0 ? std::string("sim:tiny") : std::string("sim:tiny:1"));
}

// NCCL does nothing here, so that each rank adds to its own elements.
TEST(NcclEpilogue, FollowsTheReduction) {
  const auto failures = world::on_ranks(2, [](const World& world) {
    const Device device = device_of(world);
    const Stream stream(device);
    ProgramBuffer definition;
    definition.dtype = DType::kF32;
    bind::BufferTable buffers(2);
    const float contents[2][4] = {{1, 2, 3, 4}, {10, 20, 30, 40}};
    for (std::size_t i = 0; i < 2; ++i) {
      buffers[i].definition = &definition;
      buffers[i].elements = 4;
      buffers[i].memory.emplace(device, 16).upload(contents[i], 16, 0, stream);
    }
    Collectives collectives(device, world);
    collectives.choose({NcclRank::make(kTable, device, world, {0, 1, world.rank(), 2})}, nullptr, 0,
                       true, "");
    collectives.take_epilogues(std::make_shared<peer::EpilogueKernels>(device));
    bind::PlannedCollective planned;
    planned.epilogue.add = bind::PlannedEpilogue::Place{1, {}};
    const bind::PlannedStep at{planned, nullptr, 0, {}, nullptr};
    bind::TapeCollective step{&std::get<bind::PlannedCollective>(at.action), {}, false};
    step.values.group = {0, 1, world.rank(), 2};
    step.values.rank = static_cast<std::int32_t>(world.rank());
    step.values.ranks = 2;
    step.values.count = 4;
    calls.clear();
    collectives.enqueue({.step = &at}, step, buffers, stream);
    float got[4] = {};
    buffers[0].memory->download(got, 16, 0, stream);
    stream.synchronize();
    EXPECT_THAT(got, ElementsAre(11, 22, 33, 44));
    EXPECT_EQ(calls.size(), 1u);
  });
  for (const auto& failure : failures) EXPECT_FALSE(failure) << failure->message();
}

// Beside NCCL, kernels between peers take all-reduces up to a size, of steps that name nothing.
TEST(NcclAndPeers, ShareAllReducesBySize) {
  const auto failures = world::on_ranks(2, [](const World& world) {
    const Device device = device_of(world);
    const Stream stream(device);
    ProgramBuffer definition;
    definition.dtype = DType::kF32;
    bind::BufferTable buffers(1);
    buffers[0].definition = &definition;
    buffers[0].elements = 8;
    const float contents[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    buffers[0].memory.emplace(device, 32).upload(contents, 32, 0, stream);
    Collectives collectives(device, world);
    collectives.choose({NcclRank::make(kTable, device, world, {0, 1, world.rank(), 2})},
                       peer::PeerRank::make(device, world), 16, true, "");
    const auto executor_of = [&](std::uint64_t count, std::optional<CollectiveExecutor> by) {
      bind::PlannedCollective planned;
      planned.by = by;
      const bind::PlannedStep at{planned, nullptr, 0, {}, nullptr};
      bind::TapeCollective step{&std::get<bind::PlannedCollective>(at.action), {}, false};
      step.values.group = {0, 1, world.rank(), 2};
      step.values.rank = static_cast<std::int32_t>(world.rank());
      step.values.ranks = 2;
      step.values.count = count;
      calls.clear();
      const bool by_kernel = collectives.by_kernel(step);
      collectives.enqueue({.step = &at}, step, buffers, stream);
      stream.synchronize();
      EXPECT_EQ(calls.size(), by_kernel ? 0u : 1u) << count;
      return by_kernel ? CollectiveExecutor::kPeer : CollectiveExecutor::kNccl;
    };
    EXPECT_EQ(executor_of(4, {}), CollectiveExecutor::kPeer);
    EXPECT_EQ(executor_of(5, {}), CollectiveExecutor::kNccl);
    EXPECT_EQ(executor_of(4, CollectiveExecutor::kNccl), CollectiveExecutor::kNccl);
    EXPECT_EQ(executor_of(5, CollectiveExecutor::kPeer), CollectiveExecutor::kPeer);
    float got[8] = {};
    buffers[0].memory->download(got, 32, 0, stream);
    stream.synchronize();
    EXPECT_THAT(got, ElementsAre(4, 8, 12, 16, 10, 6, 7, 8));
  });
  for (const auto& failure : failures) EXPECT_FALSE(failure) << failure->message();
}

}  // namespace
}  // namespace baton::play::nccl_steps_test
