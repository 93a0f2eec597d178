#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/array/float_convert.h"
#include "baton/world.h"
#include "session/world/test_ranks.h"

// Collectives in programs: what they compute, by which executor, and how they fail.
namespace baton::session_test::collectives_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Array elements_of(DType dtype, const std::vector<std::int64_t>& numbers) {
  Array result{dtype, {static_cast<std::int64_t>(numbers.size())}, {}};
  for (const std::int64_t number : numbers) {
    const std::uint64_t bits = is_float(dtype) ? encode_float(dtype, static_cast<double>(number))
                                               : static_cast<std::uint64_t>(number);
    result.bytes.append(reinterpret_cast<const char*>(&bits), size_of(dtype));
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, Executors,
                         ::testing::Values(ExecutorKind::kStream, ExecutorKind::kGraph),
                         executor_name);

TEST_P(Executors, AllReduceOfEveryDtype) {
  for (std::size_t i = 0; i < dtype_names().size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    const bool is_bool = dtype == DType::kBool;
    SCOPED_TRACE(std::string(to_string(dtype)));
    const std::string text = kWorld + buffer("x", std::string(to_string(dtype)), "[4]", "inout") +
                             "shard = { axis = 0 }\n" +
                             step(std::string("all_reduce = { buffer = \"x\", op = \"") +
                                  (is_bool ? "max" : "sum") + "\" }");
    const Array whole = is_bool ? elements_of(dtype, {1, 0, 0, 1, 0, 0, 1, 1})
                                : elements_of(dtype, {1, 2, 3, 4, 7, 6, 5, 4});
    const Array want =
        is_bool ? elements_of(dtype, {1, 0, 1, 1}) : elements_of(dtype, {8, 8, 8, 8});
    expect_none(on_ranks(2, [&](const Device& device, const World& world) {
      Bindings bindings;
      bindings.inputs.emplace_back("x", whole);
      const Executable executable = ran(text, device, world, std::move(bindings), GetParam());
      EXPECT_EQ(executable.output("x").bytes, want.bytes);
      EXPECT_EQ(executable.shape("x"), (std::vector<std::int64_t>{4}));
    }));
  }
}

// Each collective, also at offsets and with counts.
const std::string kAllCollectives =
    kWorld + buffer("x", "i32", "[2]", "input") + "shard = { axis = 0 }\n" +
    buffer("all", "i32", "[\"2*ranks + 1\"]", "output", "zeros") +
    buffer("part", "i32", "[2]", "output", "zeros") + buffer("root", "i32", "[2]", "output") +
    buffer("greatest", "i32", "[2]", "output") + buffer("left", "i32", "[3]", "output", "zeros") +
    step("all_gather = { from = \"x\", to = \"all + 1\" }") +
    step("reduce_scatter = { from = \"all + 1\", to = \"part\", op = \"sum\" }") +
    step("copy = { from = \"x\", to = \"root\" }") +
    step("broadcast = { buffer = \"root\", root = \"ranks - 1\" }") +
    step("copy = { from = \"x\", to = \"greatest\" }") +
    step("all_reduce = { buffer = \"greatest + 1\", op = \"max\", count = 1 }") +
    step("send = { buffer = \"x\", to = \"rank + 1\" }") +
    step("receive = { buffer = \"left + 1\", from = \"rank - 1\" }");

TEST_P(Executors, EachCollectiveDoesWhatItSays) {
  expect_none(on_ranks(3, [](const Device& device, const World& world) {
    Bindings bindings;
    bindings.inputs.emplace_back("x",
                                 array<std::int32_t>(DType::kI32, {6}, {1, 2, 30, 40, 500, 600}));
    const Executable executable =
        ran(kAllCollectives, device, world, std::move(bindings), GetParam());
    const auto got = [&](const char* name) {
      return values<std::int32_t>(executable.output(name));
    };
    EXPECT_THAT(got("all"), ElementsAre(0, 1, 2, 30, 40, 500, 600));
    const std::vector<std::vector<std::int32_t>> parts = {{3, 6}, {90, 120}, {1500, 1800}};
    EXPECT_EQ(got("part"), parts[world.rank()]);
    EXPECT_THAT(got("root"), ElementsAre(500, 600));
    EXPECT_EQ(got("greatest")[1], 600);
    const std::vector<std::vector<std::int32_t>> left = {{0, 0, 0}, {0, 1, 2}, {0, 30, 40}};
    EXPECT_EQ(got("left"), left[world.rank()]);
  }));
}

TEST_P(Executors, WithOneRankACollectiveIsACopyOrNothing) {
  Bindings bindings;
  bindings.inputs.emplace_back("x", array<std::int32_t>(DType::kI32, {2}, {1, 2}));
  const Executable executable =
      ran(kAllCollectives, device_of(0), World(), std::move(bindings), GetParam());
  const auto got = [&](const char* name) { return values<std::int32_t>(executable.output(name)); };
  EXPECT_THAT(got("all"), ElementsAre(0, 1, 2));
  EXPECT_THAT(got("part"), ElementsAre(1, 2));
  EXPECT_THAT(got("root"), ElementsAre(1, 2));
  EXPECT_THAT(got("greatest"), ElementsAre(1, 2));
  EXPECT_THAT(got("left"), ElementsAre(0, 0, 0));
}

// Kernels before and after a collective, in loops, and run after run.
TEST_P(Executors, CollectivesKeepTheOrderOfTheSteps) {
  const std::string text =
      kWorld + buffer("x", "i32", "[4]", "state", "ones") + kernel("add") +
      step(
          "repeat = 3\nindex = \"i\"\nsteps = [ "
          "{ launch = \"add\", grid = [1], block = [4], args = [\"x\", \"i + rank\", 4] }, "
          "{ all_reduce = { buffer = \"x + i\", op = \"sum\", count = 1 } } ]");
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    Executable executable = ran(text, device, world, {}, GetParam());
    // Element 0: (1 + 0) + (1 + 1) = 3, then + 1 + rank, and + 2 + rank; and so on.
    const int rank = static_cast<int>(world.rank());
    EXPECT_THAT(values<std::int32_t>(executable.output("x")),
                ElementsAre(6 + 2 * rank, 8 + rank, 11, 4 + 3 * rank));
    executable.run();
    const Stream stream(device);
    executable.enqueue(stream);
    executable.enqueue(stream);
    executable.wait(stream);
    EXPECT_GT(values<std::int32_t>(executable.contents("x"))[2], 100);
  }));
}

