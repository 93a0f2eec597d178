#include "baton/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "baton/graph.h"
#include "session/world/test_ranks.h"

// Programs of several ranks: shards, what ranks must have in common, and how their runs end.
namespace baton::session_test::world_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Contents are those of one rank, cut: random numbers, counts and files.
TEST(World, PartsOfAShardedBufferAreThoseOfTheWhole) {
  for (const std::string init : {"random", "arange", "ones"}) {
    for (const int axis : {0, 1, 2}) {
      std::vector<std::string> shape = {"4", "6", "2"};
      shape[axis] = "\"" + shape[axis] + " / ranks\"";
      const std::string text =
          kWorld +
          buffer("x", "f32", "[" + shape[0] + ", " + shape[1] + ", " + shape[2] + "]", "inout",
                 init) +
          "shard = { axis = " + std::to_string(axis) + " }\n" +
          buffer("y", "f32", "[1]", "scratch") + step("fill = { buffer = \"y\", value = 0 }");
      const Array whole = ran(text, device_of(0), World()).output("x");
      EXPECT_EQ(whole.shape, (std::vector<std::int64_t>{4, 6, 2}));
      expect_none(on_ranks(2, [&](const Device& device, const World& world) {
        Executable executable = ran(text, device, world);
        EXPECT_EQ(executable.whole_shape("x"), whole.shape);
        EXPECT_EQ(executable.output("x").bytes.size(), whole.bytes.size() / 2);
        executable.gather_outputs();
        if (world.rank() != 0) return;
        EXPECT_EQ(executable.output("x").shape, whole.shape);
        EXPECT_EQ(executable.output("x").bytes, whole.bytes);
      }));
    }
  }
}

TEST(World, TheShapeOfAWholeInputDecidesSymbols) {
  const std::string text = kWorld + "[symbols]\nN = 1\n" + buffer("x", "f32", "[\"N\"]", "inout") +
                           "shard = { axis = 0 }\n" + step("all_reduce = { buffer = \"x\" }");
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    Bindings bindings;
    bindings.inputs.emplace_back("x", array<float>(DType::kF32, {6}, {1, 2, 3, 10, 20, 30}));
    const Executable executable = ran(text, device, world, std::move(bindings));
    EXPECT_THAT(values<float>(executable.output("x")), ElementsAre(11, 22, 33));
  }));
  // Each rank finds it by itself.
  for (const auto& failure : on_ranks(2, [&](const Device&device, const World&world) {
         Bindings bindings;
         bindings.inputs.emplace_back("x", array<float>(DType::kF32, {3}, {1, 2, 3}));
         ran(text, device, world, std::move(bindings));
       })) {
    ASSERT_TRUE(failure);
    EXPECT_THAT(
        failure->message(),
        HasSubstr("the input x: dimension 0 of the array is 3, which 2 ranks do not divide"));
  }
}

TEST(World, PartsThatLeaveElementsOutAreRefused) {
  const std::string part = kWorld + "[symbols]\nN = 7\n";
  const std::string reduce = step("all_reduce = { buffer = \"x\" }");
  const auto sharded = [&](const std::string& extent) {
    return part + buffer("x", "f32", "[\"" + extent + "\"]", "inout", "ones") +
           "shard = { axis = 0 }\n" + reduce;
  };
  for (const auto& failure : on_ranks(2, [&](const Device&device, const World&world) {
         ran(sharded("N / ranks"), device, world);
       })) {
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(failure->message(),
                HasSubstr("dimension 0 of buffer x is N / ranks, which leaves a "
                          "remainder of 1 (N = 7, ranks = 2)"));
  }
  // These say what becomes of the rest.
  for (const std::string extent : {"ceildiv(N, ranks)", "N / ranks + 1", "2*ranks / 3"}) {
    expect_none(on_ranks(
        2, [&](const Device& device, const World& world) { ran(sharded(extent), device, world); }));
  }
}

const std::string kSum = kWorld + "[symbols]\nN = 4\n" +
                         buffer("x", "f32", "[\"N\"]", "inout", "ones") +
                         step("all_reduce = { buffer = \"x\", op = \"sum\" }");

TEST(World, RanksWithOtherSymbolsAreRefused) {
  const Error failure = one_error(on_ranks(2, [](const Device& device, const World& world) {
    Bindings bindings;
    bindings.symbols = {{"N", world.rank() == 0 ? 4 : 8}};
    ran(kSum, device, world, std::move(bindings));
  }));
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_EQ(failure.message(),
            "the ranks disagree: rank 0 has the symbol N = 4, rank 1 has the symbol N = 8; start "
            "all ranks with the same program, symbols and options");
}

