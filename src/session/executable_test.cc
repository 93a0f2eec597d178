#include "baton/executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/array/npy.h"
#include "base/file/file.h"
#include "bind/random.h"
#include "session/test_program.h"

namespace baton::executable_test {
namespace {

using namespace session_test;  // NOLINT: the tests' own words
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using ExecutableTest = DeviceTest;

std::string saxpy_program() {
  return "[symbols]\nN = 1000\n" + buffer("x", "f32", "[\"N\"]", "input", "random") +
         buffer("y", "f32", "[\"N\"]", "inout", "ones") + kernel("saxpy") +
         "[[steps]]\nlaunch = \"saxpy\"\ngrid = [\"ceildiv(N, 128)\"]\nblock = [128]\n"
         "args = [\"y\", \"x\", 2.5, \"N\"]\n";
}

std::vector<float> random_floats(std::uint64_t seed, const char* name, std::size_t count) {
  std::vector<float> result(count);
  bind::RandomSequence(seed, name).generate(DType::kF32, 0, count, result.data());
  return result;
}

TEST_F(ExecutableTest, RunsALaunch) {
  Executable executable = Executable::prepare(program(saxpy_program()), open_device());
  executable.bind({.seed = 3});
  const RunReport& report = executable.run();
  const std::vector<float> x = random_floats(3, "x", 1000);
  const std::vector<float> y = values<float>(executable.output("y"));
  ASSERT_EQ(y.size(), 1000u);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], std::fma(2.5f, x[i], 1.0f)) << i;

