#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "baton/rewrite.h"
#include "runtime/device_state.h"
#include "runtime/provider.h"
#include "session/test_program.h"

// Programs whose kernels are given the wait that they lack. The kernels are those of
// testdata/edges.cu, and some that are compiled.

namespace baton::session_test::rewrites_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Rewrites = DeviceTest;

std::string step(const std::string& kernel, const std::string& args, const std::string& more = "") {
  return "[[steps]]\nlaunch = \"" + kernel + "\"\ngrid = [2]\nblock = [32]\nargs = [" + args +
         "]\n" + more;
}

const std::string kBuffers =
    buffer("w", "i32", "[64]", "weight", "ones") + buffer("x", "i32", "[64]", "input", "zeros") +
    buffer("y", "i32", "[64]", "scratch", "zeros") + buffer("z", "i32", "[64]", "output", "zeros");
const std::string kChain = step("never", "\"x\", \"y\"") + step("never", "\"y\", \"z\"") +
                           step("never", "\"z\", \"y\"") + step("never", "\"y\", \"z\"");

Executable prepare(const std::string& text, RewriteMode mode, PdlMode pdl = PdlMode::kAuto) {
  PrepareOptions options;
  options.rewrite = mode;
  options.pdl = pdl;
  return Executable::prepare(program(kBuffers + text), open_device(), options);
}

// "proven programmatic; …", of all edges.
std::string edges_of(Executable& executable) {
  std::string text;
  for (const EdgeReport& edge : executable.check().edges) {
    text += (text.empty() ? "" : "; ") + std::string(to_string(edge.verdict)) +
            (edge.programmatic ? " programmatic" : " full");
  }
  return text;
}

const KernelRewrite& only_rewrite(const Executable& executable) {
  const auto& modules = executable.modules();
  EXPECT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0].rewrites.size(), 1u);
  return modules[0].rewrites.at(0);
}

bool has_pdl() {
  return open_device().architecture() >= 90;
}

TEST_F(Rewrites, AKernelWithoutAWaitGetsOneAndItsEdgesAreProven) {
  if (!has_pdl()) GTEST_SKIP() << "the device has no programmatic dependent launch";
  Executable plain = prepare(edge_kernel("never") + kChain, RewriteMode::kOff);
  EXPECT_EQ(edges_of(plain), "unknown full; unknown full; unknown full");
  EXPECT_THAT(plain.modules()[0].rewrites, IsEmpty());
  EXPECT_FALSE(plain.modules()[0].rewritten);

  for (const RewriteMode mode : {RewriteMode::kAuto, RewriteMode::kWait, RewriteMode::kLoads,
                                 RewriteMode::kExit, RewriteMode::kTop}) {
    Executable executable = prepare(edge_kernel("never") + kChain, mode);
    EXPECT_EQ(edges_of(executable), "proven programmatic; proven programmatic; proven programmatic")
        << to_string(mode);
    const KernelRewrite& rewrite = only_rewrite(executable);
    EXPECT_EQ(rewrite.kernel, "never");
    EXPECT_EQ(rewrite.mode, mode);
    EXPECT_EQ(rewrite.obstacle, "");
    ASSERT_EQ(rewrite.changes.size(), mode <= RewriteMode::kWait ? 1u : 2u);
    EXPECT_EQ(rewrite.changes[0].kind, KernelRewrite::Change::Kind::kWait);
    EXPECT_THAT(rewrite.changes[0].where, HasSubstr("edges.cu:"));
    EXPECT_EQ(rewrite.changes[0].reason,
              "directly after it the kernel reads memory at " + rewrite.changes[0].where);
    ASSERT_TRUE(executable.modules()[0].rewritten);
    executable.run();
    EXPECT_EQ(values<int>(executable.output("z")), std::vector<int>(64, 4)) << to_string(mode);
  }
}

TEST_F(Rewrites, TheProgramSaysItForAKernel) {
  if (!has_pdl()) GTEST_SKIP() << "the device has no programmatic dependent launch";
  Executable executable =
      prepare(edge_kernel("never", "rewrite = \"loads\"\n") + kChain, RewriteMode::kOff);
  EXPECT_EQ(only_rewrite(executable).mode, RewriteMode::kLoads);
  Executable off = prepare(edge_kernel("never", "rewrite = \"off\"\n") + kChain, RewriteMode::kTop);
  EXPECT_THAT(off.modules()[0].rewrites, IsEmpty());
}