TEST(World, RanksWithOtherProgramsAreRefused) {
  const Error failure = one_error(on_ranks(2, [](const Device& device, const World& world) {
    std::string text = kSum;
    if (world.rank() == 1) text.replace(text.find("\"sum\""), 5, "\"max\"");
    ran(text, device, world);
  }));
  EXPECT_THAT(failure.message(),
              HasSubstr("rank 0 has the step at test.toml:9:1 = all_reduce x (sum of f32), rank 1 "
                        "has the step at test.toml:9:1 = all_reduce x (max of f32)"));
}

TEST(World, RanksOnOtherDevicesAreRefused) {
  const Error failure = one_error(on_ranks(2, [](const Device& device, const World& world) {
    ran(kSum, world.rank() == 0 ? device : Device::open("sim:h100"), world);
  }));
  EXPECT_THAT(failure.message(), HasSubstr("rank 1 has the device = Simulated NVIDIA H100"));
}

TEST(World, ANumberOfRanksIsHeld) {
  std::string text = kSum;
  text.replace(0, kWorld.size(), "[world]\nranks = 2\n");
  const Error failure = refused(text, bindings_of(World()));
  EXPECT_EQ(failure.message(),
            "test.toml takes 2 ranks, and this run has 1; start as many, by a list of devices or "
            "mpirun -n 2, or "
            "leave ranks out of [world]");
  expect_none(
      on_ranks(2, [&](const Device& device, const World& world) { ran(text, device, world); }));
}

TEST(World, AProgramWithoutAWorldIsNoneOfSeveralRanks) {
  const std::string text =
      buffer("x", "f32", "[4]", "output") + step("fill = { buffer = \"x\", value = 1 }");
  const Error failure = refused(text, bindings_of(World::of_threads(2)[0]));
  EXPECT_THAT(failure.message(), HasSubstr("has no world, and would run 2 times side by side"));
}

TEST(World, TheWorldDecidesItsSymbols) {
  Bindings bindings = bindings_of(World());
  bindings.symbols = {{"rank", 1}};
  EXPECT_THAT(refused(kSum, std::move(bindings)).message(),
              HasSubstr("the world sets the symbol rank, which is 0 here; give it no value"));
  Executable executable = ran(kSum, device_of(0), World());
  try {
    executable.set("ranks", 2);
    ADD_FAILURE() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.message(), "the world sets the symbol ranks, which is 1 here; leave it out");
  }
}

// Rank 1 comes to no collective, which its `go` decides: rank 0 waits for it there.
TEST(World, RanksThatComeToOtherStepsAreToldBoth) {
  const std::string text =
      kWorld + buffer("x", "f32", "[4]", "inout", "ones") + buffer("go", "i32", "[1]", "input") +
      "shard = { axis = 0 }\n" +
      step("if = { buffer = \"go\" }\nsteps = [ { all_reduce = { buffer = \"x\" } } ]");
  const Error failure = one_error(on_ranks(2, [&](const Device& device, const World& world) {
    Bindings bindings;
    bindings.inputs.emplace_back("go", array<std::int32_t>(DType::kI32, {2}, {1, 0}));
    Executable executable = ran(text, device, world, std::move(bindings));
    executable.gather_outputs();
  }));
  EXPECT_EQ(
      failure.message(),
      "the ranks disagree: rank 0 is at all_reduce x (sum of 4 f32), at test.toml:14:11, rank "
      "1 is at the end of the run; all ranks must come to the same collectives in the same "
      "order");
}

// A repeat of the rank's number: what each rank comes to is known when the program is bound.
TEST(World, RanksThatWouldComeToOtherStepsAreRefused) {
  const std::string text =
      kWorld + buffer("x", "f32", "[4]", "inout", "ones") +
      step("repeat = \"2 - rank\"\nsteps = [ { all_reduce = { buffer = \"x\" } } ]");
  const Error failure = one_error(on_ranks(2, [&](const Device& device, const World& world) {
    Executable executable = Executable::prepare(program(text), device);
    executable.bind(bindings_of(world));
  }));
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_EQ(failure.message(),
            "the ranks disagree: rank 0 has the step at test.toml:9:11 = all_reduce x (sum of 4 "
            "f32), 2 times, rank 1 has the step at test.toml:9:11 = all_reduce x (sum of 4 f32); "
            "all ranks must come to the same collectives in the same order");
}

