// Instrumented kernels of every kind of image that holds PTX.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "baton/bundle.h"
#include "session/test_program.h"

namespace baton::session_test::traced_images_test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using TracedImages = DeviceTest;

RunOptions traced() {
  RunOptions options;
  options.trace = true;
  return options;
}

// The registers of machine code are known, and so is by how much instrumenting changes them.
TEST_F(TracedImages, AFatbinWithPtx) {
  const std::string text =
      "[symbols]\nN = 256\n" + buffer("x", "f32", "[\"N + 16\"]", "input", "random") +
      buffer("y", "f32", "[\"N\"]", "output") +
      "[kernels.packed]\nfatbin = \"../../image/testdata/packed_default.fatbin\"\n"
      "[[steps]]\nlaunch = \"packed\"\ngrid = [1]\nblock = [128]\nargs = [\"y\", \"x\", \"N\"]\n";
  Executable plain = Executable::prepare(program(text), open_device());
  plain.run();
  PrepareOptions options;
  options.instrument = true;
  Executable instrumented = Executable::prepare(program(text), open_device(), options);
  const RunReport& report = instrumented.run(traced());
  EXPECT_EQ(instrumented.output("y").bytes, plain.output("y").bytes);
  EXPECT_EQ(report.traced->blocks, 1u);
  EXPECT_THAT(report.traced->remarks, IsEmpty());
  const KernelModule& module = instrumented.loaded().modules().at(0);
  ASSERT_THAT(module.traces, SizeIs(1));
  EXPECT_EQ(module.traces[0].registers_before, 30u);
  EXPECT_EQ(module.kernels[0].second.registers, 30u);
  EXPECT_EQ(module.kernels[0].second.static_shared, 512u);
}

TEST_F(TracedImages, ABundle) {
  const std::string text =
      buffer("x", "i32", "[256]", "input", "random") + buffer("y", "i32", "[256]", "output") +
      edge_kernel("late") +
      "[[steps]]\nlaunch = \"late\"\ngrid = [4]\nblock = [64]\nargs = [\"x\", \"y\"]\n";
  const auto path =
      std::filesystem::temp_directory_path() / ("traced_" + std::to_string(getpid()) + ".baton");
  write_bundle(program(text), path);
  const Bundle bundle = Bundle::open(path);
  LoadOptions options;
  options.instrument = true;
  Executable instrumented(LoadedProgram::load(bundle, open_device(), options));
  const RunReport& report = instrumented.run(traced());
  std::filesystem::remove(path);
  EXPECT_EQ(report.traced->blocks, 4u);
  EXPECT_THAT(report.traced->remarks, IsEmpty());
  Executable plain = Executable::prepare(program(text), open_device());
  plain.run();
  EXPECT_EQ(instrumented.output("y").bytes, plain.output("y").bytes);
}

// Waits that Baton inserted are instrumented like others.
TEST_F(TracedImages, RewrittenKernels) {
  const std::string text =
      buffer("x", "i32", "[256]", "input", "random") + buffer("y", "i32", "[256]", "scratch") +
      buffer("z", "i32", "[256]", "output") + edge_kernel("never") +
      "[[steps]]\nlaunch = \"never\"\ngrid = [4]\nblock = [64]\nargs = [\"x\", \"y\"]\n"
      "[[steps]]\nlaunch = \"never\"\ngrid = [4]\nblock = [64]\nargs = [\"y\", \"z\"]\n";
  PrepareOptions options;
  options.rewrite = RewriteMode::kLoads;
  options.instrument = true;
  Executable executable = Executable::prepare(program(text), open_device(), options);
  const RunReport& report = executable.run(traced());
  EXPECT_THAT(report.findings, IsEmpty());
  ASSERT_THAT(report.traced->edges, SizeIs(1));
  EXPECT_EQ(report.traced->edges[0].early, 1u);
  std::size_t waits = 0;
  for (std::size_t at = report.trace.find("griddepcontrol.wait"); at != std::string::npos;
       at = report.trace.find("griddepcontrol.wait", at + 1)) {
    ++waits;
  }
  EXPECT_EQ(waits, 8u);
}

}  // namespace
}  // namespace baton::session_test::traced_images_test
