#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "baton/buffer.h"
#include "session/test_program.h"

// Buffers of a program in memory of the caller's. The kernels are those of testdata/edges.cu: each
// adds 1 to what it reads.

namespace baton::session_test::given_memory_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using GivenMemory = DeviceTest;

const std::string kBuffers = "[symbols]\nN = 64\n" + buffer("w", "i32", "[4]", "weight", "ones") +
                             buffer("x", "i32", "[\"N\"]", "input", "zeros") +
                             buffer("y", "i32", "[\"N\"]", "output") +
                             buffer("z", "i32", "[\"N\"]", "output");

std::string launch(const std::string& kernel, const std::string& args,
                   const std::string& block = "\"N\"") {
  return "[[steps]]\nlaunch = \"" + kernel + "\"\ngrid = [1]\nblock = [" + block + "]\nargs = [" +
         args + "]\n";
}

const std::string kLate =
    edge_kernel("late") + launch("late", "\"x\", \"y\"") + launch("late", "\"y\", \"z\"");
// The weight w is read before the wait, while the first launch still writes z.
const std::string kAhead = edge_kernel("late") + edge_kernel("ahead") +
                           launch("late", "\"x\", \"z\"", "4") +
                           launch("ahead", "\"w\", \"x\", \"y\"", "4");

Executable prepare(const Device& device, const std::string& text,
                   ExecutorKind executor = ExecutorKind::kStream) {
  PrepareOptions options;
  options.executor = executor;
  return Executable::prepare(program(kBuffers + text), device, options);
}

DeviceArray array(const Buffer<int>& buffer, std::size_t first, std::int64_t count) {
  return {DType::kI32, {count}, buffer.memory().address() + first * sizeof(int)};
}

Error refusal(const std::string& text, Bindings bindings) {
  const Device device = open_device();
  Executable executable = prepare(device, text);
  try {
    executable.bind(std::move(bindings));
  } catch (const Error& failure) {
    return failure;
  }
  ADD_FAILURE() << "was not refused";
  return Error(ErrorCode::kInternal, "");
}

TEST_F(GivenMemory, IsReadAndWrittenInPlace) {
  const Device device = open_device();
  for (const ExecutorKind executor : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    const auto x = Buffer<int>::of(device, std::vector<int>(8, 5));
    const auto z = Buffer<int>::of(device, std::vector<int>(8, -1));
    Executable executable = prepare(device, kLate, executor);
    executable.bind({.memory = {{"x", array(x, 0, 8)}, {"z", array(z, 0, 8)}}});
    EXPECT_EQ(executable.symbols()[0].value, 8);
    EXPECT_EQ(executable.symbols()[0].source, "the shape of the memory for x");
    executable.run();
    EXPECT_THAT(z.download(), Each(7));
    EXPECT_THAT(values<int>(executable.output("y")), Each(6)) << "its own";
    // Nothing initialises it again.
    x.upload(std::vector<int>(8, 10));
    executable.run();
    EXPECT_THAT(z.download(), Each(12));
    // And another binding takes its place.
    const auto other = Buffer<int>::of(device, std::vector<int>(8, 20));
    executable.bind({.memory = {{"x", array(other, 0, 8)}, {"z", array(z, 0, 8)}}});
    executable.run();
    EXPECT_THAT(z.download(), Each(22));
    EXPECT_THAT(x.download(), Each(10));
    try {
      executable.output("z");
      FAIL();
    } catch (const Error& failure) {
      EXPECT_THAT(failure.what(), HasSubstr("the output z is in the memory that it was given"));
    }
  }
}

TEST_F(GivenMemory, ThatDoesNotOverlapLeavesVerdictsAsTheyAre) {
  const Device device = open_device();
  const auto both = Buffer<int>::of(device, std::vector<int>(8, 3));
  Executable executable = prepare(device, kAhead);
  executable.bind(
      {.symbols = {{"N", 4}}, .memory = {{"w", array(both, 0, 4)}, {"z", array(both, 4, 4)}}});
  EXPECT_EQ(executable.edges()[0].verdict, EdgeVerdict::kProven);
  executable.run();
  EXPECT_THAT(values<int>(executable.output("y")), Each(3));
  EXPECT_THAT(both.download(), ElementsAre(3, 3, 3, 3, 1, 1, 1, 1));
}

