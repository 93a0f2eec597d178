#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/file/file.h"
#include "compile/nvrtc/toolkit.h"
#include "session/test_program.h"

// Which kernel, variable and registers a program gets from its images.

namespace baton::session_test::kernel_entries_test {
namespace {

using ::testing::HasSubstr;

using KernelEntries = DeviceTest;

const std::string kTwo =
    "text = \'\'\'\nextern \"C\" __global__ void one(int* y) { *y = 1; }\n"
    "extern \"C\" __global__ void two(int* y) { *y = 2; }\n\'\'\'\n";

std::string launching(const std::string& kernel) {
  return buffer("y", "i32", "[1]", "output", "zeros") + "[kernels." + kernel + "]\n" + kTwo +
         "[[steps]]\nlaunch = \"" + kernel + "\"\ngrid = [1]\nblock = [1]\nargs = [\"y\"]\n";
}

TEST_F(KernelEntries, AKernelIsFoundByItsNameInTheProgram) {
  for (const auto& [name, value] : {std::pair("one", 1), std::pair("two", 2)}) {
    Executable executable = Executable::prepare(program(launching(name)), open_device());
    executable.bind({});
    executable.run();
    EXPECT_EQ(values<int>(executable.output("y"))[0], value) << name;
  }
}

TEST_F(KernelEntries, AnotherNameNeedsAnEntryWhereThereAreSeveral) {
  const Error failure = refusal(launching("three"));
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(failure.what(), HasSubstr("holds 2 kernels and no entry was named"));
}

// A variable is a buffer by its symbol or by its name in the source. check knows it, and refuses a
// name that no variable has.
TEST_F(KernelEntries, AVariableIsFoundByItsNameInTheSource) {
  const std::string kernel =
      "[kernels.adds]\ntext = \'\'\'\nnamespace ns { __device__ int tab[4]; }\n"
      "extern \"C\" __global__ void adds() { ns::tab[threadIdx.x] += 1; }\n\'\'\'\n"
      "[[steps]]\nlaunch = \"adds\"\ngrid = [1]\nblock = [4]\nargs = []\n";
  const auto with = [&](const std::string& variable) {
    return buffer("t", "i32", "[4]", "inout", "ones") + "variable = \"adds." + variable + "\"\n" +
           kernel;
  };
  for (const std::string name : {"ns::tab", "_ZN2ns3tabE"}) {
    Executable executable = Executable::prepare(program(with(name)), open_device());
    EXPECT_FALSE(executable.check().objection);
    executable.bind({});
    executable.run();
    EXPECT_EQ(values<int>(executable.output("t")), (std::vector<int>{2, 2, 2, 2})) << name;
  }
  try {
    Executable::prepare(program(with("tab2")), open_device()).check();
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
    EXPECT_THAT(failure.what(), HasSubstr("has no variable \"tab2\""));
  }
}

// The two names are one piece of memory for the judge of the edges too.
TEST_F(KernelEntries, AVariableByItsSourceNameIsTheMemoryThatKernelsTouch) {
  const Device device = open_device();
  if (device.architecture() < 90) GTEST_SKIP() << "the device has no programmatic dependent launch";
  const std::string text =
      buffer("t", "i32", "[4]", "inout", "ones") + "variable = \"reads.ns::tab\"\n" +
      buffer("y", "i32", "[4]", "output", "zeros") +
      "[kernels.writes]\ntext = \'\'\'\n#include <cuda_device_runtime_api.h>\n"
      "namespace ns { __device__ int tab[4]; }\n"
      "extern \"C\" __global__ void writes(int* t) { cudaGridDependencySynchronize(); "
      "t[threadIdx.x] = 7; }\n"
      "extern \"C\" __global__ void reads(int* y) { const int early = ns::tab[threadIdx.x];\n"
      "cudaGridDependencySynchronize(); y[threadIdx.x] = early; }\n\'\'\'\n"
      "[kernels.reads]\ntext = \'\'\'\n#include <cuda_device_runtime_api.h>\n"
      "namespace ns { __device__ int tab[4]; }\n"
      "extern \"C\" __global__ void writes(int* t) { cudaGridDependencySynchronize(); "
      "t[threadIdx.x] = 7; }\n"
      "extern \"C\" __global__ void reads(int* y) { const int early = ns::tab[threadIdx.x];\n"
      "cudaGridDependencySynchronize(); y[threadIdx.x] = early; }\n\'\'\'\n"
      "[[steps]]\nlaunch = \"writes\"\ngrid = [1]\nblock = [4]\nargs = [\"t\"]\n"
      "[[steps]]\nlaunch = \"reads\"\ngrid = [1]\nblock = [4]\nargs = [\"y\"]\n";
  const CheckReport report = Executable::prepare(program(text), device).check();
  ASSERT_EQ(report.edges.size(), 1u);
  EXPECT_EQ(report.edges[0].verdict, EdgeVerdict::kUnsafe) << report.edges[0].reason;
  EXPECT_EQ(report.edges[0].cause, EdgeCause::kConflict);
}

// PTX alone says no registers; an assembler does, also for a rewritten kernel.
TEST_F(KernelEntries, AnAssemblerGivesTheRegistersOfPtx) {
  const Device device = open_device();
  if (!is_simulated(device)) GTEST_SKIP() << "a GPU's driver assembles PTX";
  if (!compiler::find_toolkit().nvjitlink) GTEST_SKIP() << "there is no nvJitLink";
  const std::string steps =
      "[[steps]]\nlaunch = \"never\"\ngrid = [1]\nblock = [32]\nargs = [\"x\", \"y\"]\n"
      "[[steps]]\nlaunch = \"never\"\ngrid = [1]\nblock = [32]\nargs = [\"y\", \"x\"]\n";
  const std::string text = buffer("x", "i32", "[64]", "inout", "zeros") +
                           buffer("y", "i32", "[64]", "inout", "zeros") + edge_kernel("never");
  const auto registers = [&](const std::string& program_text, bool assemble, RewriteMode rewrite) {
    PrepareOptions options;
    options.assemble = assemble;
    options.rewrite = rewrite;
    const Executable executable = Executable::prepare(program(program_text), device, options);
    return executable.module("never").kernel("never").facts().registers;
  };
  EXPECT_FALSE(registers(text + steps, false, RewriteMode::kOff));
  EXPECT_TRUE(registers(text + steps, true, RewriteMode::kOff));
  EXPECT_TRUE(registers(text + steps, true, RewriteMode::kLoads));
  // Even placement is computed from registers.
  EXPECT_TRUE(
      registers(text + "launch = { placement = \"even\" }\n" + steps, false, RewriteMode::kOff));
}

// A library's module has many kernels, and assembling takes most of the time of a check.
TEST_F(KernelEntries, OnlyTheProgramsKernelsAreAssembled) {
  const Device device = open_device();
  if (!is_simulated(device)) GTEST_SKIP() << "a GPU's driver assembles PTX";
  if (!compiler::find_toolkit().nvjitlink) GTEST_SKIP() << "there is no nvJitLink";
  const auto kernel = [](const std::string& head) {
    return head +
           "(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d], 1; ret; }\n";
  };
  const std::string ptx = ".version 8.7\n.target sm_90a\n.address_size 64\n" +
                          kernel("// .globl first\n.visible .entry first") +
                          kernel(".entry second") + kernel(".visible .entry third");
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "k.ptx";
  const std::string text = buffer("x", "i32", "[64]", "inout", "zeros") +
                           "[kernels]\nk = { ptx = \"" + file.string() +
                           "\", entry = \"second\" }\n"
                           "[[steps]]\nlaunch = \"k\"\ngrid = [1]\nblock = [1]\nargs = [\"x\"]\n";
  const auto registers = [&](const std::string& image, const std::string& symbol) {
    std::ofstream(file) << image;
    PrepareOptions options;
    options.assemble = true;
    const Executable executable = Executable::prepare(program(text), device, options);
    return executable.module("k").kernel(symbol).facts().registers;
  };
  EXPECT_TRUE(registers(ptx, "second"));
  EXPECT_FALSE(registers(ptx, "first"));
  EXPECT_FALSE(registers(ptx, "third"));
  // Something else needs a kernel that the program does not launch.
  const std::string table = ".visible .global .align 8 .u64 table[1] = {third};\n";
  EXPECT_TRUE(registers(ptx + table, "second"));
  EXPECT_TRUE(registers(ptx + table, "third"));
}

}  // namespace
}  // namespace baton::session_test::kernel_entries_test