TEST_F(Rewrites, WhereNothingMayStartEarlyNothingIsTouched) {
  const std::string kernel = edge_kernel("never", "rewrite = \"wait\"\n");
  const auto untouched = [&](const std::string& text, RewriteMode mode, PdlMode pdl) {
    const Executable executable = prepare(text, mode, pdl);
    return executable.modules()[0].rewrites.empty() && !executable.modules()[0].rewritten;
  };
  EXPECT_TRUE(untouched(kernel + kChain, RewriteMode::kWait, PdlMode::kOff));
  const std::string off = step("never", "\"x\", \"y\"", "pdl = \"off\"\n") +
                          step("never", "\"y\", \"z\"", "pdl = \"off\"\n");
  EXPECT_TRUE(untouched(kernel + off, RewriteMode::kWait, PdlMode::kAuto));
  // A single launch, or one after a copy, has no launch to start beside.
  const std::string single = step("never", "\"x\", \"z\"");
  EXPECT_TRUE(untouched(edge_kernel("never") + single, RewriteMode::kAuto, PdlMode::kAuto));
  EXPECT_TRUE(untouched(
      edge_kernel("never") + single + "[[steps]]\ncopy = { from = \"x\", to = \"y\" }\n" + single,
      RewriteMode::kAuto, PdlMode::kAuto));
  setenv("BATON_PDL", "off", 1);
  EXPECT_TRUE(untouched(kernel + kChain, RewriteMode::kWait, PdlMode::kAuto));
  unsetenv("BATON_PDL");
}

TEST_F(Rewrites, ALaunchThatFollowsItselfCounts) {
  if (!has_pdl()) GTEST_SKIP() << "the device has no programmatic dependent launch";
  Executable executable = prepare(
      edge_kernel("never") +
          "[[steps]]\nrepeat = 3\nsteps = [ { launch = \"never\", grid = [2], block = [32], "
          "args = [\"x\", \"z\"] } ]\n",
      RewriteMode::kAuto);
  EXPECT_EQ(edges_of(executable), "proven programmatic");
}

TEST_F(Rewrites, WhatAProgramInsistsOnHasToBePossible) {
  if (!has_pdl()) GTEST_SKIP() << "the device has no programmatic dependent launch";
  const std::string chain =
      step("overwrites", "\"y\"") + step("overwrites", "\"z\"") + step("overwrites", "\"y\"");
  const Error failure =
      refusal(kBuffers + edge_kernel("overwrites", "rewrite = \"wait\"\n") + chain);
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(failure.message(),
              HasSubstr("rewrite = \"wait\", but overwrites cannot be rewritten: "
                        "it writes memory at edges.cu:"));
  EXPECT_EQ(failure.where().file, "test.toml");
  // By an option it is a wish.
  Executable wish = prepare(edge_kernel("overwrites") + chain, RewriteMode::kWait);
  EXPECT_THAT(only_rewrite(wish).obstacle, HasSubstr("its own wait"));
  EXPECT_THAT(only_rewrite(wish).changes, IsEmpty());
  EXPECT_FALSE(wish.modules()[0].rewritten);

  const Error cubin =
      refusal(kBuffers + "[kernels.k]\ncubin = \"k.cubin\"\nrewrite = \"wait\"\n" + chain);
  EXPECT_THAT(cubin.message(), HasSubstr("only source and PTX can be rewritten"));
  const Error unknown =
      refusal(kBuffers + edge_kernel("overwrites", "rewrite = \"loades\"\n") + chain);
  EXPECT_THAT(unknown.message(), HasSubstr("did you mean \"loads\""));
}

constexpr char kText[] = R"(
text = '''
extern "C" __global__ void mix(const int* __restrict__ w, const int* __restrict__ from, int* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = w[i] + from[i];
}
'''
)";