TEST_F(GivenMemory, ThatOverlapsIsOneMemoryToTheVerdicts) {
  const Device device = open_device();
  const auto both = Buffer<int>::of(device, std::vector<int>(8, 3));
  Executable executable = prepare(device, kAhead);
  for (const std::size_t first : {0, 2}) {
    executable.bind({.symbols = {{"N", 4}},
                     .memory = {{"w", array(both, 0, 4)}, {"z", array(both, first, 4)}}});
    const EdgeReport& edge = executable.edges()[0];
    EXPECT_NE(edge.verdict, EdgeVerdict::kProven) << edge.reason;
    EXPECT_FALSE(edge.programmatic);
    EXPECT_THAT(edge.reason, HasSubstr("w and z"));
  }
  executable.run();
  EXPECT_THAT(both.download(), ElementsAre(3, 3, 1, 1, 1, 1, 3, 3));
  EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(3, 3, 1, 1));
  executable.bind({.symbols = {{"N", 4}}});
  EXPECT_EQ(executable.edges()[0].verdict, EdgeVerdict::kProven) << "each has its own again";
}

// A kernel is rewritten before anybody knows its memory: weights may be read before the wait that
// it is given. Where something writes them after all, the edge is full.
TEST_F(GivenMemory, ThatOverlapsAWeightUndoesWhatRewritingAssumed) {
  const Device device = open_device();
  const std::string text = edge_kernel("late") + edge_kernel("never") +
                           launch("late", "\"x\", \"z\"", "4") +
                           launch("never", "\"w\", \"y\"", "4");
  PrepareOptions options;
  options.rewrite = RewriteMode::kWait;
  Executable executable = Executable::prepare(program(kBuffers + text), device, options);
  executable.bind({.symbols = {{"N", 4}}});
  EXPECT_EQ(executable.edges()[0].verdict, EdgeVerdict::kProven) << executable.edges()[0].reason;
  const auto both = Buffer<int>::of(device, std::vector<int>(4, 3));
  executable.bind(
      {.symbols = {{"N", 4}}, .memory = {{"w", array(both, 0, 4)}, {"z", array(both, 0, 4)}}});
  EXPECT_NE(executable.edges()[0].verdict, EdgeVerdict::kProven);
  EXPECT_FALSE(executable.edges()[0].programmatic);
  executable.run();
  EXPECT_THAT(values<int>(executable.output("y")), Each(2));
}

// A launch that does not vary is worked out once for a binding.
TEST_F(GivenMemory, RepeatedRunsKeepUpWithBindingsAndChecks) {
  const Device device = open_device();
  const std::string adds =
      edge_kernel("late") + launch("late", "\"y\", \"y\"") +
      "[[steps]]\nrepeat = 3\nindex = \"i\"\n[[steps.steps]]\nlaunch = \"late\"\ngrid = [1]\n"
      "block = [\"N\"]\nargs = [\"y\", \"y\"]\n[[steps.steps]]\nlaunch = \"late\"\n"
      "grid = [\"min(i, 1)\"]\nblock = [\"max(i, 1)\"]\nargs = [\"y\", \"y\"]\n";
  for (const ExecutorKind executor : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    const auto y = Buffer<int>::of(device, std::vector<int>(8, 0));
    Executable executable = prepare(device, adds, executor);
    executable.bind({.symbols = {{"N", 8}}, .memory = {{"y", array(y, 0, 8)}}});
    executable.run({.repeat = 4});
    // Four for all, and one each for the first element (i = 1, 2) and the second (i = 2).
    EXPECT_THAT(y.download(), ElementsAre(24, 20, 16, 16, 16, 16, 16, 16));
    executable.check({.symbols = {{"N", 2}}});
    executable.run({.repeat = 2});
    EXPECT_THAT(y.download(), ElementsAre(36, 30, 24, 24, 24, 24, 24, 24));
    executable.bind({.symbols = {{"N", 4}}, .memory = {{"y", array(y, 4, 4)}}});
    executable.run({.repeat = 2});
    EXPECT_THAT(y.download(), ElementsAre(36, 30, 24, 24, 36, 34, 32, 32));
  }
}

