#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file/file.h"
#include "session/test_program.h"

// Launch attributes and edges of programs: what is sent, what is refused before anything runs, and
// what a check says of it.

namespace baton::session_test::launch_attributes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A variable of the environment for the length of a test.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Setting() { unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

std::string attribute_kernel(const std::string& name, const std::string& defaults = "") {
  return "[kernels." + name + "]\nptx = \"attributes.ptx\"\nentry = \"" + name + "\"\n" +
         (defaults.empty() ? "" : "[kernels." + name + ".launch]\n" + defaults + "\n");
}

std::string launch(const std::string& kernel, const std::string& args, const std::string& more,
                   const std::string& grid = "8") {
  return "[[steps]]\nlaunch = \"" + kernel + "\"\ngrid = [" + grid + "]\nblock = [32]\nargs = [" +
         args + "]\n" + more + "\n";
}

const std::string kClusterBuffers = "[symbols]\nC = 2\nP = 3\n" +
                                    buffer("rank", "u32", "[8]", "output") +
                                    buffer("size", "u32", "[8]", "output");
const std::string kClusterArgs = "\"rank\", \"size\"";
const std::string kCount = buffer("x", "i32", "[256]", "inout", "zeros");
const std::string kCountArgs = "\"x\", 256";

Executable prepare(const std::string& text, PdlMode pdl = PdlMode::kAuto) {
  PrepareOptions options;
  options.pdl = pdl;
  return Executable::prepare(program(text), open_device(), options);
}

// The names of what each step of a run was sent with.
std::vector<std::string> names_of(const StepReport& step) {
  std::vector<std::string> names;
  for (const LaunchAttribute& each : step.attributes) names.push_back(each.name());
  return names;
}

bool sent_pdl(const StepReport& step) {
  for (const LaunchAttribute& each : step.attributes) {
    if (each.id() == AttributeId::kPdl) return true;
  }
  return false;
}

// Which launches of a run were sent so that they may overlap the one before.
std::vector<bool> overlapping(const std::string& text, PdlMode pdl = PdlMode::kAuto) {
  Executable executable = prepare(text, pdl);
  std::vector<bool> sent;
  for (const StepReport& step : executable.run().steps) {
    if (step.kind == StepReport::Kind::kLaunch) sent.push_back(sent_pdl(step));
  }
  return sent;
}

using LaunchAttributesTest = DeviceTest;
using EdgesTest = DeviceTest;
using CheckTest = DeviceTest;

TEST_F(LaunchAttributesTest, AClusterIsOne) {
  Executable executable = prepare(kClusterBuffers + attribute_kernel("clusters") +
                                  launch("clusters", kClusterArgs, "cluster = [\"2*C\", 1]"));
  const RunReport& report = executable.run();
  EXPECT_THAT(values<std::uint32_t>(executable.output("rank")),
              ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(values<std::uint32_t>(executable.output("size")),
              ElementsAre(4, 4, 4, 4, 4, 4, 4, 4));
  EXPECT_THAT(names_of(report.steps[0]), ElementsAre("cluster"));
}

TEST_F(LaunchAttributesTest, AGridThatMeetsAndIsNotCooperativeIsAWarning) {
  const auto warnings = [](const std::string& of_kernel, const std::string& of_step) {
    return prepare(
               "[buffers.x]\ndtype = \"u32\"\nshape = [1]\nrole = \"output\"\n"
               "[kernels.meets]\ntext = '''extern \"C\" __global__ void meets(unsigned* x) {\n"
               "unsigned low, high;\n"
               "asm(\"mov.u32 %0, %%envreg2;\" : \"=r\"(low));\n"
               "asm(\"mov.u32 %0, %%envreg1;\" : \"=r\"(high));\n"
               "if (low == 1 && high == 1) *x = 1; }'''\n" +
               of_kernel + "[[steps]]\nlaunch = \"meets\"\ngrid = [1]\nblock = [32]\n" +
               "args = [\"x\"]\n" + of_step)
        .check()
        .warnings;
  };
  const std::string asked = "cooperative = true\n";
  EXPECT_THAT(warnings("", ""), ElementsAre(HasSubstr("write cooperative = true")));
  EXPECT_THAT(warnings("", asked), IsEmpty());
  EXPECT_THAT(warnings("[kernels.meets.launch]\n" + asked, ""), IsEmpty());
  EXPECT_THAT(warnings("[kernels.meets.launch]\n" + asked, "cooperative = false\n"),
              ElementsAre(HasSubstr("meets across its grid")));
}

TEST_F(LaunchAttributesTest, StepsOverrideTheKernelsDefaults) {
  Executable executable =
      prepare(kClusterBuffers +
              attribute_kernel("clusters", "cluster = [4]\npriority = 0\ncooperative = true") +
              launch("clusters", kClusterArgs, "cluster = [\"C\"]\ncooperative = false") +
              launch("clusters", kClusterArgs, ""));
  const RunReport& report = executable.run();
  EXPECT_THAT(names_of(report.steps[0]), ElementsAre("priority", "cluster"));
  EXPECT_EQ(report.steps[0].attributes[1], cluster(2));
  EXPECT_THAT(names_of(report.steps[1]), ElementsAre("cooperative", "cluster", "priority"));
  EXPECT_EQ(report.steps[1].attributes[1], cluster(4));
}

TEST_F(LaunchAttributesTest, ValuesAreWhatTheProgramSays) {
  Executable executable = prepare(
      kClusterBuffers + attribute_kernel("clusters") +
      launch("clusters", kClusterArgs,
             "priority = \"-P\"\nmem_sync_domain = \"remote\"\n"
             "mem_sync_domain_map = { default = 0, remote = 1 }\n"
             "cluster = [1]\npreferred_cluster = [\"C\"]\ncluster_scheduling_policy = \"spread\"\n"
             "preferred_shared_memory_carveout = 50\nnvlink_util_centric_scheduling = true"));
  const RunReport& report = executable.run();
  EXPECT_THAT(report.steps[0].attributes,
              ElementsAre(cluster(1), cluster_scheduling_policy(ClusterSchedulingPolicy::kSpread),
                          priority(-3), mem_sync_domain_map(0, 1),
                          mem_sync_domain(MemSyncDomain::kRemote), preferred_cluster(2),
                          preferred_shared_memory_carveout(50), nvlink_util_centric_scheduling()));
}

TEST_F(LaunchAttributesTest, AWindowStandsInItsBuffer) {
  const auto window = [](const std::string& place, const std::string& bytes) {
    return kCount + attribute_kernel("hasty") +
           launch(
               "hasty", kCountArgs,
               "access_policy_window = { buffer = \"" + place + "\", num_bytes = \"" + bytes +
                   "\", hit_ratio = 0.5, hit_prop = \"persisting\", miss_prop = \"streaming\" }");
  };
  Executable executable = prepare(window("x + 64", "4*64"));
  const RunReport& report = executable.run();
  ASSERT_EQ(report.steps[0].attributes.size(), 1u);
  const auto base = report.steps[0].attributes[0].as<std::uint64_t>();
  EXPECT_EQ(base % 256, 0u);
  EXPECT_EQ(report.steps[0].attributes[0],
            access_policy_window(base, 256, 0.5f, AccessProperty::kPersisting,
                                 AccessProperty::kStreaming));
  EXPECT_THAT(
      refusal(window("x + 64", "4*193")).message(),
      HasSubstr("access_policy_window has 772 bytes from byte 256 of x on, which has 1024"));
  EXPECT_THAT(refusal(window("x + 257", "4")).message(),
              HasSubstr("starts at x + 257, outside the buffer of 256 elements"));
}

TEST_F(LaunchAttributesTest, WhatBreaksALimitIsRefusedBeforeAnythingRuns) {
  const auto refused = [](const std::string& more, const std::string& grid) {
    const Error failure = refusal(kClusterBuffers + attribute_kernel("clusters") +
                                  launch("clusters", kClusterArgs, more, grid));
    EXPECT_EQ(exit_status(failure.code()), 2) << failure.what();
    EXPECT_EQ(failure.where().line, 15) << failure.what();
    return failure.message();
  };
  EXPECT_THAT(refused("cluster = [3]", "8"), HasSubstr("is not divisible by the cluster"));
  EXPECT_THAT(refused("cluster = [32]", "32"), HasSubstr("has 32 blocks"));
  EXPECT_THAT(refused("cooperative = true", "1000000"),
              HasSubstr("the largest grid that fits has"));
}

TEST_F(LaunchAttributesTest, NumbersThatComeOutWrongNameTheirValues) {
  const Error failure = refusal(kClusterBuffers + attribute_kernel("clusters") +
                                launch("clusters", kClusterArgs, "cluster = [\"C - 2\"]"));
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(failure.what(), HasSubstr("cluster.x is 0, it takes an integer from 1"));
  EXPECT_THAT(failure.what(), HasSubstr("(C = 2)"));
  EXPECT_EQ(failure.where().line, 20);
}

// What driver or device lack is their fault, not the program's.
TEST_F(LaunchAttributesTest, WhatTheDriverLacksIsUnsupported) {
  if (open_device().driver_version() >= 13020) GTEST_SKIP() << "the driver has it";
  const Error failure =
      refusal(kClusterBuffers + attribute_kernel("clusters") +
              launch("clusters", kClusterArgs, "shared_memory_mode = \"require_portable\""));
  EXPECT_EQ(exit_status(failure.code()), 3);
  EXPECT_THAT(failure.message(), HasSubstr("needs a driver of CUDA 13.2"));
}

std::string edge_program(const std::string& pdl, const std::string& kernel_name = "after") {
  return kCount + attribute_kernel("hasty") +
         (kernel_name == "hasty" ? "" : attribute_kernel(kernel_name)) +
         launch("hasty", kCountArgs, "") + launch(kernel_name, kCountArgs, pdl) +
         launch("hasty", kCountArgs, "");
}

TEST_F(EdgesTest, AutoIsSentWhereItIsProven) {
  EXPECT_THAT(overlapping(edge_program("")), ElementsAre(false, true, false));
  EXPECT_THAT(overlapping(edge_program("pdl = \"auto\"")), ElementsAre(false, true, false));
  EXPECT_THAT(overlapping(edge_program("", "hasty")), ElementsAre(false, false, false));
  EXPECT_THAT(overlapping(edge_program("pdl = \"off\"")), ElementsAre(false, false, false));
}

TEST_F(EdgesTest, OnAndForceAreSent) {
  EXPECT_THAT(overlapping(edge_program("pdl = \"on\"")), ElementsAre(false, true, false));
  // Whoever runs it may find what is wrong with it.
  const CheckReport forced = prepare(edge_program("pdl = \"force\"", "hasty")).check();
  EXPECT_TRUE(forced.launches[1].config->attributes.find(AttributeId::kPdl));
}

// An event between them would keep them apart.
TEST_F(EdgesTest, LaunchesThatOverlapAreTimedTogether) {
  Executable executable = prepare(edge_program("pdl = \"on\""));
  RunOptions options;
  options.repeat = 3;
  const RunReport& report = executable.run(options);
  ASSERT_EQ(report.steps.size(), 3u);
  EXPECT_FALSE(report.steps[0].seconds.has_value());
  EXPECT_FALSE(report.steps[0].times.has_value());
  EXPECT_TRUE(report.steps[1].seconds.has_value());
  EXPECT_EQ(report.steps[1].times->count, 2u);
  if (!report.steps[1].bytes_counted) return;
  for (const int k : {0, 1}) {
    EXPECT_EQ(report.steps[k].bytes, 256 * 2 * 4u) << "each reads and writes every element";
    EXPECT_GT(*report.steps[k].instructions, 0u);
  }

  Executable apart = prepare(edge_program("pdl = \"off\""));
  EXPECT_TRUE(apart.run().steps[0].seconds.has_value());
  EXPECT_EQ(apart.report().steps[0].bytes, 256 * 2 * 4u);
}

TEST_F(EdgesTest, OnIsRefusedWithoutAWait) {
  const Error failure = refusal(edge_program("pdl = \"on\"", "hasty"));
  EXPECT_EQ(exit_status(failure.code()), 2);
  EXPECT_THAT(failure.message(), HasSubstr("the kernel hasty never waits for the step before"));
}

TEST_F(EdgesTest, OnIsRefusedWhereTheStepBeforeIsNoLaunch) {
  const std::string fill = "[[steps]]\nfill = { buffer = \"x\", value = 0 }\n";
  const std::string kernel = kCount + attribute_kernel("after");
  const Error after_fill = refusal(kernel + fill + launch("after", kCountArgs, "pdl = \"on\""));
  EXPECT_THAT(after_fill.message(), HasSubstr("the step before is not a launch"));
  EXPECT_EQ(exit_status(after_fill.code()), 2);
  EXPECT_THAT(refusal(kernel + launch("after", kCountArgs, "pdl = \"on\"")).message(),
              HasSubstr("there is no step before"));
  // The edge from the group's own last step.
  EXPECT_THAT(
      refusal(kernel + launch("after", kCountArgs, "") +
              "[[steps]]\nrepeat = 2\nsteps = [ { launch = \"after\", grid = [1], block = "
              "[1], args = [\"x\", 1], pdl = \"on\" }, { fill = { buffer = \"x\", value = 0 "
              "} } ]\n")
          .message(),
      HasSubstr("the step before is not a launch"));
  // Taken, and full.
  EXPECT_THAT(overlapping(kernel + fill + launch("after", kCountArgs, "pdl = \"force\"")),
              ElementsAre(false));
}

TEST_F(EdgesTest, InAGroupIterationsFollowEachOther) {
  EXPECT_THAT(overlapping(kCount + attribute_kernel("after", "pdl = \"on\"") +
                          "[[steps]]\nrepeat = 3\nsteps = [ { launch = \"after\", grid = [1], "
                          "block = [1], args = [\"x\", 1] } ]\n"),
              ElementsAre(false, true, true));
}

TEST_F(EdgesTest, AreFullAfterASkippedLaunch) {
  EXPECT_THAT(
      overlapping("[symbols]\nZ = 0\n" + kCount + attribute_kernel("after") +
                  launch("after", kCountArgs, "") + launch("after", kCountArgs, "", "\"Z\"") +
                  launch("after", kCountArgs, "pdl = \"on\"")),
      ElementsAre(false, false, false));
}

TEST_F(EdgesTest, WhatOverridesWhat) {
  // --pdl speaks for the steps that say auto, where an edge can be.
  EXPECT_THAT(overlapping(edge_program(""), PdlMode::kOn), ElementsAre(false, true, false));
  EXPECT_THAT(overlapping(edge_program("pdl = \"off\""), PdlMode::kOn),
              ElementsAre(false, false, false));
  EXPECT_THAT(overlapping(edge_program("pdl = \"on\""), PdlMode::kOff),
              ElementsAre(false, true, false));
  {
    const Setting off("BATON_PDL", "off");
    EXPECT_THAT(overlapping(edge_program("pdl = \"force\""), PdlMode::kOn),
                ElementsAre(false, false, false));
  }
  const Setting wrong("BATON_PDL", "of");
  EXPECT_THAT(refusal(edge_program("")).message(), HasSubstr("did you mean \"off\""));
}

TEST_F(CheckTest, SaysWhatALaunchWouldBe) {
  Executable executable = prepare(
      "[symbols]\nL = 3\nZ = 0\n" + kCount + buffer("needed", "f32", "[4]", "input") +
      attribute_kernel("after") + launch("after", kCountArgs, "shared = 1024") +
      "[[steps]]\nrepeat = \"L\"\nindex = \"i\"\nsteps = [ { launch = \"after\", grid = [\"i\"], "
      "block = [64], args = [\"x\", 256], cooperative = true } ]\n" +
      launch("after", kCountArgs, "", "\"Z\""));
  // Without contents for its input, which a run would need.
  const CheckReport report = executable.check();
  EXPECT_EQ(report.steps, 5u);
  ASSERT_EQ(report.launches.size(), 3u);
  const LaunchReport& first = report.launches[0];
  EXPECT_EQ(first.kernel, "after");
  ASSERT_TRUE(first.config && first.limits);
  EXPECT_EQ(first.config->grid, Dim3(8));
  EXPECT_EQ(first.config->shared, 1024u);
  EXPECT_EQ(first.limits->max_threads, 1024u);
  EXPECT_GT(first.limits->max_dynamic_shared, 1024u);
  const LaunchReport& repeated = report.launches[1];
  EXPECT_EQ(repeated.executions, 3u);
  EXPECT_EQ(repeated.skipped, 1u);
  EXPECT_TRUE(repeated.config->cooperative());
  EXPECT_GE(*repeated.limits->max_cooperative_blocks, 2u);
  EXPECT_EQ(report.launches[2].skipped, 1u);
  EXPECT_FALSE(report.launches[2].config);
}

TEST_F(CheckTest, ListsEveryEdgeOnce) {
  Executable executable =
      prepare(kCount + attribute_kernel("after") + launch("after", kCountArgs, "") +
              "[[steps]]\nrepeat = 1000\nsteps = [ { launch = \"after\", grid = [1], block = [1], "
              "args = [\"x\", 1] }, { launch = \"after\", grid = [1], block = [1], args = [\"x\", "
              "1], pdl = \"off\" } ]\n[[steps]]\nfill = { buffer = \"x\", value = 0 }\n" +
              launch("after", kCountArgs, ""));
  std::vector<std::tuple<int, int, bool>> edges;
  for (const EdgeReport& edge : executable.check().edges) {
    EXPECT_EQ(edge.verdict, EdgeVerdict::kProven);
    EXPECT_THAT(edge.reason, HasSubstr("after waits before it touches"));
    edges.emplace_back(edge.from, edge.to, edge.programmatic);
  }
  EXPECT_THAT(edges,
              ElementsAre(std::tuple(0, 1, true), std::tuple(2, 1, true), std::tuple(1, 2, false)));
  EXPECT_THAT(executable.edges(), IsEmpty()) << "nothing is bound";
}

// Each thread stores the extents of its block as the digits of a number.
constexpr char kFixedBlock[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry extents(.param .u64 out)
.reqntid 4, 2, 1
{
  .reg .b32 %r<7>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %ntid.y;
  mov.u32 %r3, %ntid.z;
  mad.lo.s32 %r4, %r1, 10, %r2;
  mad.lo.s32 %r4, %r4, 10, %r3;
  mov.u32 %r5, %tid.x;
  mov.u32 %r6, %tid.y;
  mad.lo.s32 %r5, %r6, %r1, %r5;
  mul.wide.u32 %d2, %r5, 4;
  add.s64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r4;
  ret;
}
)";

TEST_F(LaunchAttributesTest, ABlockThatTheImageFixesNeedNotBeWritten) {
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "extents.ptx";
  std::ofstream(file) << kFixedBlock;
  const std::string launch = "[[steps]]\nlaunch = \"extents\"\ngrid = [1]\nargs = [\"y\"]\n";
  Executable executable = prepare(buffer("y", "i32", "[8]", "output", "zeros") +
                                  "[kernels.extents]\nptx = \"" + file.string() + "\"\n" + launch);
  executable.run();
  EXPECT_EQ(values<int>(executable.output("y")), std::vector<int>(8, 421));
}

}  // namespace
}  // namespace baton::session_test::launch_attributes_test