TEST_F(Rewrites, WeightsAreReadBeforeTheWait) {
  if (!has_pdl()) GTEST_SKIP() << "the device has no programmatic dependent launch";
  const std::string chain = step("mix", "\"w\", \"x\", \"y\"") + step("mix", "\"w\", \"y\", \"z\"");
  Executable executable = prepare(
      "[kernels.mix]" + std::string(kText) + "rewrite = \"wait\"\n" + chain, RewriteMode::kOff);
  EXPECT_EQ(edges_of(executable), "proven programmatic");
  // The load of `from` becomes a plain one, that of the weights does not.
  const std::string ptx(executable.modules()[0].rewritten->bytes());
  const std::size_t wait = ptx.find("griddepcontrol.wait");
  ASSERT_NE(wait, std::string::npos);
  EXPECT_NE(ptx.substr(0, wait).find("ld.global.nc"), std::string::npos) << ptx;
  EXPECT_EQ(ptx.substr(wait).find("ld.global.nc"), std::string::npos) << ptx;
  executable.run();
  EXPECT_EQ(values<int>(executable.output("z")), std::vector<int>(64, 2));

  // What is a weight in one launch only, is none.
  Executable both =
      prepare("[kernels.mix]" + std::string(kText) + chain + step("mix", "\"y\", \"x\", \"z\""),
              RewriteMode::kWait);
  const std::string late(both.modules()[0].rewritten->bytes());
  EXPECT_EQ(late.find("ld.global.nc"), std::string::npos);
  EXPECT_EQ(edges_of(both), "proven programmatic; proven programmatic");
}

// A simulated GPU whose driver refuses PTX that waits.
Device device_without_waits() {
  static driver::Driver table = *driver_providers().back().driver(nullptr);
  table.cuLibraryLoadData = [](CUlibrary* library, const void* code, auto... more) -> CUresult {
    const std::string_view text = static_cast<const char*>(code);
    const bool waits = text.find("griddepcontrol.wait") != std::string_view::npos;
    if (waits) return CUDA_ERROR_INVALID_PTX;
    return driver_providers().back().driver(nullptr)->cuLibraryLoadData(library, code, more...);
  };
  return DeviceState::handle(DeviceState::acquire(driver_providers().back(), table,
                                                  *driver_providers().back().ordinal("h200")));
}

TEST_F(Rewrites, WhatTheDriverRefusesIsLoadedAsItWas) {
  const std::string chain = step("mix", "\"w\", \"x\", \"y\"") + step("mix", "\"w\", \"y\", \"z\"");
  PrepareOptions options;
  options.rewrite = RewriteMode::kWait;
  Executable executable =
      Executable::prepare(program(kBuffers + "[kernels.mix]" + std::string(kText) + chain),
                          device_without_waits(), options);
  EXPECT_NE(only_rewrite(executable).obstacle, "");
  EXPECT_THAT(only_rewrite(executable).changes, IsEmpty());
  EXPECT_FALSE(executable.modules()[0].rewritten);
  EXPECT_EQ(edges_of(executable), "unknown full");
  executable.run();
  EXPECT_EQ(values<int>(executable.output("z")), std::vector<int>(64, 2));
}

TEST_F(Rewrites, AKernelThatWaitsGetsPlainLoadsAndItsEdgesAreProven) {
  if (!has_pdl()) GTEST_SKIP() << "the device has no programmatic dependent launch";
  const std::string chain =
      step("non_coherent", "\"x\", \"y\"") + step("non_coherent", "\"y\", \"z\"") +
      step("non_coherent", "\"z\", \"y\"") + step("non_coherent", "\"y\", \"z\"");
  Executable plain = prepare(edge_kernel("non_coherent") + chain, RewriteMode::kOff);
  EXPECT_EQ(edges_of(plain), "unknown full; unknown full; unknown full");
  for (const RewriteMode mode : {RewriteMode::kAuto, RewriteMode::kWait, RewriteMode::kLoads,
                                 RewriteMode::kExit, RewriteMode::kTop}) {
    SCOPED_TRACE(to_string(mode));
    Executable executable = prepare(edge_kernel("non_coherent") + chain, mode);
    EXPECT_EQ(edges_of(executable),
              "proven programmatic; proven programmatic; proven programmatic");
    const KernelRewrite& rewrite = only_rewrite(executable);
    EXPECT_EQ(rewrite.obstacle, "");
    EXPECT_THAT(rewrite.own, HasSubstr("its own wait, at edges.cu:"));
    // And the trigger that is asked for.
    ASSERT_EQ(rewrite.changes.size(), mode <= RewriteMode::kWait ? 1u : 2u);
    EXPECT_EQ(rewrite.changes.back().kind, KernelRewrite::Change::Kind::kPlainLoad);
    ASSERT_TRUE(executable.modules()[0].rewritten);
    const std::string_view ptx = executable.modules()[0].rewritten->bytes();
    const std::size_t begin = ptx.find("entry non_coherent");
    EXPECT_EQ(ptx.substr(begin, ptx.find("ret;", begin) - begin).find("ld.global.nc"),
              std::string_view::npos);
    executable.run();
    EXPECT_EQ(values<int>(executable.output("z")), std::vector<int>(64, 4));
  }
}

