#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/buffer.h"
#include "session/test_program.h"

// The simulated GPU keeps a launch inside of the views and of the parts of the caller's memory that
// it is given.

namespace baton::session_test::bounds_test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Bounds : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !is_simulated(open_device())) GTEST_SKIP() << "needs a simulated GPU";
  }
};

constexpr ExecutorKind kExecutors[] = {ExecutorKind::kStream, ExecutorKind::kGraph};

Executable prepare(const Device& device, const std::string& text, ExecutorKind executor) {
  PrepareOptions options;
  options.executor = executor;
  return Executable::prepare(program(text), device, options);
}

// W has four rows of 64 elements. out_of_bounds writes the element of its index.
std::string rows(const std::string& args, const std::string& more = "") {
  return buffer("W", "f32", "[4, 64]", "inout", "zeros") + kernel("out_of_bounds") +
         kernel("saxpy") + more + "[[steps]]\nrepeat = 4\nindex = \"l\"\nsteps = [ " + args +
         " ]\n";
}

std::string write(const std::string& target, const std::string& index) {
  return "{ launch = \"out_of_bounds\", grid = [1], block = [1], args = [" + target + ", " + index +
         "] }";
}

const std::string kRow = "{ buffer = \"W\", offset = \"64*l\", count = 64 }";

std::string failure_of(const std::string& text, ExecutorKind executor, Bindings bindings = {}) {
  const Device device = open_device();
  Executable executable = prepare(device, text, executor);
  executable.bind(std::move(bindings));
  try {
    executable.run();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kFault);
    return failure.message();
  }
  ADD_FAILURE() << "nothing was found";
  return "";
}

TEST_F(Bounds, AnAccessInsideOfAViewIsRight) {
  const Device device = open_device();
  for (const ExecutorKind executor : kExecutors) {
    Executable executable =
        prepare(device,
                rows("{ launch = \"saxpy\", grid = [1], block = [64], args = [" + kRow + ", " +
                     kRow + ", 1.0, 64] }, " + write(kRow, "63")),
                executor);
    EXPECT_THAT(executable.run().findings, IsEmpty());
    EXPECT_EQ(values<float>(executable.output("W"))[255], 1.0f);
  }
}

TEST_F(Bounds, AnAccessOutsideOfAViewIsFound) {
  for (const ExecutorKind executor : kExecutors) {
    EXPECT_THAT(
        failure_of(rows(write(kRow, "\"63 + l/2\"")), executor),
        AllOf(HasSubstr("launch 0 (out_of_bounds), l = 2, at test.toml:"),
              HasSubstr("0 bytes past the end of view W + 128 (64 elements of f32 [4, 64], 256 "
                        "bytes at 0x"),
              HasSubstr(", 768 bytes inside buffer W (f32 [4, 64], 1024 bytes at 0x")));
    EXPECT_THAT(failure_of(rows(write(kRow, "\"-1 * (l/3)\"")), executor),
                AllOf(HasSubstr("l = 3"), HasSubstr("4 bytes before view W + 192 (64 elements")));
    // A view without a count ends with its buffer.
    EXPECT_THAT(
        failure_of(rows(write("{ buffer = \"W\", offset = 192 }", "\"63 + l/3\"")), executor),
        HasSubstr("0 bytes past the end of view W + 192 (64 elements"));
    EXPECT_THAT(failure_of(rows(write("{ buffer = \"W\", count = 0 }", "0")), executor),
                HasSubstr("0 bytes past the end of view W (0 elements of f32 [4, 64], 0 bytes"));
  }
}

// A whole warp's access, by the path that checks all of its lanes at once.
TEST_F(Bounds, AWarpThatLeavesAViewIsFound) {
  for (const ExecutorKind executor : kExecutors) {
    EXPECT_THAT(failure_of(rows("{ launch = \"saxpy\", grid = [1], block = [96], args = [" + kRow +
                                ", " + kRow + ", 1.0, 65] }"),
                           executor),
                AllOf(HasSubstr("thread (64, 0, 0)"), HasSubstr("past the end of view W (64")));
  }
}