TEST(World, RanksThatWaitForEachOtherAreFound) {
  const std::string text = kWorld + buffer("x", "f32", "[4]", "inout", "ones") +
                           step("receive = { buffer = \"x\", from = \"1 - rank\" }") +
                           step("send = { buffer = \"x\", to = \"1 - rank\" }");
  const Error failure = one_error(
      on_ranks(2, [&](const Device& device, const World& world) { ran(text, device, world); }));
  EXPECT_THAT(failure.message(), HasSubstr("the ranks wait for each other: rank 0 waits for rank 1 "
                                           "at receive x from 1 - rank (4 f32), at test.toml:7:1"));
}

// A fault on one rank, while the others wait in a collective or execute a kernel.
TEST(World, TheFaultOfOneRankEndsTheOthers) {
  const std::string text =
      kWorld + buffer("x", "f32", "[4]", "inout", "ones") +
      buffer("go", "i32", "[1]", "inout", "zeros") + kernel("out_of_bounds") + kernel("spin") +
      step(
          "launch = \"out_of_bounds\"\ngrid = [\"rank % 2\"]\nblock = [1]\nargs = [\"x\", "
          "1000000000]") +
      step("launch = \"spin\"\ngrid = [\"max(rank - 1, 0)\"]\nblock = [1]\nargs = [\"go\"]") +
      step("all_reduce = { buffer = \"x\" }");
  const auto failures =
      on_ranks(3, [&](const Device& device, const World& world) { ran(text, device, world); });
  const Error failure = one_error(failures);
  EXPECT_EQ(failure.code(), ErrorCode::kFault);
  EXPECT_THAT(failure.message(), HasSubstr("rank 1: "));
}

TEST(World, TheTimeLimitOfOneRankEndsTheOthers) {
  const std::string text =
      kWorld + buffer("x", "f32", "[4]", "inout", "ones") +
      buffer("go", "i32", "[1]", "inout", "zeros") + kernel("spin") +
      step("launch = \"spin\"\ngrid = [\"rank\"]\nblock = [1]\nargs = [\"go\"]") +
      step("all_reduce = { buffer = \"x\" }");
  const Error failure = one_error(on_ranks(2, [&](const Device& device, const World& world) {
    Executable executable = Executable::prepare(program(text), device);
    executable.bind(bindings_of(world));
    RunOptions options;
    if (world.rank() == 1) options.timeout = std::chrono::milliseconds(300);
    executable.run(options);
  }));
  EXPECT_EQ(failure.code(), ErrorCode::kTimeout);
  EXPECT_EQ(failure.message(), "rank 1: the run took longer than its limit of 300 ms");
}

TEST(World, AGraphTakesNoExchangeInsideOfAnIf) {
  const std::string text = kWorld + buffer("x", "f32", "[4]", "inout", "ones") +
                           buffer("go", "i32", "[1]", "input", "ones") +
                           step(
                               "if = { buffer = \"go\" }\nsteps = [ { all_reduce = { buffer = "
                               "\"x\" } } ]");
  // Each rank finds it by itself.
  for (const auto& failure : on_ranks(2, [&](const Device&device, const World&world) {
         ran(text, device, world, {}, ExecutorKind::kGraph);
       })) {
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), ErrorCode::kUnsupported);
    EXPECT_THAT(failure->message(), HasSubstr("use the stream executor"));
  }
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    const Executable executable = ran(text, device, world);
    EXPECT_THAT(values<float>(executable.output("x")), ElementsAre(2, 2, 2, 2));
  }));
}

TEST(World, ACaptureTakesNoExchange) {
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    Executable executable = ran(kSum, device, world);
    const Stream stream(device);
    try {
      Graph::capture(stream, [&] { executable.enqueue(stream); });
      ADD_FAILURE() << "was not refused";
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kUnsupported);
      EXPECT_THAT(failure.message(), HasSubstr("enqueue the program outside of the capture"));
    }
    world.meet("the end");
  }));
}

// Ranks may share one loaded program, and its weights but for the sharded ones.
TEST(World, RanksOfOneLoadedProgramHavePartsOfTheirOwn) {
  const std::string text = kWorld + buffer("w", "i32", "[2]", "weight", "arange") +
                           "shard = { axis = 0 }\n" + buffer("y", "i32", "[2]", "output") +
                           step("copy = { from = \"w\", to = \"y\" }");
  const Device device = device_of(0);
  const LoadedProgram loaded = LoadedProgram::load(program(text), device);
  const std::vector<World> worlds = World::of_threads(2);
  std::vector<std::thread> threads;
  for (const World& world : worlds) {
    threads.emplace_back([&] {
      Executable executable(loaded);
      executable.bind(bindings_of(world));
      executable.run();
      const int first = 2 * static_cast<int>(world.rank());
      EXPECT_THAT(values<std::int32_t>(executable.output("y")), ElementsAre(first, first + 1));
      world.meet("the end");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace baton::session_test::world_test
