#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "baton/buffer.h"
#include "driver/driver.h"
#include "runtime/context.h"
#include "session/test_program.h"

// Programs that are enqueued on the caller's stream, and what changes between two calls.

namespace baton::session_test::enqueue_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class EnqueueTest : public DeviceTest, public ::testing::WithParamInterface<ExecutorKind> {
 protected:
  Executable load(const Device& device, const std::string& text) {
    return Executable(LoadedProgram::load(program(text), device), GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Executors, EnqueueTest,
                         ::testing::Values(ExecutorKind::kStream, ExecutorKind::kGraph),
                         [](const auto& kind) {
                           return kind.param == ExecutorKind::kStream ? "Stream" : "Graph";
                         });

std::string step(const std::string& name, const std::string& args, const std::string& grid = "1",
                 const std::string& block = "32") {
  return "[[steps]]\nlaunch = \"" + name + "\"\ngrid = [" + grid + "]\nblock = [" + block +
         "]\nargs = [" + args + "]\n";
}

// x grows by A in each call, y is what x was before plus 1, and z is a copy of y.
const std::string kSteps = kernel("add") + edge_kernel("late") + step("late", "\"x\", \"y\"") +
                           step("add", "\"x\", \"A\", 32") +
                           "[[steps]]\ncopy = { from = \"y\", to = \"z\" }\n";
std::string counting(const std::string& role_of_x = "inout") {
  return "[symbols]\nA = 1\n" + buffer("x", "i32", "[32]", role_of_x, "zeros") +
         buffer("y", "i32", "[32]", "scratch") + buffer("z", "i32", "[32]", "output") + kSteps;
}

std::vector<int> read(const Executable& executable, const std::string& name, const Stream& stream) {
  const Memory& memory = executable.memory(name);
  std::vector<int> result(memory.bytes() / sizeof(int));
  memory.download(result.data(), memory.bytes(), 0, stream);
  stream.synchronize();
  return result;
}

void write(const Executable& executable, const std::string& name, const std::vector<int>& values,
           const Stream& stream) {
  executable.memory(name).upload(values.data(), values.size() * sizeof(int), 0, stream);
}

template <typename Call>
Error failure_of(Call&& call) {
  try {
    call();
  } catch (const Error& failure) {
    return failure;
  }
  ADD_FAILURE() << "did not throw";
  return Error(ErrorCode::kInternal, "");
}

TEST_P(EnqueueTest, KeepsBuffersFromOneCallToTheNext) {
  const Device device = open_device();
  Executable executable = load(device, counting());
  executable.bind();
  const Stream stream(device);
  for (int i = 0; i < 5; ++i) executable.enqueue(stream);
  EXPECT_THAT(read(executable, "x", stream), Each(5));
  EXPECT_THAT(read(executable, "z", stream), Each(5));
  write(executable, "x", std::vector<int>(32, 100), stream);
  executable.enqueue(stream);
  EXPECT_THAT(read(executable, "z", stream), Each(101));
  // A run begins anew, and calls after it go on from there.
  executable.run();
  EXPECT_THAT(values<int>(executable.output("z")), Each(1));
  executable.enqueue(stream);
  EXPECT_THAT(read(executable, "x", stream), Each(2));
}

TEST_P(EnqueueTest, TakesForeignStreams) {
  const Device device = open_device();
  Executable executable = load(device, counting());
  executable.bind();
  const Stream own(device), other(device);
  const Stream adopted = Stream::adopt(device, other.native());
  executable.enqueue(own);
  own.synchronize();
  executable.enqueue(adopted);
  EXPECT_THAT(read(executable, "x", adopted), Each(2));
}

TEST_P(EnqueueTest, NeedsABoundProgram) {
  const Device device = open_device();
  Executable executable = load(device, counting());
  const Stream stream(device);
  const Error failure = failure_of([&] { executable.enqueue(stream); });
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(failure.message(), HasSubstr("enqueue needs a bound program"));
  EXPECT_THAT(failure_of([&] { executable.set("A", 2); }).message(), HasSubstr("bind it first"));
  EXPECT_THAT(failure_of([&] { executable.memory("x"); }).message(),
              HasSubstr("the memory of x is known once the program is bound"));
}

TEST_P(EnqueueTest, AStreamOfAnotherDeviceIsRefused) {
  Executable executable = load(Device::open("sim:h200"), counting());
  executable.bind();
  const Stream foreign(Device::open("sim:h100"));
  const std::string text = "the program belongs to sim:h200 and the stream to sim:h100";
  EXPECT_THAT(failure_of([&] { executable.enqueue(foreign); }).message(), HasSubstr(text));
  EXPECT_THAT(failure_of([&] { executable.prepare(foreign); }).message(), HasSubstr(text));
  EXPECT_THAT(failure_of([&] { executable.initialise(foreign); }).message(), HasSubstr(text));
  const Stream own(executable.device());
  executable.enqueue(own);
  EXPECT_THAT(failure_of([&] { executable.enqueue(foreign); }).message(), HasSubstr(text));
  executable.enqueue(own);
  executable.wait(own);
  EXPECT_THAT(read(executable, "x", own), Each(2));
}

TEST_P(EnqueueTest, BindingAnewGivesFirstContents) {
  const Device device = open_device();
  Executable executable = load(device, counting());
  executable.bind();
  const Stream stream(device);
  executable.enqueue(stream);
  executable.bind();
  executable.enqueue(stream);
  EXPECT_THAT(read(executable, "x", stream), Each(1));
  executable.initialise(stream);
  EXPECT_THAT(read(executable, "x", stream), Each(0));
}

TEST_P(EnqueueTest, SymbolsHoldForLaterCalls) {
  const Device device = open_device();
  Executable executable = load(device, counting());
  executable.bind();
  const Stream stream(device);
  executable.enqueue(stream);
  executable.set("A", 10);
  executable.enqueue(stream);
  executable.set({{"A", 100}});
  executable.enqueue(stream);
  EXPECT_THAT(read(executable, "x", stream), Each(111));
  EXPECT_EQ(executable.symbols()[0].value, 100);
  EXPECT_EQ(executable.symbols()[0].source, "the call");
  const Error failure = failure_of([&] { executable.set("B", 1); });
  EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
  EXPECT_THAT(failure.message(), HasSubstr("has no symbol \"B\""));
}

// A grid that becomes empty changes the order of launches, so the tape is rebuilt.
TEST_P(EnqueueTest, SymbolsThatNeedANewTapeKeepMemory) {
  const Device device = open_device();
  Executable executable =
      load(device,
           "[symbols]\nG = 1\nR = 2\nN = 32\n" + buffer("x", "i32", "[\"N\"]", "inout", "zeros") +
               kernel("add") + step("add", "\"x\", 1, 32", "\"G\"") +
               "[[steps]]\nrepeat = \"R\"\nsteps = [{ launch = \"add\", grid = [1], block = "
               "[32], args = [\"x\", 10, 32] }]\n");
  executable.bind();
  const Stream stream(device);
  const DeviceAddress before = executable.memory("x").address();
  executable.enqueue(stream);
  executable.set("G", 0);
  executable.enqueue(stream);
  executable.set({{"R", 3}, {"G", 1}});
  executable.enqueue(stream);
  EXPECT_THAT(read(executable, "x", stream), Each(21 + 20 + 31));
  EXPECT_EQ(executable.memory("x").address(), before);
  const Error shape = failure_of([&] { executable.set("N", 64); });
  EXPECT_EQ(shape.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(shape.message(), HasSubstr("change the shape of the buffer x from [32] to [64]"));
  const Error negative = failure_of([&] { executable.set("R", -1); });
  EXPECT_EQ(negative.code(), ErrorCode::kInvalidInput);
  executable.enqueue(stream);
  EXPECT_THAT(read(executable, "x", stream), Each(72 + 31)) << "the old values stay";
}

TEST_P(EnqueueTest, MemoryIsReplaced) {
  const Device device = open_device();
  Executable executable = load(device, counting());
  const auto first = Buffer<int>::of(device, std::vector<int>(32, 50));
  const auto second = Buffer<int>::of(device, std::vector<int>(32, 70));
  const auto at = [](const Buffer<int>& buffer) {
    return DeviceArray{DType::kI32, {32}, buffer.memory().address()};
  };
  executable.bind();
  const Stream stream(device);
  executable.enqueue(stream);
  stream.synchronize();
  executable.set_memory("x", at(first));  // instead of its own
  executable.enqueue(stream);
  executable.set_memory("x", at(second));
  executable.enqueue(stream);
  executable.set("A", 5);  // written beside the address that moved
  executable.enqueue(stream);
  stream.synchronize();
  EXPECT_THAT(first.download(), Each(51));
  EXPECT_THAT(second.download(), Each(76));
  EXPECT_THAT(read(executable, "z", stream), Each(72));
  EXPECT_EQ(executable.array("x").address, second.memory().address());
  const Error shape = failure_of([&] {
    executable.set_memory("x", {DType::kI32, {16}, second.memory().address()});
  });
  EXPECT_THAT(shape.message(), HasSubstr("the memory for x is i32 [16], the bound program wants "
                                         "i32 [32]"));
  const Error dtype = failure_of([&] {
    executable.set_memory("x", {DType::kF32, {32}, second.memory().address()});
  });
  EXPECT_EQ(dtype.code(), ErrorCode::kInvalidInput);
  const Error align = failure_of([&] {
    executable.set_memory("x", {DType::kI32, {32}, second.memory().address() + 2});
  });
  EXPECT_EQ(align.code(), ErrorCode::kInvalidInput);
  executable.enqueue(stream);
  stream.synchronize();
  EXPECT_THAT(second.download(), Each(81)) << "the old memory stays";
}

// Offsets depend on symbols, and addresses on memory: each changes without the other.
TEST_P(EnqueueTest, MemoryMovesUnderOffsets) {
  const Device device = open_device();
  Executable executable =
      load(device, "[symbols]\nO = 0\n" + buffer("x", "i32", "[64]", "inout", "zeros") +
                       kernel("add") + step("add", "\"x + O\", 1, 8"));
  const auto first = Buffer<int>::of(device, std::vector<int>(64, 0));
  const auto second = Buffer<int>::of(device, std::vector<int>(64, 0));
  const auto at = [](const Buffer<int>& buffer) {
    return DeviceArray{DType::kI32, {64}, buffer.memory().address()};
  };
  executable.bind({.memory = {{"x", at(first)}}});
  const Stream stream(device);
  executable.set("O", 8);
  executable.enqueue(stream);
  executable.set_memory("x", at(second));
  executable.enqueue(stream);
  executable.set("O", 16);
  executable.enqueue(stream);
  stream.synchronize();
  std::vector<int> want(64, 0);
  std::fill(want.begin() + 8, want.begin() + 16, 1);
  EXPECT_EQ(first.download(), want);
  std::fill(want.begin() + 16, want.begin() + 24, 1);
  EXPECT_EQ(second.download(), want);
}

// The second launch reads w before its wait, while the first still writes z.
TEST_P(EnqueueTest, MemoryThatOverlapsChangesVerdicts) {
  const Device device = open_device();
  Executable executable = load(
      device,
      buffer("w", "i32", "[4]", "weight", "ones") + buffer("x", "i32", "[4]", "input", "zeros") +
          buffer("y", "i32", "[4]", "output") + buffer("z", "i32", "[4]", "output") +
          edge_kernel("late") + edge_kernel("ahead") + step("late", "\"x\", \"z\"", "1", "4") +
          step("ahead", "\"w\", \"x\", \"y\"", "1", "4"));
  const auto both = Buffer<int>::of(device, std::vector<int>(8, 3));
  const DeviceAddress base = both.memory().address();
  const auto part = [&](std::size_t first) {
    return DeviceArray{DType::kI32, {4}, base + first * sizeof(int)};
  };
  executable.bind({.memory = {{"w", part(0)}, {"z", part(4)}}});
  EXPECT_TRUE(executable.edges()[0].programmatic);
  executable.set_memory("z", part(2));
  EXPECT_FALSE(executable.edges()[0].programmatic);
  const Stream stream(device);
  executable.enqueue(stream);
  EXPECT_EQ(read(executable, "y", stream), (std::vector<int>{3, 3, 1, 1}));
  executable.set_memory("z", part(4));
  EXPECT_TRUE(executable.edges()[0].programmatic);
}

TEST_P(EnqueueTest, ACaptureGetsTheStepsAsNodes) {
  const Device device = open_device();
  const driver::Driver& driver = device.driver();
  Executable executable =
      load(device, buffer("x", "i32", "[32]", "inout", "zeros") +
                       buffer("y", "i32", "[32]", "inout", "zeros") + edge_kernel("late") +
                       step("late", "\"x\", \"y\"") + step("late", "\"y\", \"x\""));
  executable.bind();
  const Stream stream(device);
  const ContextGuard guard(device);
  const auto begin = [&] {
    BATON_DRIVER_CALL(driver, cuStreamBeginCapture, stream.native(),
                      CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  };
  const auto end = [&] {
    CUgraph graph = nullptr;
    BATON_DRIVER_CALL(driver, cuStreamEndCapture, stream.native(), &graph);
    return graph;
  };
  begin();
  const Error early = failure_of([&] { executable.enqueue(stream); });
  EXPECT_THAT(early.message(), HasSubstr("initialise the program before the capture begins"));
  driver.cuGraphDestroy(end());

  executable.initialise(stream);
  begin();
  executable.enqueue(stream);
  CUgraph graph = end();
  std::size_t nodes = 0, edges = 0;
  BATON_DRIVER_CALL(driver, cuGraphGetNodes, graph, nullptr, &nodes);
  EXPECT_EQ(nodes, 2u);
  BATON_DRIVER_CALL(driver, cuGraphGetEdges, graph, nullptr, nullptr, nullptr, &edges);
  ASSERT_EQ(edges, 1u);
  CUgraphNode from = nullptr, to = nullptr;
  CUgraphEdgeData data{};
  BATON_DRIVER_CALL(driver, cuGraphGetEdges, graph, &from, &to, &data, &edges);
  const bool programmatic = executable.edges()[0].programmatic;
  EXPECT_EQ(data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, programmatic);
  CUgraphExec exec = nullptr;
  BATON_DRIVER_CALL(driver, cuGraphInstantiateWithFlags, &exec, graph, 0);
  for (int i = 0; i < 3; ++i) BATON_DRIVER_CALL(driver, cuGraphLaunch, exec, stream.native());
  EXPECT_THAT(read(executable, "x", stream), Each(6));
  driver.cuGraphExecDestroy(exec);
  driver.cuGraphDestroy(graph);
}

TEST_P(EnqueueTest, InstancesRunInThreadsAndShareAProgram) {
  const Device device = open_device();
  const LoadedProgram loaded = LoadedProgram::load(program(counting()), device);
  std::vector<std::thread> threads;
  std::vector<std::vector<int>> results(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Executable executable(loaded, GetParam());
      executable.bind({.symbols = {{"A", t + 1}}});
      const Stream stream(device);
      for (int i = 0; i < 20; ++i) executable.enqueue(stream);
      results[static_cast<std::size_t>(t)] = read(executable, "x", stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) {
    EXPECT_THAT(results[static_cast<std::size_t>(t)], Each(20 * (t + 1)));
  }
}

TEST_P(EnqueueTest, InstancesShareTheMemoryOfWeights) {
  const Device device = open_device();
  const LoadedProgram loaded = LoadedProgram::load(
      program(buffer("w", "i32", "[32]", "weight", "ones") + buffer("y", "i32", "[32]", "output") +
              edge_kernel("late") + step("late", "\"w\", \"y\"")),
      device);
  Executable first(loaded, GetParam()), second(loaded, GetParam());
  first.bind();
  second.bind({.memory = {{"w", first.array("w")}}});
  EXPECT_EQ(second.memory("w").address(), first.memory("w").address());
  const Stream stream(device);
  write(first, "w", std::vector<int>(32, 41), stream);
  second.enqueue(stream);
  EXPECT_THAT(read(second, "y", stream), Each(42));
}

// The progress callback is called from inside of `run`, as another thread's call would come.
TEST_P(EnqueueTest, OverlappingCallsAreRefused) {
  const Device device = open_device();
  Executable executable = load(device, counting());
  executable.bind();
  const Stream stream(device);
  std::string message;
  RunOptions options;
  options.after_run = [&](std::uint64_t) {
    message = failure_of([&] { executable.enqueue(stream); }).message();
  };
  executable.run(options);
  EXPECT_THAT(message, StartsWith("enqueue() of the bound program"));
  EXPECT_THAT(message, HasSubstr("while another call of it goes on"));
  executable.enqueue(stream);  // after it, all is well
  stream.synchronize();
}

TEST_P(EnqueueTest, AStateKeepsWhatStepsWrite) {
  const Device device = open_device();
  Executable executable = load(device, counting("state"));
  executable.run();
  EXPECT_THAT(values<int>(executable.output("x")), Each(1));
  executable.run({.repeat = 2});
  EXPECT_THAT(values<int>(executable.output("x")), Each(2)) << "of the first of the two";
  const Stream stream(device);
  executable.enqueue(stream);
  EXPECT_THAT(read(executable, "x", stream), Each(4));
  executable.bind({.symbols = {{"A", 10}}});
  executable.enqueue(stream);
  EXPECT_THAT(read(executable, "x", stream), Each(14)) << "a binding keeps it";
  executable.reset("x", stream);
  executable.enqueue(stream);
  EXPECT_THAT(read(executable, "x", stream), Each(10));
  executable.bind({.inputs = {{"x", array(DType::kI32, {32}, std::vector<int>(32, 1000))}}});
  executable.enqueue(stream);
  EXPECT_THAT(read(executable, "x", stream), Each(1001)) << "an input replaces it";
  executable.reset("x", stream);
  EXPECT_THAT(read(executable, "x", stream), Each(1000));
  EXPECT_THAT(failure_of([&] { executable.reset("z", stream); }).message(),
              HasSubstr("the buffer z has the role output"));
}

// The contents that a state once got do not fit its next shape, and are not its contents then.
TEST_P(EnqueueTest, AStateOfAnotherShapeBeginsAnew) {
  const Device device = open_device();
  Executable executable =
      load(device, "[symbols]\nN = 32\n" + buffer("x", "i32", "[\"N\"]", "state", "ones") +
                       kernel("add") + step("add", "\"x\", 1, \"N\"", "\"ceildiv(N, 32)\""));
  for (const std::int64_t n : {16, 64, 8}) {
    executable.bind({.inputs = {{"x", array(DType::kI32, {32}, std::vector<int>(32, 1000))}}});
    executable.run();
    EXPECT_THAT(values<int>(executable.output("x")), Each(1001));
    executable.bind({.symbols = {{"N", n}}});
    executable.run();
    EXPECT_EQ(values<int>(executable.output("x")).size(), static_cast<std::size_t>(n));
    EXPECT_THAT(values<int>(executable.output("x")), Each(2)) << n;
  }
}

TEST_P(EnqueueTest, AFaultNamesItsLaunch) {
  const Device device = open_device();
  if (!is_simulated(device)) GTEST_SKIP() << "a fault breaks a GPU's context";
  Executable executable =
      load(device, "[symbols]\nI = 0\n" + buffer("y", "f32", "[64]", "inout", "zeros") +
                       kernel("out_of_bounds") + step("out_of_bounds", "\"y\", \"I\"", "1", "1"));
  executable.bind();
  const Stream stream(device);
  executable.enqueue(stream);
  executable.wait(stream);
  executable.set("I", 64);
  executable.enqueue(stream);
  const Error failure = failure_of([&] { executable.wait(stream); });
  EXPECT_EQ(failure.code(), ErrorCode::kFault);
  EXPECT_THAT(failure.message(), StartsWith("launch 0 (out_of_bounds), at test.toml:"));
  EXPECT_THAT(failure.message(), HasSubstr("past the end of buffer y (f32 [64]"));
}

// Of a run that does not end in time.
Error time_out_of(Executable& executable, const Stream& stream) {
  executable.enqueue(stream);
  Error failure =
      failure_of([&] { executable.wait(stream, {.timeout = std::chrono::duration<double>(0.1)}); });
  EXPECT_EQ(failure.code(), ErrorCode::kTimeout);
  return failure;
}

TEST_P(EnqueueTest, AWaitHasATimeLimit) {
  const Device device = open_device();
  if (!is_simulated(device)) GTEST_SKIP() << "the kernel would never end";
  Executable executable = load(device, buffer("flag", "i32", "[1]", "inout", "ones") +
                                           kernel("spin") + step("spin", "\"flag\"", "1", "1"));
  executable.bind();
  const Stream stream(device);
  const Error failure = time_out_of(executable, stream);
  EXPECT_THAT(failure.notes(), Contains(StartsWith("the first step that did not end: launch 0 "
                                                   "(spin), at test.toml:")));
  EXPECT_THAT(failure.notes(), Contains(HasSubstr("kernels.cu:")));
}

TEST_P(EnqueueTest, ATimeOutNamesTheStepsThatDidNotEnd) {
  const Device device = open_device();
  if (!is_simulated(device)) GTEST_SKIP() << "the kernel would never end";
  Executable executable = load(
      device, buffer("flag", "i32", "[1]", "inout", "ones") +
                  buffer("x", "i32", "[4]", "inout", "zeros") + kernel("add") + kernel("spin") +
                  step("add", "\"x\", 1, 4", "1", "4") +
                  "[[steps]]\nrepeat = 3\nindex = \"i\"\nsteps = [ { launch = \"add\", grid = [1], "
                  "block = [4], args = [\"x\", \"i\", 4] }, { launch = \"spin\", grid = [1], "
                  "block = [1], args = [\"flag\"] } ]\n" +
                  step("add", "\"x\", 1, 4", "1", "4"));
  executable.bind();
  const Stream stream(device);
  const Error failure = time_out_of(executable, stream);
  EXPECT_THAT(failure.notes(), Contains(StartsWith("the first step that did not end: launch 2 "
                                                   "(spin), i = 0, at test.toml:")));
}

TEST_P(EnqueueTest, ATimeOutByWorkOfOthersNamesNoStep) {
  const Device device = open_device();
  if (!is_simulated(device)) GTEST_SKIP() << "the kernel would never end";
  Executable other = load(device, buffer("flag", "i32", "[1]", "inout", "ones") + kernel("spin") +
                                      step("spin", "\"flag\"", "1", "1"));
  Executable executable = load(device, buffer("x", "i32", "[4]", "inout", "zeros") + kernel("add") +
                                           step("add", "\"x\", 1, 4", "1", "4"));
  const Stream stream(device);
  other.bind();
  executable.bind();
  executable.initialise(stream);
  other.enqueue(stream);
  const Error failure = time_out_of(executable, stream);
  EXPECT_THAT(failure.notes(), Contains(StartsWith("no launch of the program ran")));
}

}  // namespace
}  // namespace baton::session_test::enqueue_test