// And one whose grid is empty stays away, whatever it was in another binding.
TEST_F(GivenMemory, RepeatedRunsSkipWhatTheBindingLeavesEmpty) {
  const Device device = open_device();
  const auto y = Buffer<int>::of(device, std::vector<int>(8, 0));
  Executable executable =
      prepare(device, edge_kernel("late") +
                          "[[steps]]\nlaunch = \"late\"\ngrid = [\"N / 8\"]\nblock = [8]\n"
                          "args = [\"y\", \"y\"]\n");
  executable.bind({.symbols = {{"N", 8}}, .memory = {{"y", array(y, 0, 8)}}});
  executable.run({.repeat = 3});
  EXPECT_THAT(y.download(), Each(3));
  executable.bind({.symbols = {{"N", 4}}, .memory = {{"y", array(y, 0, 4)}}});
  executable.run({.repeat = 3});
  EXPECT_THAT(y.download(), Each(3));
}

TEST_F(GivenMemory, CopiesBetweenWhatOverlapsAreRefused) {
  const Device device = open_device();
  const Buffer<int> both(device, 8);
  const std::string copy = "[[steps]]\ncopy = { from = \"x\", to = \"y\" }\n";
  EXPECT_THAT(
      refusal(copy, {.memory = {{"x", array(both, 0, 4)}, {"y", array(both, 2, 4)}}}).what(),
      HasSubstr("elements 0 to 3 of x overlap elements 0 to 3 of y"));
  Executable beside = prepare(device, copy);
  beside.bind({.memory = {{"x", array(both, 0, 4)}, {"y", array(both, 4, 4)}}});
}

TEST_F(GivenMemory, OfAnotherDtypeIsRefused) {
  const Device device = open_device();
  const Buffer<int> ints(device, 64);
  Executable executable = prepare(device, kLate);
  executable.bind({.memory = {{"x", array(ints, 0, 64)}}});
  const auto refused = [&](const DeviceArray& given) {
    try {
      executable.set_memory("x", given);
    } catch (const Error& failure) {
      return failure.message();
    }
    return std::string("was not refused");
  };
  EXPECT_EQ(refused({DType::kF32, {64}, ints.memory().address()}),
            "the memory for x holds f32, the buffer has the dtype i32; give memory of that dtype");
  EXPECT_THAT(refused(array(ints, 0, 32)), HasSubstr("another shape"));
}

// No verdict knows that two buffers are one memory, if only one of them is the caller's.
TEST_F(GivenMemory, OfAnotherBufferOfTheProgramIsRefused) {
  const Device device = open_device();
  Executable executable = prepare(device, kLate);
  executable.bind();
  try {
    executable.set_memory("x", executable.array("y"));
    FAIL() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_EQ(failure.message(),
              "the memory for x overlaps that of y, which is the program's own; give both memory "
              "of yours");
  }
}

TEST_F(GivenMemory, IsHeldAgainstTheProgramAndTheDevice) {
  const Device device = open_device();
  const Buffer<int> ints(device, 8);
  const auto refused = [&](const std::string& name, const DeviceArray& given) {
    const Error failure = refusal(kLate, {.memory = {{name, given}}});
    EXPECT_EQ(exit_status(failure.code()), 2);
    return std::string(failure.what());
  };
  DeviceArray odd = array(ints, 0, 4);
  odd.address += 2;
  EXPECT_THAT(refused("x", odd), HasSubstr("is not a multiple of the 4 bytes of an i32"));
  EXPECT_THAT(refused("x", {DType::kI32, {4}, 16}),
              HasSubstr("knows no memory at its address 0x10"));
  EXPECT_THAT(refused("x", {DType::kF32, {4}, odd.address}), HasSubstr("the program wants i32"));
  EXPECT_THAT(refused("x", {DType::kI32, {2, 2}, odd.address}), HasSubstr("2 dimensions [2, 2]"));
  EXPECT_THAT(refused("w", array(ints, 0, 5)), HasSubstr("dimension 0 of the array is 5"));
  EXPECT_THAT(refused("v", array(ints, 0, 4)),
              HasSubstr("the memory for v: the program test.toml has no buffer of that name"));
  EXPECT_THAT(refusal(kLate, {.inputs = {{"x", {DType::kI32, {2}, std::string(8, '\0')}}},
                              .memory = {{"x", array(ints, 0, 2)}}})
                  .what(),
              HasSubstr("x is given twice"));
  EXPECT_THAT(refused("x", {DType::kI32, {std::int64_t{1} << 20}, ints.memory().address()}),
              HasSubstr("takes 4194304 bytes"));
}

}  // namespace
}  // namespace baton::session_test::given_memory_test