  ASSERT_THAT(report.steps, SizeIs(1));
  const StepReport& step = report.steps[0];
  EXPECT_EQ(step.kind, StepReport::Kind::kLaunch);
  EXPECT_EQ(step.label, "saxpy");
  EXPECT_EQ(step.grid, Dim3(8));
  EXPECT_EQ(step.block, Dim3(128));
  EXPECT_EQ(step.executions, 1u);
  EXPECT_EQ(step.skipped, 0u);
  EXPECT_TRUE(step.seconds.has_value());
  EXPECT_GE(*step.seconds, 0);
  EXPECT_EQ(step.where.line, 16);
  if (is_simulated(executable.device())) {
    EXPECT_TRUE(step.bytes_counted);
    EXPECT_EQ(step.bytes, 3u * 4000);
    EXPECT_GT(step.instructions.value_or(0), 1000u);
  } else {
    EXPECT_EQ(step.bytes, 2u * 4000);
  }
  EXPECT_THAT(report.run_seconds, SizeIs(1));
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST_F(ExecutableTest, OneThatWasMovedFromIsRefused) {
  Executable executable = Executable::prepare(program(saxpy_program()), open_device());
  Executable taken = std::move(executable);
  const auto refused = [](auto&& call) {
    try {
      call();
    } catch (const Error& failure) {
      return failure.message();
    }
    return std::string("was not refused");
  };
  const Stream stream(taken.device());
  EXPECT_THAT(refused([&] { executable.bind(); }), HasSubstr("was moved from"));
  EXPECT_THAT(refused([&] { executable.enqueue(stream); }), HasSubstr("was moved from"));
  EXPECT_THAT(refused([&] { executable.program(); }), HasSubstr("was moved from"));
  taken.run();
  executable = std::move(taken);
  executable.run();
}

TEST_F(ExecutableTest, TellsWhichModuleIsLoaded) {
  std::vector<std::string> seen;
  PrepareOptions options;
  options.progress = [&](const LoadProgress& progress) {
    seen.push_back(std::string(progress.kernel) + " " + std::to_string(progress.done) + " of " +
                   std::to_string(progress.count));
  };
  const std::string two =
      saxpy_program() + "[[steps]]\nlaunch = \"late\"\ngrid = [1]\nblock = [4]\nargs = [\"i\", " +
      "\"i\"]\n" + edge_kernel("late") + buffer("i", "i32", "[8]", "scratch", "zeros");
  Executable::prepare(program(two), open_device(), options);
  // Two threads load the modules: either one may begin first.
  EXPECT_THAT(seen, testing::AnyOf(ElementsAre("saxpy 0 of 2", "late 1 of 2", " 2 of 2"),
                                   ElementsAre("late 0 of 2", "saxpy 1 of 2", " 2 of 2")));

  options.progress = [](const LoadProgress& progress) {
    if (progress.done == 1) throw Error(ErrorCode::kInterrupted, "enough");
  };
  EXPECT_THROW(Executable::prepare(program(two), open_device(), options), Error);
}

TEST_F(ExecutableTest, BindsAnew) {
  Executable executable = Executable::prepare(program(saxpy_program()), open_device());
  executable.run();
  EXPECT_EQ(executable.output("y").shape, std::vector<std::int64_t>{1000});
  executable.bind({.symbols = {{"N", 3}}});
  EXPECT_THROW(executable.output("y"), Error);
  executable.run();
  EXPECT_THAT(executable.output("y").shape, ElementsAre(3));
  executable.bind({.inputs = {{"x", array<float>(DType::kF32, {2}, {10, 20})}}});
  executable.run();
  EXPECT_THAT(values<float>(executable.output("y")), ElementsAre(26, 51));
  EXPECT_THAT(executable.shape("x"), ElementsAre(2));
  EXPECT_EQ(executable.symbols()[0].source, "the shape of the input x");
  // The same run again starts from the same values.
  executable.run();
  EXPECT_THAT(values<float>(executable.output("y")), ElementsAre(26, 51));
}

TEST_F(ExecutableTest, ABindThatFailsLeavesTheLastOne) {
  Executable executable = Executable::prepare(program(saxpy_program()), open_device());
  executable.bind({.symbols = {{"N", 3}}});
  EXPECT_THROW(executable.bind({.symbols = {{"N", -3}}}), Error);
  EXPECT_NO_THROW(executable.run());
  EXPECT_THAT(executable.output("y").shape, ElementsAre(3));
}

// An array is a plain struct: what it holds may be less than its shape says.
TEST_F(ExecutableTest, InputsWithTheBytesOfTheirShapeAlone) {
  const std::string text =
      buffer("i", "i32", "[4]", "inout") + kernel("add") +
      "[[steps]]\nlaunch = \"add\"\ngrid = [1]\nblock = [4]\nargs = [\"i\", 1, 4]\n";
  for (const std::size_t bytes : {0, 4, 15, 17, 32}) {
    const Error failure =
        refusal(text, {.inputs = {{"i", Array{DType::kI32, {4}, std::string(bytes, '\0')}}}});
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(failure.message(),
                HasSubstr("the input i: the array holds " + std::to_string(bytes) +
                          " bytes, i32 of shape [4] has 16"));
  }
}

// A weight whose shape stays is neither read nor uploaded again.
TEST_F(ExecutableTest, WeightsAreUploadedOnce) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("baton_weights_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto write = [&](std::vector<int> elements) {
    write_npy(folder / "w.npy",
              array<int>(DType::kI32, {static_cast<std::int64_t>(elements.size())}, elements));
  };
  const std::string text =
      "[symbols]\nN = 4\n"
      "[buffers.w]\ndtype = \"i32\"\nshape = [\"N\"]\nrole = \"weight\"\nfile = \"" +
      (folder / "w.npy").string() + "\"\n" + buffer("y", "i32", "[\"N\"]", "output") +
      "[[steps]]\ncopy = { from = \"w\", to = \"y\" }\n";
  Executable executable = Executable::prepare(program(text), open_device());
  const auto outcome = [&](Bindings bindings) {
    executable.bind(std::move(bindings));
    executable.run();
    executable.run();
    return values<int>(executable.output("y"));
  };
  write({1, 2, 3, 4});
  EXPECT_THAT(outcome({}), ElementsAre(1, 2, 3, 4));
  write({5, 6, 7, 8});
  EXPECT_THAT(outcome({}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(outcome({.inputs = {{"w", array<int>(DType::kI32, {4}, {9, 9, 9, 9})}}}),
              ElementsAre(9, 9, 9, 9));
  EXPECT_THAT(outcome({}), ElementsAre(5, 6, 7, 8));
  write({1, 2});
  EXPECT_THAT(outcome({.symbols = {{"N", 2}}}), ElementsAre(1, 2));
  std::filesystem::remove_all(folder);
}

// One compiled and loaded program; each thread has values and buffers of its own.
TEST_F(ExecutableTest, ThreadsShareALoadedProgram) {
  const std::string text = "[symbols]\nA = 1\n" + buffer("i", "i32", "[4]", "inout", "zeros") +
                           kernel("add") +
                           "[[steps]]\nrepeat = 10\nsteps = [ { launch = \"add\", grid = [1], "
                           "block = [4], args = [\"i\", \"A\", 4] } ]\n";
  const LoadedProgram loaded = LoadedProgram::load(program(text), open_device());
  std::vector<std::vector<int>> results(3);
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number) {
    threads.emplace_back([&, number] {
      Executable executable(loaded, number == 1 ? ExecutorKind::kGraph : ExecutorKind::kStream);
      for (int time = 0; time < 5; ++time) {
        EXPECT_EQ(loaded.check().steps, 10u);
        executable.bind({.symbols = {{"A", number}}});
        executable.run();
      }
      results[static_cast<std::size_t>(number)] = values<int>(executable.output("i"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int number = 0; number < 3; ++number) {
    EXPECT_THAT(results[static_cast<std::size_t>(number)], Each(10 * number));
  }
}

TEST_F(ExecutableTest, GridBlockAndSharedMemory) {
  Executable executable = Executable::prepare(
      program("[symbols]\nW = 15000\n" + buffer("out", "u32", "[5]", "output") +
              kernel("geometry") +
              "launch = { shared = 4 }\n[[steps]]\nlaunch = \"geometry\"\ngrid = [3, 2]\n"
              "block = [16, 4]\nshared = \"4*W\"\ncluster = [1, 1]\nargs = [\"out\", \"W\"]\n"),
      open_device());
  const RunReport& report = executable.run();
  // More than 48 KiB: opted in.
  EXPECT_THAT(values<std::uint32_t>(executable.output("out")), ElementsAre(3, 2, 16, 4, 15000));
  EXPECT_EQ(report.steps[0].shared, 60000u);
}

TEST_F(ExecutableTest, AnEmptyGridSkipsTheLaunch) {
  Executable executable = Executable::prepare(program(saxpy_program()), open_device());
  executable.bind({.symbols = {{"N", 0}}});
  const RunReport& report = executable.run();
  EXPECT_EQ(report.steps[0].skipped, 1u);
  EXPECT_EQ(report.steps[0].executions, 1u);
  EXPECT_EQ(executable.output("y").elements(), 0);
}

TEST_F(ExecutableTest, RepeatsCountTheirIndex) {
  Executable executable = Executable::prepare(
      program("[symbols]\nL = 3\n" + buffer("x", "i32", "[\"4*L\"]", "inout", "zeros") +
              kernel("add") +
              "[[steps]]\nrepeat = \"L\"\nindex = \"i\"\n[[steps.steps]]\nrepeat = \"i\"\n"
              "index = \"j\"\nsteps = [ { launch = \"add\", grid = [1], block = [4], "
              "args = [\"x + 4*i\", \"10*i + j\", 4] } ]\n"),
      open_device());
  const RunReport& report = executable.run();
  // i = 1: 10; i = 2: 20 + 21.
  EXPECT_THAT(values<std::int32_t>(executable.output("x")),
              ElementsAre(0, 0, 0, 0, 10, 10, 10, 10, 41, 41, 41, 41));
  ASSERT_THAT(report.steps, SizeIs(3));
  EXPECT_EQ(report.steps[0].indexes, "i = 1, j = 0");
  EXPECT_EQ(report.steps[2].indexes, "i = 2, j = 1");
}

TEST_F(ExecutableTest, CopyAndFill) {
  Executable executable = Executable::prepare(
      program(buffer("x", "i32", "[4]", "input", "arange") + buffer("y", "i32", "[8]", "output") +
              buffer("z", "i32", "[4]", "output") +
              "[[steps]]\nfill = { buffer = \"y\", value = -1 }\n"
              "[[steps]]\ncopy = { from = \"x + 1\", to = \"y + 2\", count = 2 }\n"
              "[[steps]]\ncopy = { from = \"y\", to = \"y + 6\", count = 2 }\n"
              "[[steps]]\ncopy = { from = \"x\", to = \"z\" }\n"
              "[[steps]]\ncopy = { from = \"x\", to = \"z\", count = 0 }\n"),
      open_device());
  const RunReport& report = executable.run();
  EXPECT_THAT(values<std::int32_t>(executable.output("y")),
              ElementsAre(-1, -1, 1, 2, -1, -1, -1, -1));
  EXPECT_THAT(values<std::int32_t>(executable.output("z")), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(report.steps[0].bytes, 32u);
  EXPECT_EQ(report.steps[1].bytes, 16u);
  EXPECT_EQ(report.steps[1].label, "copy x + 1 -> y + 2");
  EXPECT_EQ(report.steps[4].bytes, 0u);
}

TEST_F(ExecutableTest, FillsEveryWidth) {
  for (const auto& [dtype, value, bits] :
       {std::tuple("u8", "200", std::uint64_t{200}),
        std::tuple("f16", "1.5", std::uint64_t{0x3E00}),
        std::tuple("f32", "-inf", std::uint64_t{0xFF800000}),
        std::tuple("f64", "1.5", std::uint64_t{0x3FF8000000000000})}) {
    Executable executable = Executable::prepare(
        program(buffer("y", dtype, "[37]", "output") +
                "[[steps]]\nfill = { buffer = \"y\", value = " + value + " }\n"),
        open_device());
    executable.run();
    const Array& output = executable.output("y");
    for (std::int64_t i = 0; i < 37; ++i) {
      std::uint64_t got = 0;
      const std::size_t size = size_of(output.dtype);
      std::memcpy(&got, output.bytes.data() + static_cast<std::size_t>(i) * size, size);
      ASSERT_EQ(got, bits) << dtype << " " << i;
    }
  }
}

TEST_F(ExecutableTest, AFileHasTheShapeOfItsBuffer) {
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "x.npy";
  const std::string text = buffer("x", "i32", "[8]", "inout") + "file = \"" + file.string() +
                           "\"\n" + buffer("z", "u8", "[1]", "scratch") +
                           "[[steps]]\nfill = { buffer = \"z\", value = 0 }\n";
  for (const auto& [shape, words] : {std::pair(std::vector<std::int64_t>{4}, "[4]"),
                                     std::pair(std::vector<std::int64_t>{2, 4}, "[2, 4]")}) {
    write_npy(file, array<int>(DType::kI32, shape, std::vector<int>(shape.size() == 1 ? 4 : 8)));
    EXPECT_THAT(refusal(text).message(), HasSubstr(std::string("holds an array of shape ") + words +
                                                   ", the buffer x has the shape [8]"));
  }
}

TEST_F(ExecutableTest, InitialValues) {
  const TemporaryDirectory folder;
  write_npy(folder.path() / "f.npy", array<double>(DType::kF64, {2, 1}, {0.5, -4}));
  const std::string text = buffer("zeros", "f16", "[3]", "inout", "zeros") +
                           buffer("ones", "bf16", "[3]", "inout", "ones") +
                           buffer("arange", "f8e4m3", "[18]", "inout", "arange") +
                           buffer("random", "i8", "[1000]", "inout", "random") +
                           buffer("file", "f64", "[2, 1]", "inout") + "file = \"" +
                           (folder.path() / "f.npy").string() + "\"\n" +
                           buffer("z", "u8", "[1]", "scratch") +
                           "[[steps]]\nfill = { buffer = \"z\", value = 0 }\n";
  Executable executable = Executable::prepare(program(text), open_device());
  executable.run();
  EXPECT_THAT(values<std::uint16_t>(executable.output("zeros")), ElementsAre(0, 0, 0));
  EXPECT_THAT(values<std::uint16_t>(executable.output("ones")),
              ElementsAre(0x3F80, 0x3F80, 0x3F80));
  // 17 lies between 16 and 18 and goes to the even one.
  const auto arange = values<std::uint8_t>(executable.output("arange"));
  EXPECT_EQ(arange[16], 0x58);
  EXPECT_EQ(arange[17], 0x58);
  for (const std::int8_t value : values<std::int8_t>(executable.output("random"))) {
    EXPECT_TRUE(value >= 0 && value < 100);
  }
  EXPECT_THAT(values<double>(executable.output("file")), ElementsAre(0.5, -4));
}

TEST_F(ExecutableTest, EqualKernelsAreOneModule) {
  const std::string second = "[kernels.again]\nptx = \"./kernels.ptx\"\nentry = \"count_calls\"\n";
  Executable executable = Executable::prepare(
      program(buffer("a", "u32", "[1]", "output") + buffer("b", "u32", "[1]", "output") +
              kernel("count_calls") + second +
              "[[steps]]\nlaunch = \"count_calls\"\ngrid = [1]\nblock = [1]\nargs = [\"a\"]\n"
              "[[steps]]\nlaunch = \"again\"\ngrid = [1]\nblock = [1]\nargs = [\"b\"]\n"),
      open_device());
  executable.run();
  EXPECT_THAT(values<std::uint32_t>(executable.output("a")), ElementsAre(1));
  EXPECT_THAT(values<std::uint32_t>(executable.output("b")), ElementsAre(2));
  // Variables keep their values while the program is prepared.
  executable.run();
  EXPECT_THAT(values<std::uint32_t>(executable.output("b")), ElementsAre(4));
  EXPECT_EQ(executable.module("again").native(), executable.module("count_calls").native());
}

TEST_F(ExecutableTest, OnlyTheFirstRunInitialisesAndIsKept) {
  Executable executable = Executable::prepare(
      program(buffer("x", "i32", "[2]", "inout", "zeros") + kernel("count_calls") +
              buffer("n", "u32", "[1]", "output") + kernel("add") +
              "[[steps]]\nlaunch = \"add\"\ngrid = [1]\nblock = [2]\nargs = [\"x\", 5, 2]\n"
              "[[steps]]\nlaunch = \"count_calls\"\ngrid = [1]\nblock = [1]\nargs = [\"n\"]\n"),
      open_device());
  std::uint64_t last_run = 0;
  const RunReport& report =
      executable.run({.repeat = 4, .progress = [&](const RunProgress& at) { last_run = at.run; }});
  EXPECT_THAT(values<std::int32_t>(executable.output("x")), ElementsAre(5, 5));
  EXPECT_THAT(report.run_seconds, SizeIs(4));
  ASSERT_THAT(report.steps, SizeIs(2));
  EXPECT_EQ(report.steps[0].executions, 1u);
  EXPECT_LE(*report.steps[0].best_seconds, *report.steps[0].seconds);
  EXPECT_LT(last_run, 4u);
  executable.run();
  EXPECT_THAT(values<std::uint32_t>(executable.output("n")), ElementsAre(5));
}

TEST_F(ExecutableTest, BytesPassedAreThoseFromTheOffsetOn) {
  Executable executable = Executable::prepare(
      program(buffer("x", "f32", "[100]", "input", "ones") +
              buffer("y", "f32", "[4, 10]", "inout", "zeros") + kernel("saxpy") +
              "[[steps]]\nlaunch = \"saxpy\"\ngrid = [1]\nblock = [32]\n"
              "args = [\"y + 30\", \"x + 60\", 1.0, 10]\n"
              "[[steps]]\nlaunch = \"saxpy\"\ngrid = [1]\nblock = [32]\n"
              "args = [\"y\", \"y\", 1.0, 10]\n"
              "[[steps]]\nrepeat = 4\nindex = \"i\"\nsteps = [ { launch = \"saxpy\", grid = [1], "
              "block = [32], args = [\"y + 10 * i\", \"x + 5 * i\", 1.0, 5] } ]\n"),
      open_device());
  RunOptions options;
  options.time_steps = false;  // a simulated GPU counts what is timed
  const RunReport& report = executable.run(options);
  ASSERT_THAT(report.steps, SizeIs(6));
  EXPECT_EQ(report.steps[0].bytes, (10 + 40) * 4u);
  EXPECT_EQ(report.steps[1].bytes, 40 * 4u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(report.steps[2 + i].bytes, (10 + 5) * 4u) << i;
}

TEST_F(ExecutableTest, AnOutputThatIsPassedAndNotWrittenIsAWarning) {
  Executable executable =
      Executable::prepare(program(buffer("x", "f32", "[64]", "input", "ones") +
                                  buffer("y", "f32", "[64]", "output") + kernel("saxpy") +
                                  "[[steps]]\nlaunch = \"saxpy\"\ngrid = [1]\nblock = [64]\n"
                                  "args = [\"y\", \"x\", 2.0, 0]\n"),
                          open_device());
  EXPECT_THAT(executable.run().warnings, ElementsAre(HasSubstr("no step writes the output y")));
}

TEST_F(ExecutableTest, AnOutputThatNoStepWritesIsAWarning) {
  Executable executable = Executable::prepare(
      program(buffer("x", "i32", "[1]", "inout", "zeros") + buffer("y", "i32", "[1]", "output") +
              buffer("z", "i32", "[1]", "output") + kernel("add") +
              "[[steps]]\nlaunch = \"add\"\ngrid = [1]\nblock = [1]\nargs = [\"x\", 1, 1]\n"
              "[[steps]]\nrepeat = 0\nsteps = [ { fill = { buffer = \"z\", value = 0 } } ]\n"),
      open_device());
  const RunReport& report = executable.run();
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("no step writes the output y"),
                                           HasSubstr("no step writes the output z")));
}

TEST_F(ExecutableTest, ABufferOfAnotherTypeIsAWarning) {
  Executable executable =
      Executable::prepare(program(buffer("x", "f64", "[4]", "input", "zeros") +
                                  buffer("y", "f32", "[4]", "inout", "zeros") +
                                  "[kernels.saxpy]\nptx = \"kernels.ptx\"\nentry = \"saxpy\"\n"
                                  "[[steps]]\nlaunch = \"saxpy\"\ngrid = [1]\nblock = [4]\n"
                                  "args = [\"y\", \"x\", 1.0, 4]\n"),
                          open_device());
  // The PTX of an extern "C" kernel does not say what its pointers point to, or says f32.
  for (const std::string& warning : executable.run().warnings) {
    EXPECT_THAT(warning, HasSubstr("argument 1 of saxpy is x of f64"));
  }
}

TEST_F(ExecutableTest, BuiltInCpp) {
  ProgramBuilder builder("saxpy");
  const Expression n = builder.symbol("N", 100);
  builder.buffer(
      {.name = "x", .shape = {n}, .role = BufferRole::kInput, .init = BufferInit::kOnes});
  builder.buffer(
      {.name = "y", .shape = {n}, .role = BufferRole::kInout, .init = BufferInit::kArange});
  builder.kernel({.name = "saxpy",
                  .origin = KernelOrigin::kPtx,
                  .file = BATON_SOURCE_DIR "/src/session/testdata/kernels.ptx",
                  .entry = "saxpy"});
  builder.launch(
      {.kernel = "saxpy", .grid = {ceildiv(n, 64)}, .block = {64}, .args = {"y", "x", 3.0, n}});
  Executable executable = Executable::prepare(builder.build(), open_device());
  executable.run();
  EXPECT_EQ(values<float>(executable.output("y"))[99], 102.0f);
}

TEST_F(ExecutableTest, MovesAndOutlives) {
  std::optional<Executable> moved;
  {
    Executable executable = Executable::prepare(program(saxpy_program()), open_device());
    executable.bind();
    moved.emplace(std::move(executable));
  }
  EXPECT_NO_THROW(moved->run());
}

TEST_F(ExecutableTest, NamesThatAreNotThere) {
  Executable executable = Executable::prepare(program(saxpy_program()), open_device());
  const auto message = [](const std::function<void()>& work) -> std::string {
    try {
      work();
    } catch (const Error& failure) {
      return failure.message();
    }
    return "none";
  };
  EXPECT_THAT(message([&] { executable.output("yy"); }), HasSubstr("did you mean \"y\"?"));
  EXPECT_THAT(message([&] { executable.output("y"); }), HasSubstr("after a run"));
  EXPECT_THAT(message([&] { executable.shape("q"); }), HasSubstr("no buffer \"q\""));
  EXPECT_THAT(message([&] { executable.shape("x"); }), HasSubstr("once the program is bound"));
  EXPECT_THAT(message([&] { executable.module("q"); }), HasSubstr("no kernel \"q\""));
  EXPECT_THAT(executable.outputs(), ElementsAre("y"));
}

TEST_F(ExecutableTest, InterruptionEndsARun) {
  const std::atomic<bool> interrupt{true};
  const Error failure = refusal(saxpy_program(), {}, {.interrupt = &interrupt});
  EXPECT_EQ(failure.code(), ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace baton::executable_test
