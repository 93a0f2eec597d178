#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "baton/buffer.h"
#include "session/test_program.h"

// Setup steps: executed once for a binding, before any run.

namespace baton::session_test::setup_test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

using SetupTest = DeviceTest;

// The setup makes packed = raw + 1, and counts its executions in `times`.
const std::string kBuffers =
    "[symbols]\nA = 1\nB = 1\n" + buffer("raw", "i32", "[32]", "weight", "ones") +
    buffer("packed", "i32", "[32]", "weight") + buffer("times", "i32", "[32]", "state", "zeros") +
    buffer("x", "i32", "[32]", "inout", "zeros") + buffer("y", "i32", "[32]", "output");
const std::string kKernels = edge_kernel("late") + kernel("add");
const std::string kSetup = R"toml(
[[setup]]
launch = "late"
grid = [1]
block = [32]
args = ["raw", "packed"]

[[setup]]
launch = "add"
grid = [1]
block = [32]
args = ["times", "A", 32]
)toml";
const std::string kSteps = R"toml(
[[steps]]
launch = "late"
grid = [1]
block = [32]
args = ["packed", "y"]

[[steps]]
launch = "add"
grid = [1]
block = [32]
args = ["x", "B", 32]
)toml";

Executable load(const Device& device, const std::string& text) {
  return Executable::prepare(program(text), device);
}

std::vector<int> read(const Executable& executable, const std::string& name) {
  const Memory& memory = executable.memory(name);
  std::vector<int> result(memory.bytes() / sizeof(int));
  const Stream stream(memory.device());
  memory.download(result.data(), memory.bytes(), 0, stream);
  stream.synchronize();
  return result;
}

TEST_F(SetupTest, IsExecutedOnceForABinding) {
  const Device device = open_device();
  Executable executable = load(device, kBuffers + kKernels + kSetup + kSteps);
  executable.run();
  executable.run({.repeat = 3});
  EXPECT_THAT(values<int>(executable.output("y")), Each(3));
  EXPECT_THAT(read(executable, "times"), Each(1));
  executable.bind({.symbols = {{"B", 5}}});
  executable.run();
  EXPECT_THAT(read(executable, "times"), Each(1)) << "nothing that the setup uses has changed";
  executable.bind({.symbols = {{"A", 10}}});
  EXPECT_THAT(read(executable, "times"), Each(11));
  executable.bind({.symbols = {{"A", 10}},
                   .inputs = {{"raw", array(DType::kI32, {32}, std::vector<int>(32, 40))}}});
  EXPECT_THAT(read(executable, "times"), Each(21));
  executable.run();
  EXPECT_THAT(values<int>(executable.output("y")), Each(42));
}

TEST_F(SetupTest, MakesWeightsForEdges) {
  const Device device = open_device();
  // `ahead` reads packed before its wait, which is safe: only the setup writes it.
  const std::string steps = R"toml(
[[steps]]
launch = "add"
grid = [1]
block = [32]
args = ["x", 1, 32]

[[steps]]
launch = "ahead"
grid = [1]
block = [32]
args = ["packed", "x", "y"]
)toml";
  Executable executable = load(device, kBuffers + kKernels + edge_kernel("ahead") + kSetup + steps);
  executable.run();
  EXPECT_EQ(executable.edges()[0].verdict, EdgeVerdict::kProven) << executable.edges()[0].reason;
  EXPECT_THAT(values<int>(executable.output("y")), Each(1 + 2));
}

TEST_F(SetupTest, ChangesNeedABinding) {
  const Device device = open_device();
  Executable executable = load(device, kBuffers + kKernels + kSetup + kSteps);
  executable.bind();
  executable.set("B", 3);
  const auto message = [&](auto&& call) -> std::string {
    try {
      call();
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
      return failure.message();
    }
    return "";
  };
  EXPECT_THAT(message([&] { executable.set("A", 3); }),
              HasSubstr("setup steps depend on the symbol A"));
  const Buffer<int> other(device, 32);
  EXPECT_THAT(message([&] {
                executable.set_memory("raw", {DType::kI32, {32}, other.memory().address()});
              }),
              HasSubstr("setup steps use the buffer raw"));
}

