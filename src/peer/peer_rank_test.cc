// All-reduces between simulated devices of one process: what they compute, under each schedule, and
// what is found in kernels with planted bugs.

#include "peer/peer_rank.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "base/array/float_convert.h"
#include "baton/image.h"
#include "baton/launch.h"
#include "baton/schedule.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "peer/kernel_parameters.h"
#include "peer/kernels.h"
#include "peer/peer_memory.h"
#include "world/reduce.h"
#include "world/test_ranks.h"

namespace baton::peer::peer_rank_test {
namespace {

using ::testing::HasSubstr;

constexpr Schedule kSchedules[] = {
    {ScheduleKind::kSerial, 0},  {ScheduleKind::kLate, 0},   {ScheduleKind::kEarly, 0},
    {ScheduleKind::kReverse, 0}, {ScheduleKind::kRandom, 1}, {ScheduleKind::kRandom, 2},
};

Device device_of(std::uint32_t rank) {
  return Device::open(rank == 0 ? "sim:h200" : "sim:h200:" + std::to_string(rank));
}

// Small numbers of both signs, of which sums are rounded.
std::string elements_of(DType dtype, std::uint32_t rank, std::uint64_t count, int turn) {
  std::string bytes(count * size_of(dtype), '\0');
  for (std::uint64_t k = 0; k < count; ++k) {
    const auto mixed = static_cast<std::uint32_t>((k + 1) * 2654435761u + rank * 40503u +
                                                  static_cast<std::uint32_t>(turn) * 97u);
    const float value = static_cast<float>(static_cast<int>(mixed >> 12 & 0xfff) - 2048) / 97.0f;
    // Integers that wrap around, of both signs.
    const std::uint64_t bits =
        is_float(dtype) ? encode_float(dtype, value) : mixed * 0x9E3779B97F4A7C15ull >> k % 3;
    std::memcpy(bytes.data() + k * size_of(dtype), &bits, size_of(dtype));
  }
  return bytes;
}

std::string reduced(ReduceOp op, DType dtype, std::uint32_t ranks, std::uint64_t count, int turn) {
  std::vector<std::string> parts;
  std::vector<const char*> places;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    parts.push_back(elements_of(dtype, rank, count, turn));
  }
  for (const std::string& part : parts) places.push_back(part.data());
  std::string result(count * size_of(dtype), '\0');
  world::reduce(op, dtype, count, places, result.data());
  return result;
}

struct Case {
  std::uint32_t ranks = 2;
  DType dtype = DType::kF32;
  ReduceOp op = ReduceOp::kSum;
  Shots shots = Shots::kOne;
  std::uint64_t count = 1000;
  std::uint64_t offset = 0;  // bytes, of the elements in their buffers
  bool is_in_place = true;
  int turns = 3;
};

// Adds the kinds of the session's findings. `checks`: each of them is a failure.
template <class Session>
void take_findings(Session& session, bool checks, std::set<std::string>* kinds) {
  for (const driver::Finding& finding : session.take_findings()) {
    kinds->emplace(to_string(finding.kind));
    if (checks) ADD_FAILURE() << to_string(finding.kind) << ": " << finding.message;
  }
}

// Runs it on all ranks, checks what they get, and returns the kinds of findings.
std::set<std::string> run(const Case& c, const Schedule& schedule, std::string_view ptx = {},
                          bool checks = true) {
  std::set<std::string> kinds;
  std::mutex mutex;
  const std::vector<std::optional<Error>> failures =
      world::on_ranks(c.ranks, [&](const World& world) {
        const Device device = device_of(world.rank());
        const std::shared_ptr<PeerRank> peer = PeerRank::make(device, world, ptx);
        const auto session = device.driver().simulator->begin(
            device.native_context(),
            {.schedule = schedule, .watch = driver::Simulator::Watch::kOn, .alone = true});
        const std::uint64_t bytes = c.count * size_of(c.dtype);
        std::vector<Memory> from, to;
        Stream stream(device);
        for (int turn = 0; turn < c.turns; ++turn) {
          from.emplace_back(device, c.offset + bytes);
          const std::string elements = elements_of(c.dtype, world.rank(), c.count, turn);
          from.back().upload(elements.data(), bytes, c.offset, stream);
          stream.synchronize();
          if (!c.is_in_place) to.emplace_back(device, c.offset + bytes);
        }
        const std::vector<Memory>& results = c.is_in_place ? from : to;
        for (int turn = 0; turn < c.turns; ++turn) {
          const auto k = static_cast<std::size_t>(turn);
          const AllReduce step = {from[k].address() + c.offset, results[k].address() + c.offset,
                                  c.count, c.dtype, c.op};
          enqueue(peer->launch_of(step, c.shots), stream);
        }
        stream.synchronize();
        for (int turn = 0; turn < c.turns; ++turn) {
          std::string got(bytes, '\0');
          results[static_cast<std::size_t>(turn)].download(got.data(), bytes, c.offset, stream);
          stream.synchronize();
          if (checks) {
            EXPECT_TRUE(got == reduced(c.op, c.dtype, c.ranks, c.count, turn))
                << "rank " << world.rank() << ", turn " << turn;
          }
        }
        world.meet("the end");
        const std::lock_guard lock(mutex);
        take_findings(*session, checks, &kinds);
      });
  for (const auto& failure : failures) EXPECT_FALSE(failure) << failure->message();
  return kinds;
}

std::string text_of(const Case& c) {
  return fmt::format("{} ranks, {}, {}, {} shots, {} elements at {}{}", c.ranks, to_string(c.dtype),
                     static_cast<int>(c.op), static_cast<int>(c.shots), c.count, c.offset,
                     c.is_in_place ? ", in place" : "");
}

// The analysis of edges goes by the table. It does not see the names of parameters.
TEST(PeerRank, TheTableOfParametersIsThatOfTheKernels) {
  for (const bool waits : {false, true}) {
    const ImageFacts facts = read_facts(Image::from_static(kernels_ptx(waits), "kernels"));
    for (const KernelSuffix& suffix : kKernelSuffixes) {
      const std::string name = "baton_all_reduce_" + std::string(suffix.text);
      const auto kernel = std::ranges::find(facts.kernels, name, &KernelFacts::name);
      ASSERT_NE(kernel, facts.kernels.end()) << name;
      const std::vector<ParamFacts>& params = kernel->params.value();
      ASSERT_EQ(params.size(), std::size(kAllReduceParameters)) << name;
      for (std::size_t k = 0; k < params.size(); ++k) {
        EXPECT_EQ(params[k].size, kAllReduceParameters[k].bytes) << name << ' ' << k;
      }
    }
  }
}

TEST(PeerRank, SaysBeforeWhetherItCanConnect) {
  const auto failures = world::on_ranks(2, [](const World& world) {
    EXPECT_TRUE(PeerRank::can_connect(device_of(world.rank()), world));
    EXPECT_FALSE(PeerRank::make(device_of(world.rank()), world)->shares_device());
  });
  for (const auto& failure : failures) EXPECT_FALSE(failure) << failure->message();
  for (const auto& failure : world::on_ranks(2, [](const World& world) {
         EXPECT_TRUE(PeerRank::make(device_of(0), world)->shares_device());
       })) {
    EXPECT_FALSE(failure) << failure->message();
  }
}

TEST(PeerRank, ReducesEachTypeAsTheHostDoes) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kU32,
                            DType::kI64, DType::kU64}) {
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin}) {
      for (const Shots shots : {Shots::kOne, Shots::kTwo}) {
        const Case c{.ranks = 3, .dtype = dtype, .op = op, .shots = shots, .turns = 2};
        SCOPED_TRACE(text_of(c));
        run(c, kSchedules[0]);
      }
    }
  }
}