TEST_F(Rewrites, WhereNothingIsToBeDoneItIsSaid) {
  if (!has_pdl()) GTEST_SKIP() << "the device has no programmatic dependent launch";
  const std::string chain = step("late", "\"x\", \"y\"") + step("late", "\"y\", \"z\"");
  // Also where the program insists: the kernel has what it asks for.
  const Executable executable =
      prepare(edge_kernel("late", "rewrite = \"wait\"\n") + chain, RewriteMode::kOff);
  EXPECT_EQ(only_rewrite(executable).obstacle, "");
  EXPECT_THAT(only_rewrite(executable).own, HasSubstr("its own wait, at edges.cu:"));
  EXPECT_THAT(only_rewrite(executable).changes, IsEmpty());
  EXPECT_FALSE(executable.modules()[0].rewritten);
}

// As norms of public libraries are: the scale is read ahead of the wait.
constexpr char kScaled[] = R"(
text = '''
#include <baton/device/pdl.cuh>
extern "C" __global__ void scaled(const int* scale, const int* __restrict__ from,
                                  int* __restrict__ to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int by = baton::device::pdl_load(scale);
  baton::device::pdl_wait();
  to[i] = by * from[i] + 1;
}
'''
)";

TEST_F(Rewrites, WhatAKernelReadsAheadOfItsWaitHasToBeAWeight) {
  if (!has_pdl()) GTEST_SKIP() << "the device has no programmatic dependent launch";
  const std::string kernel = "[kernels.scaled]" + std::string(kScaled);
  const std::string fixed =
      kernel + step("scaled", "\"w\", \"x\", \"y\"") + step("scaled", "\"w\", \"y\", \"z\"");
  Executable before = prepare(fixed, RewriteMode::kOff);
  EXPECT_EQ(edges_of(before), "unknown full");
  Executable after = prepare(fixed, RewriteMode::kAuto);
  EXPECT_EQ(edges_of(after), "proven programmatic");
  after.run();
  EXPECT_EQ(values<int>(after.output("z")), std::vector<int>(64, 2));

  const std::string computed =
      kernel + step("scaled", "\"x\", \"x\", \"y\"") + step("scaled", "\"y\", \"y\", \"z\"");
  for (const RewriteMode mode : {RewriteMode::kOff, RewriteMode::kAuto, RewriteMode::kTop}) {
    Executable race = prepare(computed, mode);
    EXPECT_EQ(edges_of(race), "unsafe full") << to_string(mode);
    if (mode == RewriteMode::kOff) continue;
    EXPECT_THAT(only_rewrite(race).obstacle, HasSubstr("it reads memory at"));
    EXPECT_FALSE(race.modules()[0].rewritten);
  }
}

constexpr char kAsserts[] = R"(
text = '''
extern "C" __global__ void asserts(const int* __restrict__ w, const int* __restrict__ from, int* to,
                                   int n) {
  assert(n > 0);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = w[i] + from[i];
}
'''
)";

TEST_F(Rewrites, AnAssertionDoesNotHoldBackWhatMayComeEarly) {
  if (!has_pdl()) GTEST_SKIP() << "the device has no programmatic dependent launch";
  const auto chain = [](const std::string& n) {
    return "[kernels.asserts]" + std::string(kAsserts) + step("asserts", "\"w\", \"x\", \"y\", 1") +
           step("asserts", "\"w\", \"y\", \"z\", " + n);
  };
  {
    Executable executable = prepare(chain("1"), RewriteMode::kWait);
    EXPECT_EQ(edges_of(executable), "proven programmatic");
    const std::string ptx(executable.modules()[0].rewritten->bytes());
    const std::size_t entry = ptx.find(".entry asserts");
    EXPECT_LT(ptx.find("__assertfail", entry), ptx.find("griddepcontrol.wait", entry)) << ptx;
    executable.run();
    EXPECT_EQ(values<int>(executable.output("z")), std::vector<int>(64, 2));
  }

  if (!is_simulated(open_device())) GTEST_SKIP() << "a failed assertion ends a GPU's context";
  const auto failure_of = [&](RewriteMode mode, const Schedule& schedule) {
    Executable fails = prepare(chain("0"), mode);
    fails.bind();
    try {
      fails.run({.schedule = schedule});
    } catch (const Error& failure) {
      return failure.message();
    }
    return std::string();
  };
  for (const ScheduleKind kind :
       {ScheduleKind::kSerial, ScheduleKind::kEarly, ScheduleKind::kLate, ScheduleKind::kReverse}) {
    const std::string want = failure_of(RewriteMode::kOff, {kind});
    EXPECT_THAT(want, HasSubstr("assertion `n > 0' failed"));
    EXPECT_EQ(failure_of(RewriteMode::kWait, {kind}), want);
  }
}