TEST_F(SetupTest, UsesOnlyWhatExistsBeforeRuns) {
  const auto message = [](const std::string& setup) -> std::string {
    return refusal(kBuffers + kKernels + setup + kSteps).what();
  };
  EXPECT_THAT(message("[[setup]]\nfill = { buffer = \"x\", value = 1 }\n"),
              HasSubstr("a setup step uses the buffer x of role inout, which has no contents when "
                        "the program is bound; weight, scratch, state and cache buffers have"));
  EXPECT_THAT(message("[[setup]]\nfill = { buffer = \"raw\", value = 1 }\n"),
              HasSubstr("fill in the setup writes raw, a weight that has an init"));
  EXPECT_THAT(message("[[setup]]\nlaunch = \"add\"\ngrid = [1]\nblock = [32]\nargs = [\"no\", 1, "
                      "32]\n"),
              HasSubstr("\"no\" is not a buffer"));
  EXPECT_THAT(message(""), HasSubstr("nothing initialises the buffer packed of role weight"));
}

TEST_F(SetupTest, MayNotWriteWeightsThatHaveContents) {
  const Error failure = refusal(kBuffers + kKernels + kSetup +
                                "[[setup]]\nlaunch = \"add\"\ngrid = [1]\nblock = [32]\nargs = "
                                "[\"raw\", 1, 32]\n" +
                                kSteps);
  EXPECT_EQ(failure.code(), ErrorCode::kFault);
  EXPECT_THAT(std::string(failure.what()), HasSubstr("raw"));
}

TEST_F(SetupTest, IsCheckedWithTheProgram) {
  const Device device = open_device();
  const Executable executable = load(device, kBuffers + kKernels + kSetup + kSteps);
  EXPECT_FALSE(executable.loaded().check().objection);
  const Error failure =
      refusal(kBuffers + kKernels +
              "[[setup]]\nlaunch = \"late\"\ngrid = [1]\nblock = [2048]\nargs = [\"raw\", "
              "\"packed\"]\n" +
              kSteps);
  EXPECT_EQ(failure.code(), ErrorCode::kLimit);
}

TEST_F(SetupTest, IsBuiltInCpp) {
  const Device device = open_device();
  const Program read_program = program(kBuffers + kKernels + kSetup + kSteps);
  ProgramBuilder builder(read_program.name());
  for (const ProgramSymbol& symbol : read_program.symbols()) {
    builder.symbol(symbol.name, symbol.value);
  }
  for (const ProgramBuffer& each : read_program.buffers()) builder.buffer(each);
  for (const ProgramKernel& each : read_program.kernels()) builder.kernel(each);
  builder.setup([&] {
    for (const ProgramStep& step : read_program.setup()) {
      builder.launch(std::get<LaunchStep>(step.action));
    }
  });
  for (const ProgramStep& step : read_program.steps()) {
    builder.launch(std::get<LaunchStep>(step.action));
  }
  EXPECT_EQ(builder.build(), read_program);
}

TEST_F(SetupTest, HasATimeLimit) {
  const Device device = open_device();
  if (!is_simulated(device)) GTEST_SKIP() << "the kernel would never end";
  Executable executable =
      load(device, buffer("flag", "i32", "[1]", "weight", "ones") +
                       buffer("y", "i32", "[1]", "output") + kernel("spin") +
                       "[[setup]]\nlaunch = \"spin\"\ngrid = [1]\nblock = [1]\nargs = "
                       "[\"flag\"]\n[[steps]]\nfill = { buffer = \"y\", value = 1 }\n");
  try {
    executable.bind({.setup = {.timeout = std::chrono::duration<double>(0.1)}});
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kTimeout);
    EXPECT_THAT(failure.what(), HasSubstr("in the setup of"));
    EXPECT_THAT(failure.what(), HasSubstr("the first step that did not end: launch 0 (spin), at "
                                          "test.toml:"));
  }
}

}  // namespace
}  // namespace baton::session_test::setup_test