// All ranks fail alike at the same time, and which is the first is open.
void expect_all(const std::vector<std::optional<Error>>& failures, ErrorCode code,
                const std::string& text) {
  for (const auto& failure : failures) {
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->code(), code);
    EXPECT_THAT(failure->message(), HasSubstr(text));
  }
}

TEST(Collectives, NcclNeedsGpus) {
  const std::string text =
      kWorld + buffer("x", "f32", "[4]", "inout", "ones") + step("all_reduce = { buffer = \"x\" }");
  const auto failures = on_ranks(2, [&](const Device& device, const World& world) {
    Bindings bindings;
    bindings.collectives = CollectiveExecutor::kNccl;
    ran(text, device, world, std::move(bindings));
  });
  expect_all(failures, ErrorCode::kUnsupported,
             "NCCL works between GPUs, and the device is simulated");
}

// Sums by kernels between peers, in a loop and run after run, with a step that the host exchanges.
TEST_P(Executors, PeersReduceToTheBitsOfTheHost) {
  const std::string text =
      kWorld + buffer("x", "f32", "[1000]", "inout", "random") + "shard = { axis = 0 }\n" +
      buffer("half", "bf16", "[\"64 * ranks\"]", "inout", "random") + "shard = { axis = 0 }\n" +
      buffer("n", "i16", "[4]", "output", "ones") + buffer("best", "u64", "[1]", "inout", "ones") +
      step(
          "repeat = 3\nindex = \"i\"\nsteps = [ "
          "{ all_reduce = { buffer = \"x + i\", op = \"sum\", count = \"997 - i\" } } ]") +
      step("all_reduce = { buffer = \"half\", op = \"max\" }") +
      step("all_reduce = { buffer = \"best\", op = \"max\" }") +
      step("all_reduce = { buffer = \"n\" }");
  for (const std::uint32_t ranks : {2u, 3u}) {
    expect_none(on_ranks(ranks, [&](const Device& device, const World& world) {
      const auto bytes_by = [&](CollectiveExecutor by) {
        Bindings bindings;
        bindings.collectives = by;
        Executable executable = ran(text, device, world, std::move(bindings), GetParam());
        EXPECT_EQ(executable.report().findings.size(), 0u);
        EXPECT_THAT(executable.report().warnings, ::testing::IsEmpty());
        executable.run();
        if (by == CollectiveExecutor::kPeer) {
          EXPECT_EQ(executable.report().collectives->executor, "peer");
          EXPECT_THAT(executable.report().collectives->host_steps, ElementsAre(HasSubstr("(i16)")));
        }
        EXPECT_THAT(values<std::int16_t>(executable.output("n")),
                    Each(static_cast<std::int16_t>(world.ranks())));
        return executable.output("x").bytes + executable.output("half").bytes;
      };
      EXPECT_TRUE(bytes_by(CollectiveExecutor::kPeer) == bytes_by(CollectiveExecutor::kHost));
    }));
  }
}