TEST_F(Bounds, TheWholeBufferBesideAViewIsNotRestricted) {
  const Device device = open_device();
  for (const ExecutorKind executor : kExecutors) {
    Executable executable =
        prepare(device,
                rows("{ launch = \"saxpy\", grid = [1], block = [64], args = [" + kRow +
                     ", \"W\", 1.0, 64] }, " + write("\"W + 64*l\"", "\"min(64, 64*(3 - l))\"")),
                executor);
    EXPECT_THAT(executable.run().findings, IsEmpty());
  }
}

// Each is a step of its own, evaluated anew in each iteration.
TEST_F(Bounds, ViewsOfLongLoopsAreKept) {
  const std::string text =
      buffer("W", "f32", "[70001]", "inout", "zeros") + kernel("out_of_bounds") +
      "[[steps]]\nrepeat = 70000\nindex = \"l\"\nsteps = [ " +
      write("{ buffer = \"W\", offset = \"l\", count = 1 }", "\"l/900\"") + " ]\n";
  EXPECT_THAT(failure_of(text, ExecutorKind::kStream),
              AllOf(HasSubstr("l = 900, at test.toml:"),
                    HasSubstr("0 bytes past the end of view W + 900 (1 element of f32 [70001]")));
}

// What is noted of accesses is that of the whole allocation.
TEST_F(Bounds, RacesInViewsAreFound) {
  const Device device = open_device();
  const auto text = [](const std::string& kernel, const std::string& read) {
    return buffer("x", "i32", "[64]", "input", "zeros") +
           buffer("y", "i32", "[64]", "output", "zeros") +
           buffer("z", "i32", "[64]", "output", "zeros") + edge_kernel("late") +
           edge_kernel("never") +
           "[[steps]]\nlaunch = \"late\"\ngrid = [1]\nblock = [4]\n"
           "args = [\"x\", { buffer = \"y\", offset = 13, count = 4 }]\n"
           "[[steps]]\nlaunch = \"" +
           kernel + "\"\ngrid = [1]\nblock = [4]\npdl = \"force\"\nargs = [" + read + ", \"z\"]\n";
  };
  for (const ExecutorKind executor : kExecutors) {
    for (const std::string read : {"\"y + 16\"", "{ buffer = \"y\", offset = 16, count = 4 }",
                                   "{ buffer = \"y\", offset = 11, count = 6 }"}) {
      Executable executable = prepare(device, text("never", read), executor);
      EXPECT_THROW(executable.run(), Error);
      std::vector<std::string> kinds;
      for (const FindingReport& finding : executable.report().findings) {
        kinds.push_back(finding.kind);
      }
      EXPECT_THAT(kinds, testing::Contains("missing_wait")) << read;
    }
    const std::string apart = "{ buffer = \"y\", offset = 17, count = 4 }";
    EXPECT_THAT(prepare(device, text("late", apart), executor).run().findings, IsEmpty());
  }
}

// y is 64 elements at an offset of the caller's memory.
std::string in_arena(const std::string& args, const std::string& block = "1") {
  return "[symbols]\nN = 64\n" + buffer("x", "f32", "[\"N\"]", "input", "ones") +
         buffer("y", "f32", "[\"N\"]", "output") + kernel("saxpy") + kernel("out_of_bounds") +
         "[[steps]]\n" + args + "\ngrid = [1]\nblock = [" + block + "]\n";
}

DeviceArray part(const Buffer<float>& arena, std::size_t first, std::int64_t count) {
  return {DType::kF32, {count}, arena.memory().address() + first * sizeof(float)};
}

TEST_F(Bounds, AWriteBeyondABufferInTheCallersMemoryIsFound) {
  // Also where its start suits no quick path.
  for (const std::size_t first : {64, 61, 8}) {
    for (const ExecutorKind executor : kExecutors) {
      for (const int index : {64, 128, -1}) {
        const Device device = open_device();
        const auto arena = Buffer<float>::of(device, std::vector<float>(1024, 0.0f));
        Executable executable = prepare(
            device,
            in_arena("launch = \"out_of_bounds\"\nargs = [\"y\", " + std::to_string(index) + "]"),
            executor);
        executable.bind({.memory = {{"y", part(arena, first, 64)}}});
        try {
          executable.run();
          ADD_FAILURE() << "nothing was found";
        } catch (const Error& failure) {
          EXPECT_THAT(failure.message(),
                      AllOf(HasSubstr("buffer y (f32 [64], 256 bytes at 0x"),
                            HasSubstr(index < 0 ? "4 bytes before" : "past the end of"),
                            HasSubstr("inside an allocation of 4096 bytes")));
        }
      }
    }
  }
}