TEST(PeerRank, ReducesOnAnyNumberOfRanks) {
  for (const std::uint32_t ranks : {2u, 4u, 5u}) {
    for (const Shots shots : {Shots::kOne, Shots::kTwo}) {
      const Case c{.ranks = ranks, .shots = shots};
      SCOPED_TRACE(text_of(c));
      run(c, kSchedules[0]);
    }
  }
}

TEST(PeerRank, TakesAnyNumberOfElementsAtAnyPlace) {
  for (const Shots shots : {Shots::kOne, Shots::kTwo}) {
    for (const std::uint64_t count : {1ull, 7ull, 2049ull, 40001ull}) {
      for (const std::uint64_t offset : {0ull, 2ull}) {
        const Case c{.ranks = 3,
                     .dtype = DType::kBF16,
                     .shots = shots,
                     .count = count,
                     .offset = offset,
                     .is_in_place = count % 2 == 0,
                     .turns = 2};
        SCOPED_TRACE(text_of(c));
        run(c, kSchedules[0]);
      }
    }
  }
}

// Epochs start again in between: they begin near their end (kFirstEpoch).
TEST(PeerRank, EpochsStartAgain) {
  for (const std::uint32_t ranks : {2u, 3u}) {
    for (const Shots shots : {Shots::kOne, Shots::kTwo}) {
      const Case c{.ranks = ranks, .shots = shots, .count = 2500, .turns = 24};
      SCOPED_TRACE(text_of(c));
      run(c, kSchedules[0]);
    }
  }
}