// On a GPU, kernels of two programs that wait for other ranks may leave each other no room.
TEST_P(Executors, ATimeOutNamesOtherProgramsWithPeers) {
  const std::string text = kWorld + buffer("x", "f32", "[64]", "inout", "ones") +
                           step("all_reduce = { buffer = \"x\" }");
  for (const std::size_t programs : {1u, 2u}) {
    const Error told = one_error(on_ranks(2, [&](const Device& device, const World& world) {
      std::vector<Executable> all;
      for (std::size_t i = 0; i < programs; ++i) {
        PrepareOptions options;
        options.executor = GetParam();
        all.push_back(Executable::prepare(program(text), device, options));
        Bindings bindings = bindings_of(world);
        bindings.collectives = CollectiveExecutor::kPeer;
        all.back().bind(std::move(bindings));
      }
      if (world.rank() == 0)
        all[0].run({.timeout = std::chrono::milliseconds(200)});
      else
        world.meet("the end of rank 0");
    }));
    EXPECT_EQ(told.code(), ErrorCode::kTimeout);
    const auto is_named = [](const std::string& note) {
      return note.find("2 programs of this process have kernels between peers") == 0;
    };
    EXPECT_EQ(std::ranges::count_if(told.notes(), is_named), programs == 2 ? 1 : 0);
  }
}

// Rank 1 ends before it comes to the all-reduce for which rank 0 waits on its device.
TEST_P(Executors, AKernelBetweenPeersEndsWithTheRun) {
  const std::string text =
      kWorld + buffer("x", "f32", "[4]", "inout", "ones") + step("all_reduce = { buffer = \"x\" }");
  const auto failures = on_ranks(2, [&](const Device& device, const World& world) {
    Bindings bindings;
    bindings.collectives = CollectiveExecutor::kPeer;
    PrepareOptions options;
    options.executor = GetParam();
    Executable executable = Executable::prepare(program(text), device, options);
    bindings.world = world;
    executable.bind(std::move(bindings));
    if (world.rank() == 1) throw Error(ErrorCode::kInvalidInput, "rank 1 has had enough");
    executable.run();
  });
  for (const auto& failure : failures) {
    ASSERT_TRUE(failure);
    EXPECT_THAT(failure->message(), HasSubstr("rank 1: an error ended it between its collectives"));
  }
}

TEST(Collectives, TheReportSaysWhatExecutedThem) {
  const std::string text =
      kWorld + buffer("x", "f32", "[4]", "inout", "ones") + step("all_reduce = { buffer = \"x\" }");
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    Executable executable = ran(text, device, world);
    ASSERT_TRUE(executable.report().collectives);
    EXPECT_EQ(executable.report().collectives->executor, "host");
    EXPECT_THAT(executable.report().collectives->reason, HasSubstr("is simulated"));
    // The choice of the first bind stays.
    executable.bind(bindings_of(world));
  }));
  const auto failures = on_ranks(2, [&](const Device& device, const World& world) {
    Executable executable = ran(text, device, world);
    Bindings other = bindings_of(world);
    other.collectives = CollectiveExecutor::kHost;
    executable.bind(std::move(other));
  });
  expect_all(
      failures, ErrorCode::kInvalidInput,
      "was bound with collectives by auto, and this bind wants host; make another executable "
      "for that");
}

}  // namespace
}  // namespace baton::session_test::collectives_test