TEST_F(Bounds, ABufferInTheCallersMemoryIsReadAndWritten) {
  const Device device = open_device();
  for (const std::size_t first : {64, 61, 8}) {
    for (const ExecutorKind executor : kExecutors) {
      const auto arena = Buffer<float>::of(device, std::vector<float>(1024, 1.0f));
      Executable executable =
          prepare(device, in_arena("launch = \"saxpy\"\nargs = [\"y\", \"x\", 2.0, \"N\"]", "64"),
                  executor);
      executable.bind({.memory = {{"x", part(arena, 512, 64)}, {"y", part(arena, first, 64)}}});
      EXPECT_THAT(executable.run().findings, IsEmpty());
      std::vector<float> got = arena.download();
      const auto begin = got.begin() + static_cast<std::ptrdiff_t>(first);
      EXPECT_THAT(std::vector<float>(begin, begin + 64), Each(3.0f));
      got.erase(begin, begin + 64);
      EXPECT_THAT(got, Each(1.0f));
    }
  }
}

// Gives parts of one allocation, one after the other.
class ArenaAllocator : public Allocator {
 public:
  explicit ArenaAllocator(const Buffer<float>& arena) : arena_(arena) {}
  DeviceAddress allocate(const Device&, std::size_t bytes) override {
    const DeviceAddress address = arena_.memory().address() + used_;
    used_ += (bytes + 255) / 256 * 256;
    return address;
  }
  void free(const Device&, DeviceAddress, std::size_t) noexcept override {}

 private:
  const Buffer<float>& arena_;
  std::size_t used_ = 0;
};

TEST_F(Bounds, AWriteBeyondABufferOfAnAllocatorIsFound) {
  for (const ExecutorKind executor : kExecutors) {
    for (const int index : {64, -1}) {
      const Device device = open_device();
      const auto arena = Buffer<float>::of(device, std::vector<float>(1024, 0.0f));
      Executable executable = prepare(
          device,
          in_arena("launch = \"out_of_bounds\"\nargs = [\"y\", " + std::to_string(index) + "]"),
          executor);
      executable.bind({.allocator = std::make_shared<ArenaAllocator>(arena)});
      try {
        executable.run();
        ADD_FAILURE() << "nothing was found";
      } catch (const Error& failure) {
        EXPECT_THAT(failure.message(), HasSubstr("buffer y (f32 [64], 256 bytes at 0x"));
      }
    }
  }
}

TEST_F(Bounds, AnAllocatorsMemoryAndGivenMemoryMayBeOneAllocation) {
  for (const ExecutorKind executor : kExecutors) {
    const Device device = open_device();
    const auto arena = Buffer<float>::of(device, std::vector<float>(1024, 1.0f));
    const auto allocator = std::make_shared<ArenaAllocator>(arena);
    Executable executable = prepare(
        device, in_arena("launch = \"saxpy\"\nargs = [\"y\", \"x\", 2.0, \"N\"]", "64"), executor);
    executable.bind({.memory = {{"y", part(arena, 512, 64)}}, .allocator = allocator});
    EXPECT_THAT(executable.run().findings, IsEmpty());
    const std::vector<float> got = arena.download();
    EXPECT_THAT(std::vector<float>(got.begin() + 512, got.begin() + 576), Each(3.0f));
    // Bound again, x stays in the memory of the first allocator.
    executable.bind({.memory = {{"y", part(arena, 640, 64)}}, .allocator = allocator});
    EXPECT_THAT(executable.run().findings, IsEmpty());
  }
}

// An access is inside of what the launch is given if any of its buffers has it.
TEST_F(Bounds, NeighboursOfOneLaunchAreNotToldApart) {
  const Device device = open_device();
  const auto arena = Buffer<float>::of(device, std::vector<float>(1024, 0.0f));
  Executable executable =
      prepare(device, in_arena("launch = \"saxpy\"\nargs = [\"y\", \"x\", 2.0, \"2*N\"]", "128"),
              ExecutorKind::kStream);
  executable.bind({.memory = {{"x", part(arena, 64, 64)}, {"y", part(arena, 0, 64)}}});
  EXPECT_THROW(executable.run(), Error) << "x ends";
}

}  // namespace
}  // namespace baton::session_test::bounds_test
