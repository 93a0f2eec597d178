// What is said of the edges of programs whose buffers lie in memory of the caller's. The kernels
// are those of testdata/edges.cu.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "baton/buffer.h"
#include "session/test_program.h"

namespace baton::session_test::given_edges_test {
namespace {

using EdgesOfGivenMemory = DeviceTest;

// Four elements, one block.
std::string step(const std::string& kernel, const std::string& args) {
  return "{ launch = \"" + kernel + "\", grid = [1], block = [4], args = [" + args + "] }";
}
std::string steps(const std::string& first, const std::string& second) {
  return "[[steps]]\nrepeat = 1\nsteps = [ " + first + ", " + second + " ]\n";
}

const std::string kBuffers =
    buffer("w", "i32", "[64]", "weight", "ones") + buffer("x", "i32", "[64]", "input", "zeros") +
    buffer("y", "i32", "[64]", "output", "zeros") + buffer("z", "i32", "[64]", "output", "zeros");

// A caller may give memory that is written to an input and to an output.
TEST_F(EdgesOfGivenMemory, AnInputThatSharesItsMemoryMayBeWritten) {
  const std::string text =
      buffer("x", "i32", "[64]", "inout", "zeros") + buffer("w", "i32", "[64]", "input", "zeros") +
      edge_kernel("never") +
      "[[steps]]\nlaunch = \"never\"\ngrid = [1]\nblock = [32]\nargs = [\"x\", \"w\"]\n";
  const Device device = open_device();
  const Buffer<int> memory(device, 64);
  const DeviceArray whole = {DType::kI32, {64}, memory.memory().address()};
  Bindings bindings;
  bindings.memory = {{"x", whole}, {"w", whole}};
  Executable executable = Executable::prepare(program(text), device);
  EXPECT_NO_THROW(executable.bind(std::move(bindings)));
}

// With alignments a kernel gets from one buffer to another one in the same 256 bytes.
TEST_F(EdgesOfGivenMemory, AlignmentsLeadToMemoryOfTheCallerBeside) {
  const Device device = open_device();
  const auto memory = Buffer<int>::of(device, std::vector<int>(256, 1));
  const auto given = [&](std::uint64_t first) {
    return DeviceArray{DType::kI32, {64}, memory.memory().address() + first * sizeof(int)};
  };
  const std::string text =
      kBuffers + edge_kernel("late") +
      "[kernels.rounds]\ntext = \"\"\"\nextern \"C\" __global__ void rounds(const int* y, "
      "const int* x, int* z) {\n"
      "  unsigned long long place;\n"
      "  asm(\"{ .reg .u64 s, t; and.b64 s, %1, -256; and.b64 t, %2, 255; add.u64 %0, s, t; }\"\n"
      "      : \"=l\"(place) : \"l\"(x), \"l\"(y));\n"
      "  const int value = *(const volatile int*)place;\n"
      "  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n"
      "  z[threadIdx.x] = value;\n}\n\"\"\"\n" +
      steps(step("late", "\"x\", \"y\""), step("rounds", "\"y\", \"x\", \"z\""));
  Executable executable = Executable::prepare(program(text), device);
  const auto verdict = [&](std::uint64_t x, std::uint64_t y) {
    return executable.check({.memory = {{"x", given(x)}, {"y", given(y)}}}).edges.at(0).verdict;
  };
  EXPECT_EQ(verdict(0, 64), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(64, 0), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(32, 96), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict(96, 32), EdgeVerdict::kUnknown);
}

// The memory beside it may be of a buffer that neither launch has.
TEST_F(EdgesOfGivenMemory, AnyMemoryOfTheCallerMayBeBeside) {
  const Device device = open_device();
  const auto memory = Buffer<int>::of(device, std::vector<int>(512, 1));
  const auto given = [&](std::uint64_t first) {
    return DeviceArray{DType::kI32, {64}, memory.memory().address() + first * sizeof(int)};
  };
  Executable executable = Executable::prepare(
      program(kBuffers + edge_kernel("late") + "[kernels.aligns]\nptx = \"chosen.ptx\"\n" +
              steps(step("late", "\"w\", \"z\""), step("aligns", "\"y\", \"y\", \"z\""))),
      device);
  const auto verdict = [&](std::uint64_t y,
                           std::vector<std::pair<std::string, std::uint64_t>> all) {
    Bindings bindings = {.memory = {{"y", given(y)}}};
    for (const auto& [name, first] : all) bindings.memory.emplace_back(name, given(first));
    return executable.check(std::move(bindings)).edges.at(0).verdict;
  };
  EXPECT_EQ(verdict(160, {}), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(160, {{"x", 0}}), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(160, {{"x", 96}}), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict(160, {{"x", 224}}), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict(160, {{"w", 0}, {"x", 96}}), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict(160, {{"w", 320}, {"x", 224}}), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict(160, {{"w", 320}, {"x", 0}}), EdgeVerdict::kProven);
  // An empty buffer between the two keeps nothing apart.
  Executable with_empty = Executable::prepare(
      program("[symbols]\nE = 0\n" + kBuffers + buffer("e", "i32", "[\"E\"]", "inout") +
              edge_kernel("late") + "[kernels.aligns]\nptx = \"chosen.ptx\"\n" +
              steps(step("late", "\"w\", \"z\""), step("aligns", "\"y\", \"y\", \"z\""))),
      device);
  const DeviceArray empty = {DType::kI32, {0}, given(158).address};
  EXPECT_EQ(with_empty.check({.memory = {{"y", given(160)}, {"x", given(92)}, {"e", empty}}})
                .edges.at(0)
                .verdict,
            EdgeVerdict::kUnknown);
}

// A weight in memory that is another buffer's too is constant only if both are. An access
// without a known buffer may be of it.
TEST_F(EdgesOfGivenMemory, AWeightThatSharesItsMemoryIsNotConstant) {
  const Device device = open_device();
  const auto memory = Buffer<int>::of(device, std::vector<int>(128, 1));
  const auto given = [&](std::uint64_t first) {
    return DeviceArray{DType::kI32, {64}, memory.memory().address() + first * sizeof(int)};
  };
  const std::string text =
      kBuffers + buffer("v", "i32", "[64]", "weight", "ones") +
      buffer("pointers", "u64", "[1]", "input", "zeros") + edge_kernel("ahead") +
      "[kernels.stores_through]\nptx = \"through.ptx\"\n" +
      steps(step("stores_through", "\"pointers\""), step("ahead", "\"w\", \"x\", \"z\""));
  Executable executable = Executable::prepare(program(text), device);
  const auto verdict = [&](const Bindings& bindings) {
    return executable.check(bindings).edges.at(0).verdict;
  };
  EXPECT_EQ(verdict({}), EdgeVerdict::kProven);
  EXPECT_EQ(verdict({.memory = {{"w", given(0)}, {"y", given(64)}}}), EdgeVerdict::kProven);
  EXPECT_EQ(verdict({.memory = {{"w", given(0)}, {"v", given(8)}}}), EdgeVerdict::kProven);
  EXPECT_EQ(verdict({.memory = {{"w", given(0)}, {"y", given(8)}}}), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict({.memory = {{"w", given(8)}, {"y", given(0)}}}), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict({.memory = {{"w", given(0)}, {"v", given(8)}, {"y", given(16)}}}),
            EdgeVerdict::kUnknown);
}

// A byte that two buffers have.
TEST_F(EdgesOfGivenMemory, OneByteMayBeShared) {
  const Device device = open_device();
  const Buffer<std::uint8_t> memory(device, 1024);
  const auto given = [&](std::uint64_t first) {
    return DeviceArray{DType::kU8, {1}, memory.memory().address() + first};
  };
  Executable executable = Executable::prepare(
      program(kBuffers + buffer("a", "u8", "[1]", "inout", "zeros") +
              buffer("b", "u8", "[1]", "inout", "zeros") + edge_kernel("late") +
              edge_kernel("ahead") +
              steps(step("late", "\"x\", \"a\""), step("ahead", "\"b\", \"x\", \"z\""))),
      device);
  const auto verdict = [&](std::uint64_t a, std::uint64_t b) {
    return executable.check({.memory = {{"a", given(a)}, {"b", given(b)}}}).edges.at(0).verdict;
  };
  EXPECT_EQ(verdict(0, 512), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(512, 512), EdgeVerdict::kUnsafe);
}

// A field of a struct has the offset that its address has.
TEST_F(EdgesOfGivenMemory, AStructPointsIntoABuffer) {
  const Device device = open_device();
  const Buffer<int> memory(device, 64);
  const DeviceArray whole = {DType::kI32, {64}, memory.memory().address()};
  const auto verdict = [&](unsigned offset) {
    const std::string pair =
        "{ struct = [\"y + " + std::to_string(offset) + "\", { i64 = 0 }] }, \"z\", { u64 = 1 }";
    Executable executable = Executable::prepare(
        program(kBuffers + edge_kernel("late") + "[kernels.peeks_far]\nptx = \"chosen.ptx\"\n" +
                steps(step("late", "\"x\", \"y + 16\""), step("peeks_far", pair))),
        device);
    executable.bind({.memory = {{"y", whole}}});
    return executable.edges().at(0).verdict;
  };
  EXPECT_EQ(verdict(14), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(15), EdgeVerdict::kUnsafe);
  EXPECT_EQ(verdict(18), EdgeVerdict::kUnsafe);
  EXPECT_EQ(verdict(19), EdgeVerdict::kProven);
}

}  // namespace
}  // namespace baton::session_test::given_edges_test