// More than all slots hold.
TEST(PeerRank, TakesSeveralRounds) {
  for (const Shots shots : {Shots::kOne, Shots::kTwo}) {
    const Case c{.shots = shots, .count = 300'000, .turns = 2};
    SCOPED_TRACE(text_of(c));
    run(c, kSchedules[0]);
  }
}

TEST(PeerRank, HasNoRaceUnderAnySchedule) {
  for (const Schedule& schedule : kSchedules) {
    SCOPED_TRACE(to_string(schedule));
    for (const std::uint32_t ranks : {2u, 3u}) {
      for (const Shots shots : {Shots::kOne, Shots::kTwo}) {
        // The third turn is the first one in slots that were used.
        const Case c{.ranks = ranks, .shots = shots, .count = 3000, .turns = 3};
        SCOPED_TRACE(text_of(c));
        run(c, schedule);
      }
    }
  }
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
    ++count;
  }
  EXPECT_NE(count, 0u) << from;
  return text;
}

// A packet's store and load, each for itself.
TEST(PeerRank, BugsInTheKernelAreFound) {
  const struct {
    const char* from;
    const char* to;
    std::set<std::string> kinds;  // one of them at least, and no other
  } bugs[] = {
      {"st.relaxed.sys.global.b128", "st.global.b128", {"peer_read", "peer_overwrite"}},
      {"ld.relaxed.sys.global.b128", "ld.global.b128", {"peer_read", "peer_overwrite"}},
      {"st.relaxed.sys.global.b128",
       "st.relaxed.gpu.global.b128",
       {"peer_scope", "peer_read", "peer_overwrite"}},
      {"ld.relaxed.sys.global.b128",
       "ld.relaxed.gpu.global.b128",
       {"peer_scope", "peer_read", "peer_overwrite"}},
  };
  for (const auto& bug : bugs) {
    SCOPED_TRACE(bug.to);
    // Polls look at the host's word more often, or those by plain loads would seldom give way.
    const std::string ptx =
        replaced(replaced(kernels_ptx(true), ", 4095;", ", 63;"), bug.from, bug.to);
    for (const Schedule& schedule : kSchedules) {
      for (const Shots shots : {Shots::kOne, Shots::kTwo}) {
        const auto kinds = run({.shots = shots, .count = 100, .turns = 3}, schedule, ptx, false);
        EXPECT_FALSE(kinds.empty()) << to_string(schedule);
        for (const std::string& kind : kinds) EXPECT_TRUE(bug.kinds.contains(kind)) << kind;
      }
    }
  }
}

AllReduce all_of(const Memory& memory) {
  return {memory.address(), memory.address(), memory.bytes() / 4, DType::kF32, ReduceOp::kSum};
}

// Lets the next launch in, and then writes.
constexpr const char* kProducer = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry produce(.param .u64 to, .param .f32 value) {
  .reg .u64 %rd<4>;
  .reg .u32 %r<5>;
  .reg .f32 %f<2>;
  griddepcontrol.launch_dependents;
  griddepcontrol.wait;
  ld.param.u64 %rd1, [to];
  ld.param.f32 %f1, [value];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 4;
  cvta.to.global.u64 %rd1, %rd1;
  add.u64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f1;
  ret;
}
)";

