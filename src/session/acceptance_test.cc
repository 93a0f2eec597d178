// Lines of the acceptance list (tests/e2e/acceptance_test.py) that only C++ can hold.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "baton/buffer.h"
#include "baton/compile.h"
#include "baton/executable.h"
#include "baton/launch.h"
#include "baton/module.h"
#include "baton/program.h"
#include "session/test_program.h"

namespace baton::acceptance_test {
namespace {

using namespace session_test;  // NOLINT: the tests' own words
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kSource = R"(
__device__ int calls;
extern "C" __global__ void add(int* x, int value) {
  if (threadIdx.x == 0) calls += 1;
  x[threadIdx.x] += value;
})";

class AcceptanceTest : public DeviceTest {
 protected:
  static ProgramBuilder builder() {
    ProgramBuilder result("acceptance");
    result.buffer({.name = "x",
                   .dtype = DType::kI32,
                   .shape = {32},
                   .role = BufferRole::kInout,
                   .init = BufferInit::kZeros});
    return result;
  }

  static LaunchStep step(const std::string& kernel, int value) {
    return {.kernel = kernel, .grid = {1}, .block = {32}, .args = {"x", value}};
  }

  static std::vector<std::int32_t> run(Executable& executable) {
    executable.run();
    return values<std::int32_t>(executable.output("x"));
  }
};

// A prepared program has read all it needs: the files may go.
TEST_F(AcceptanceTest, T3_APreparedProgramNeedsItsFilesNoMore) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "baton_acceptance_t3";
  std::filesystem::create_directories(folder);
  write_file_atomically(folder / "k.cu", kSource);
  ProgramBuilder program = builder();
  program.kernel({.name = "add", .origin = KernelOrigin::kSource, .file = folder / "k.cu"});
  program.launch(step("add", 3));
  Executable executable = Executable::prepare(program.build(), open_device());
  std::filesystem::remove_all(folder);
  executable.bind();
  EXPECT_THAT(run(executable), Each(3));
  ASSERT_THAT(executable.modules(), SizeIs(1));
  EXPECT_EQ(executable.modules()[0].source->text, kSource);
}

// A kernel needs no program: it is compiled, found and launched by itself.
TEST_F(AcceptanceTest, T13_OutsideAProgram) {
  const Device device = open_device();
  const Module module = compile(device, Source::from_text(kSource));
  Buffer<std::int32_t> x(device, 32);
  Stream stream(device);
  x.upload(std::vector<std::int32_t>(32, 1));
  module.kernel().launch({.grid = 1, .block = 32, .stream = stream}, x, 4);
  stream.synchronize();
  EXPECT_THAT(x.download(), Each(5));
  try {
    module.kernel("sub");
    FAIL() << "there is no such entry";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
    EXPECT_THAT(failure.message(), HasSubstr("add"));
  }
}

// A program that is built in part says what it lacks, and where in the C++ source.
TEST_F(AcceptanceTest, T13_ABuilderThatIsNotDone) {
  ProgramBuilder program = builder();
  EXPECT_THROW(program.build(), Error) << "it has no steps";
  program.launch(step("add", 1));
  try {
    program.build();
    FAIL() << "there is no such kernel";
  } catch (const Error& failure) {
    EXPECT_THAT(failure.message(), HasSubstr("unknown kernel \"add\""));
    EXPECT_THAT(failure.where().file, HasSubstr("acceptance_test.cc"));
  }
  program.kernel({.name = "add", .text = kSource});
  program.launch(step("add", 10));
  Executable executable = Executable::prepare(program.build(), open_device());
  EXPECT_THAT(run(executable), Each(11));
}

TEST_F(AcceptanceTest, N2_N3_EqualDefinitionsAreOneModuleAndOthersAreNot) {
  ProgramBuilder program = builder();
  program.kernel({.name = "one", .text = kSource});
  program.kernel({.name = "same", .text = kSource, .entry = "add"});
  program.kernel({.name = "other", .text = std::string(kSource) + "\n"});
  for (const char* name : {"one", "same", "other", "one"}) program.launch(step(name, 1));
  Executable executable = Executable::prepare(program.build(), open_device());
  EXPECT_THAT(run(executable), Each(4));
  EXPECT_EQ(executable.module("one").native(), executable.module("same").native());
  EXPECT_NE(executable.module("one").native(), executable.module("other").native());
  EXPECT_EQ(executable.module("one").facts().kernels[0].name,
            executable.module("other").facts().kernels[0].name);
  const auto calls = [&](const char* kernel) {
    std::int32_t count = 0;
    Stream stream(executable.device());
    executable.module(kernel).variable("calls").download(&count, sizeof(count), 0, stream);
    stream.synchronize();
    return count;
  };
  EXPECT_EQ(calls("one"), 3);
  EXPECT_EQ(calls("other"), 1);
}

}  // namespace
}  // namespace baton::acceptance_test