TEST_F(Rewrites, OptionsOfTheAssemblerKeepTheMachineCode) {
  if (!has_pdl()) GTEST_SKIP() << "the device has no programmatic dependent launch";
  const std::string chain = step("mix", "\"w\", \"x\", \"y\"") + step("mix", "\"w\", \"y\", \"z\"");
  const Executable executable =
      prepare("[kernels.mix]" + std::string(kText) + "options = [\"-maxrregcount=32\"]\n" + chain,
              RewriteMode::kAuto);
  EXPECT_THAT(only_rewrite(executable).obstacle,
              HasSubstr("-maxrregcount=32 is for the assembler"));
  EXPECT_FALSE(executable.modules()[0].rewritten);
}

TEST_F(Rewrites, KernelsThatAreOneFunctionSayTheSame) {
  if (!has_pdl()) GTEST_SKIP() << "the device has no programmatic dependent launch";
  const std::string two =
      "[kernels.a]\nptx = \"edges.ptx\"\nentry = \"never\"\nrewrite = \"wait\"\n"
      "[kernels.b]\nptx = \"edges.ptx\"\nentry = \"never\"\n";
  const std::string chain = step("a", "\"x\", \"y\"") + step("b", "\"y\", \"z\"");
  EXPECT_THAT(refusal(kBuffers + two + chain).message(),
              HasSubstr("the kernels a and b are one function, never"));
  Executable same = prepare(two + "rewrite = \"wait\"\n" + chain, RewriteMode::kOff);
  EXPECT_EQ(same.modules()[0].rewrites.size(), 2u);
  EXPECT_EQ(edges_of(same), "proven programmatic");
}

// A kernel that stores one word.
std::string storing_ptx(const std::string& target) {
  return ".version 8.0\n.target " + target +
         "\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<2>;\n"
         "  ld.param.u64 %rd1, [p];\n  st.global.u32 [%rd1], 1;\n  ret;\n}\n";
}

TEST(RewriteImage, AddsAWaitAndATrigger) {
  const Image ptx = Image::from_bytes(storing_ptx("sm_90"), "k.ptx");
  const RewrittenPtx done = rewrite(ptx, RewriteMode::kExit);
  ASSERT_EQ(done.kernels.size(), 1u);
  EXPECT_EQ(done.kernels[0].kernel, "k");
  EXPECT_EQ(done.kernels[0].obstacle, "");
  EXPECT_EQ(done.kernels[0].changes.size(), 2u);
  const std::string text(done.image.bytes());
  EXPECT_LT(text.find("griddepcontrol.wait"), text.find("st.global"));
  EXPECT_NE(text.find("griddepcontrol.launch_dependents"), std::string::npos);
  // A kernel that waits keeps its wait, and is not changed again.
  const RewrittenPtx again = rewrite(done.image, RewriteMode::kExit);
  EXPECT_TRUE(again.kernels[0].changes.empty());
  EXPECT_EQ(again.image.bytes(), done.image.bytes());
}

TEST(RewriteImage, RefusesWhatItCannotRewrite) {
  const Image old = Image::from_bytes(storing_ptx("sm_80"), "k.ptx");
  EXPECT_THROW(rewrite(old, RewriteMode::kWait), Error);
  const Image ptx = Image::from_bytes(storing_ptx("sm_90"), "k.ptx");
  EXPECT_THROW(rewrite(ptx, RewriteMode::kAuto), Error);
  EXPECT_THROW(rewrite(ptx, RewriteMode::kOff), Error);
}

}  // namespace
}  // namespace baton::session_test::rewrites_test