// Each all-reduce comes right after a launch that lets it in early, and before one that overwrites
// what it reduced. Returns the kinds of findings.
std::set<std::string> run_early(const Schedule& schedule, std::string_view ptx, bool checks) {
  std::set<std::string> kinds;
  std::mutex mutex;
  const auto failures = world::on_ranks(2, [&](const World& world) {
    const Device device = device_of(world.rank());
    const std::shared_ptr<PeerRank> peer = PeerRank::make(device, world, ptx);
    const Module module = Module::load(device, Image::from_static(kProducer, "<producer>"));
    const auto session = device.driver().simulator->begin(
        device.native_context(),
        {.schedule = schedule, .watch = driver::Simulator::Watch::kOn, .alone = true});
    constexpr unsigned kElements = 2048;
    const Memory memory(device, kElements * sizeof(float));
    Stream stream(device);
    LaunchConfig config;
    config.grid = Dim3(8);
    config.block = Dim3(kElements / 8);
    config.stream = stream;
    for (int turn = 0; turn < 4; ++turn) {
      const float value = static_cast<float>(world.rank() + 1) * static_cast<float>(turn + 1);
      module.kernel("produce").launch(config, DevicePointer<float>{memory.address()}, value);
      enqueue(peer->launch_of(all_of(memory), Shots::kOne, true), stream);
      if (turn != 3) continue;
      std::vector<float> got(kElements);
      memory.download(got.data(), memory.bytes(), 0, stream);
      stream.synchronize();
      if (checks) {
        EXPECT_THAT(got, ::testing::Each(3.0f * static_cast<float>(turn + 1)));
      }
    }
    stream.synchronize();
    world.meet("the end");
    const std::lock_guard lock(mutex);
    take_findings(*session, checks, &kinds);
  });
  for (const auto& failure : failures) EXPECT_FALSE(failure) << failure->message();
  return kinds;
}

TEST(PeerRank, StartsEarlyWithoutARace) {
  for (const Schedule& schedule : kSchedules) {
    SCOPED_TRACE(to_string(schedule));
    run_early(schedule, {}, true);
  }
}

TEST(PeerRank, AWaitThatComesTooLateIsFound) {
  const std::string ptx = replaced(replaced(kernels_ptx(true), "griddepcontrol.wait;", ""),
                                   "\tret;", "\tgriddepcontrol.wait;\n\tret;");
  for (const Schedule& schedule : kSchedules) {
    EXPECT_FALSE(run_early(schedule, ptx, false).empty()) << to_string(schedule);
  }
}

// Rank 1 launches nothing.
TEST(PeerRank, AKernelThatWaitsForALostRankEnds) {
  const auto failures = world::on_ranks(2, [&](const World& world) {
    const Device device = device_of(world.rank());
    const std::shared_ptr<PeerRank> peer = PeerRank::make(device, world);
    if (world.rank() == 0) {
      Memory memory(device, 4096);
      Stream stream(device);
      memory.fill(0, 4, 1024, 0, stream);
      for (const Shots shots : {Shots::kOne, Shots::kTwo}) {
        enqueue(peer->launch_of(all_of(memory), shots), stream);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_EQ(device.driver().cuStreamQuery(stream.native()), CUDA_ERROR_NOT_READY);
      peer->abort();
      stream.synchronize();
    }
    world.meet("the end");
  });
  for (const auto& failure : failures) EXPECT_FALSE(failure) << failure->message();
}

// Only the failure of another rank ends the wait.
TEST(PeerRank, TheFailureOfARankEndsKernelsOfTheOthers) {
  world::on_ranks(2, [&](const World& world) {
    const Device device = device_of(world.rank());
    const std::shared_ptr<PeerRank> peer = PeerRank::make(device, world);
    if (world.rank() == 1) {
      static_cast<void>(world.fail(Error(ErrorCode::kInternal, "it has had enough")));
      return;
    }
    Memory memory(device, 4096);
    Stream stream(device);
    memory.fill(0, 4, 1024, 0, stream);
    enqueue(peer->launch_of(all_of(memory), Shots::kOne), stream);
    stream.synchronize();
    EXPECT_THROW(world.check(), Error);
  });
}

TEST(PeerRank, TooManyRanksAreRefused) {
  const std::vector<std::optional<Error>> failures = world::on_ranks(
      kMostRanks + 1, [&](const World& world) { PeerRank::make(Device::open("sim:h200"), world); });
  for (const auto& failure : failures) {
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), ErrorCode::kUnsupported);
    EXPECT_THAT(failure->message(), HasSubstr("take up to 8 ranks, and this run has 9"));
  }
}

// Devices of two kinds are not linked.
TEST(PeerRank, DevicesWithoutALinkAreRefused) {
  const auto failures = world::on_ranks(2, [&](const World& world) {
    PeerRank::make(Device::open(world.rank() == 0 ? "sim:h200" : "sim:b200"), world);
  });
  for (const auto& failure : failures) {
    ASSERT_TRUE(failure);
    EXPECT_THAT(failure->message(), HasSubstr("nothing links their devices"));
  }
}

}  // namespace
}  // namespace baton::peer::peer_rank_test
