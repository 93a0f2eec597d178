#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "launch/co_residency.h"
#include "session/test_program.h"

// Launches that start early, and how their blocks spread over the multiprocessors: kernels of
// testdata/edges.cu.

namespace baton::session_test::even_placement_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Property;

// `hands_over` adds 1 to each element, after its wait, and triggers there; `late` never triggers.
const std::string kProgram = R"(
[symbols]
G = 1
B = 512
[buffers.x]
dtype = "i32"
shape = ["G*B"]
role = "inout"
init = "zeros"
[buffers.y]
dtype = "i32"
shape = ["G*B"]
init = "zeros"
[buffers.z]
dtype = "i32"
shape = ["G*B"]
role = "output"
[kernels.hands_over]
ptx = "edges.ptx"
entry = "hands_over"
[kernels.late]
ptx = "edges.ptx"
entry = "late"
[kernels.never]
ptx = "edges.ptx"
entry = "never"
[kernels.eager]
ptx = "edges.ptx"
entry = "eager"
)";

std::string step(const std::string& from, const std::string& to, const std::string& more = "",
                 const std::string& kernel = "hands_over") {
  return "{ launch = \"" + kernel + "\", grid = [\"G\"], block = [\"B\"], args = [\"" + from +
         "\", \"" + to + "\"]" + (more.empty() ? "" : ", " + more) + " }";
}

// One block of a kernel that lets others in before it has waited.
std::string small_step(const std::string& from, const std::string& to,
                       const std::string& more = "") {
  return "{ launch = \"eager\", grid = [1], block = [32], args = [\"" + from + "\", \"" + to +
         "\"]" + (more.empty() ? "" : ", " + more) + " }";
}

std::string steps(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& each : list) text += (text.empty() ? "" : ", ") + each;
  return "[[steps]]\nrepeat = 1\nsteps = [ " + text + " ]\n";
}

const std::string kEven = "placement = \"even\"";

class Spread : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && open_device().architecture() < 90) {
      GTEST_SKIP() << "the device has no programmatic dependent launch";
    }
  }

  static Executable prepare(const std::string& text, const PrepareOptions& options = {}) {
    return Executable::prepare(program(kProgram + text), open_device(), options);
  }
  // So many blocks for each multiprocessor.
  static Bindings blocks(std::uint32_t per_multiprocessor, std::int64_t threads) {
    Bindings bindings;
    const std::uint32_t count = open_device().limits().multiprocessors;
    bindings.symbols = {{"G", std::int64_t{count} * per_multiprocessor}, {"B", threads}};
    return bindings;
  }
  static bool is_like_an_h200() {
    const chip::Multiprocessor has = launch::multiprocessor_of(open_device());
    return has.shared == 233472 && has.reserved_shared == 1024 && has.threads == 2048;
  }
};

TEST_F(Spread, TheDriverCountsAlikeWhereOneKernelIsAlone) {
  const Device device = open_device();
  const chip::Multiprocessor multiprocessor = launch::multiprocessor_of(device);
  Executable executable = prepare(steps({step("x", "z")}));
  const Kernel kernel = executable.module("hands_over").kernel("hands_over");
  for (const std::uint32_t threads : {1, 32, 33, 96, 160, 256, 384, 512, 768, 1024}) {
    for (const std::uint32_t shared : {0, 1, 1000, 16384, 20384, 49152, 65024, 115200, 115201}) {
      if (shared > kernel.max_dynamic_shared()) continue;
      const LaunchConfig config{.block = threads, .shared = shared};
      const auto needs = launch::needs_of_block(kernel, config);
      EXPECT_EQ(launch::fit_beside(multiprocessor, {}, needs).blocks,
                kernel.blocks_per_multiprocessor(config))
          << threads << " threads, " << shared << " bytes";
    }
  }
}

TEST_F(Spread, CheckSaysHowManyBlocksFitBeside) {
  if (!is_like_an_h200()) GTEST_SKIP() << "the numbers are an H200's";
  Executable executable = prepare(steps({step("x", "y"), step("y", "z")}));
  // One block of 16 warps stands on each multiprocessor, which has room for 48 more.
  CheckReport report = executable.check(blocks(1, 512));
  ASSERT_EQ(report.edges.size(), 1u);
  ASSERT_TRUE(report.edges[0].programmatic);
  ASSERT_TRUE(report.edges[0].room);
  EXPECT_EQ(report.edges[0].room->held, 1u);
  EXPECT_EQ(report.edges[0].room->beside, 3u);
  EXPECT_EQ(report.edges[0].room->share, 1u);
  EXPECT_EQ(report.edges[0].room->limit, "threads");
  EXPECT_EQ(report.launches[1].padding, 0u);
  EXPECT_EQ(report.launches[1].placement, "");
  // Four of them fill it, however many the grid has.
  report = executable.check(blocks(9, 512));
  EXPECT_EQ(report.edges[0].room->held, 4u);
  EXPECT_EQ(report.edges[0].room->beside, 0u);
  EXPECT_EQ(report.edges[0].room->share, 9u);

  PrepareOptions options;
  options.pdl = PdlMode::kOff;
  Executable full = prepare(steps({step("x", "y"), step("y", "z")}), options);
  EXPECT_FALSE(full.check(blocks(1, 512)).edges[0].room);
}

TEST_F(Spread, PaddingLeavesRoomForTheShareAlone) {
  for (const ExecutorKind kind : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    PrepareOptions options;
    options.executor = kind;
    Executable executable =
        prepare(steps({step("x", "y"), step("y", "z", "shared = 100, " + kEven)}), options);
    const CheckReport report = executable.check(blocks(1, 512));
    const LaunchReport& padded = report.launches[1];
    EXPECT_EQ(report.edges[0].room->beside, 1u);
    EXPECT_EQ(report.edges[0].room->limit, "shared memory");
    EXPECT_EQ(padded.placement, "no more than its share of 1 fits beside 1 of launch 0");
    EXPECT_EQ(padded.config->shared, 100 + padded.padding);
    // As in launch/co_residency_test.cc.
    if (is_like_an_h200()) {
      EXPECT_EQ(padded.config->shared, 115328u);
    }
    EXPECT_EQ(report.launches[0].padding, 0u);

    executable.bind(blocks(1, 512));
    const RunReport& run = executable.run();
    EXPECT_EQ(run.steps[0].shared, 0u);
    EXPECT_EQ(run.steps[1].shared, padded.config->shared);
    const std::vector<int> out = values<int>(executable.output("z"));
    EXPECT_EQ(out, std::vector<int>(out.size(), 2));
  }
}

// Without padding each execution has the shared memory that its step gives it.
TEST_F(Spread, WithoutPaddingSharedMemoryStaysAsItIs) {
  const std::string shrinking = "shared = \"1024 * (3 - i)\"", growing = "shared = \"1024 * i\"";
  for (const std::string& shared : {shrinking, growing, growing + ", " + kEven}) {
    Executable executable = prepare("[[steps]]\nrepeat = 3\nindex = \"i\"\nsteps = [ " +
                                    step("x", "z", shared, "late") + " ]\n");
    const CheckReport report = executable.check(blocks(1, 32));
    EXPECT_EQ(report.launches.at(0).padding, 0u);
    executable.bind(blocks(1, 32));
    const RunReport& run = executable.run();
    ASSERT_EQ(run.steps.size(), 3u);
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_EQ(run.steps[i].shared, 1024 * (shared == shrinking ? 3 - i : i)) << shared;
    }
  }
}

TEST_F(Spread, InAGroupEachIsPaddedForTheOther) {
  const std::string group = "[[steps]]\nrepeat = 3\nsteps = [ " + step("x", "y", kEven) + ", " +
                            step("y", "z", kEven) + " ]\n";
  const std::string self = "[[steps]]\nrepeat = 3\nsteps = [ " + step("x", "z", kEven) + " ]\n";
  for (const std::string& text : {group, self}) {
    Executable executable = prepare(text);
    for (const std::uint32_t share : {1, 2}) {
      const CheckReport report = executable.check(blocks(share, 256));
      for (const EdgeReport& edge : report.edges) {
        ASSERT_TRUE(edge.room) << edge.from << " to " << edge.to;
        EXPECT_EQ(edge.room->held, share);
        EXPECT_EQ(edge.room->beside, share) << edge.from << " to " << edge.to;
      }
      for (const LaunchReport& launch : report.launches) {
        EXPECT_GT(launch.padding, 0u);
        EXPECT_THAT(launch.placement, HasSubstr("no more than its share"));
      }
    }
  }
}

TEST_F(Spread, WhatCameEarlyItselfStandsBesideThoseBeforeIt) {
  if (!is_like_an_h200()) GTEST_SKIP() << "the numbers are an H200's";
  const std::string wide = "shared = 81920, " + kEven;
  Executable executable = prepare(steps(
      {step("x", "y", wide), small_step("x", "z"), step("y", "z", "shared = 65536, " + kEven)}));
  const CheckReport report = executable.check(blocks(1, 512));
  const LaunchReport& padded = report.launches[2];
  // Two blocks of 65536 bytes fit beside the small launch, and beside the wide one too: it is still
  // there when the small one lets the last one in.
  EXPECT_EQ(padded.placement,
            "no more than its share of 1 fits beside 0 or 1 of launch 1 and 1 of launch 0");
  // 82944 bytes are taken, so 150528 are left: two of 75264 fit, of 75392 only one. Of those 1024
  // are reserved.
  EXPECT_EQ(padded.config->shared, 75392u - 1024u);
  EXPECT_EQ(report.edges[1].room->beside, 1u);

  executable.bind(blocks(1, 512));
  executable.run();
  const std::vector<int> out = values<int>(executable.output("z"));
  EXPECT_EQ(out, std::vector<int>(out.size(), 2));
}

std::optional<int> carveout(const LaunchReport& launch) {
  const LaunchAttribute* found =
      launch.config->attributes.find(AttributeId::kPreferredSharedMemoryCarveout);
  if (found == nullptr) return std::nullopt;
  return found->as<int>();
}

TEST_F(Spread, AllThatStandTogetherDivideAMultiprocessorAlike) {
  for (const ExecutorKind kind : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    PrepareOptions options;
    options.executor = kind;
    const std::string own = "preferred_shared_memory_carveout = 50";
    Executable executable =
        prepare(steps({step("x", "y"), small_step("x", "z"), step("y", "z", kEven),
                       small_step("x", "y", own), small_step("x", "y")}),
                options);
    const CheckReport report = executable.check(blocks(1, 512));
    EXPECT_EQ(carveout(report.launches[0]), 100);  // the small one came early after it
    EXPECT_EQ(carveout(report.launches[1]), 100);
    EXPECT_EQ(carveout(report.launches[2]), 100);
    EXPECT_EQ(carveout(report.launches[3]), 50);
    EXPECT_EQ(carveout(report.launches[4]), 100);  // what is before it lets it in at once

    executable.bind(blocks(1, 512));
    const RunReport& run = executable.run();
    EXPECT_THAT(
        run.steps[1].attributes,
        Contains(Property(&LaunchAttribute::id, AttributeId::kPreferredSharedMemoryCarveout)));
    const std::vector<int> out = values<int>(executable.output("z"));
    EXPECT_EQ(out, std::vector<int>(out.size(), 2));
  }
  Executable any = prepare(steps({step("x", "y"), small_step("x", "z"), step("y", "z")}));
  for (const LaunchReport& launch : any.check(blocks(1, 512)).launches) {
    EXPECT_EQ(carveout(launch), std::nullopt);
  }
}

TEST_F(Spread, WhatCannotBePaddedSaysWhy) {
  const auto outcome = [](const std::string& text, const Bindings& bindings,
                          PdlMode pdl = PdlMode::kAuto) {
    PrepareOptions options;
    options.pdl = pdl;
    Executable executable = prepare(text, options);
    const LaunchReport launch = executable.check(bindings).launches.back();
    EXPECT_EQ(launch.padding, 0u);
    EXPECT_EQ(launch.config->shared, 0u);
    return launch.placement;
  };
  const std::string pair = steps({step("x", "y"), step("y", "z", kEven)});
  EXPECT_EQ(outcome(pair, blocks(1, 512), PdlMode::kOff), "it does not start early");
  EXPECT_EQ(outcome(steps({step("x", "z", kEven)}), blocks(1, 512)), "it does not start early");
  EXPECT_THAT(outcome(steps({step("x", "y"), step("y", "z", "cluster = [1, 1, 1], " + kEven)}),
                      blocks(9, 1024)),
              HasSubstr("none of its blocks fits beside 2 of launch 0"));
  Bindings even_count = blocks(1, 512);
  even_count.symbols[0].second *= 2;
  EXPECT_THAT(
      outcome(steps({step("x", "y"), step("y", "z", "cluster = [2, 1, 1], " + kEven)}), even_count),
      HasSubstr("have to be there together"));
  // A step overrides what its kernel's defaults say.
  EXPECT_EQ(outcome(steps({step("x", "y"), step("y", "z", "placement = \"any\"")}), blocks(1, 512)),
            "");
}

// From before the group, and from the group's own end.
TEST_F(Spread, EachEdgeIntoALaunchHasItsOutcome) {
  Executable executable =
      prepare(steps({step("x", "y", "", "late")}) + "[[steps]]\nrepeat = 2\nsteps = [ " +
              step("y", "z", kEven) + ", " + step("z", "y", "", "late") + " ]\n");
  const std::string behind = " never triggers, so its blocks have ended when this one starts";
  EXPECT_EQ(executable.check(blocks(1, 512)).launches.at(1).placement,
            "launch 0" + behind + "; launch 2" + behind);
}

TEST_F(Spread, NothingStandsBesideALaunchThatNeverTriggers) {
  const std::string behind =
      "launch 0 never triggers, so its blocks have ended when this one starts";
  Executable executable = prepare(
      steps({step("x", "y", "", "late"), step("y", "x", kEven), step("x", "z", kEven, "late")}));
  const CheckReport report = executable.check(blocks(1, 512));
  ASSERT_EQ(report.edges.size(), 2u);
  ASSERT_TRUE(report.edges[0].programmatic);
  EXPECT_FALSE(report.edges[0].room);
  EXPECT_EQ(report.launches[1].padding, 0u);
  EXPECT_EQ(report.launches[1].placement, behind);
  EXPECT_EQ(report.launches[1].config->shared, 0u);
  // What comes after launch 1 may stand beside it.
  EXPECT_TRUE(report.edges[1].room);
  EXPECT_GT(report.launches[2].padding, 0u);
  EXPECT_EQ(carveout(report.launches[0]), std::nullopt);
  EXPECT_EQ(carveout(report.launches[1]), 100);
  executable.bind(blocks(1, 512));
  executable.run();
  const std::vector<int> out = values<int>(executable.output("z"));
  EXPECT_EQ(out, std::vector<int>(out.size(), 3));

  // Given a trigger, it is different.
  PrepareOptions options;
  options.rewrite = RewriteMode::kLoads;
  Executable rewritten =
      prepare(steps({step("x", "y", "", "late"), step("y", "z", kEven, "late")}), options);
  const CheckReport after = rewritten.check(blocks(1, 512));
  EXPECT_TRUE(after.edges[0].room);
  EXPECT_GT(after.launches[1].padding, 0u);
}

// By force, after a launch that neither waits nor triggers: it has ended, and those before may
// still run.
TEST_F(Spread, WhatNeverWaitedLeavesThoseBeforeItStanding) {
  const std::string force = "pdl = \"force\"";
  for (const std::string& middle : {force, force + ", " + kEven}) {
    Executable executable =
        prepare(steps({step("x", "y"), step("x", "z", middle, "never"), step("y", "z", force)}));
    const CheckReport report = executable.check(blocks(1, 512));
    ASSERT_TRUE(report.edges[1].room);
    EXPECT_EQ(report.edges[1].room->held, 0u);
    EXPECT_GT(report.edges[1].room->beside, 1u);
  }
}

TEST_F(Spread, TheSwitchOfTheEnvironmentLeavesSharedMemoryAlone) {
  setenv("BATON_PDL", "off", 1);
  Executable executable = prepare(steps({step("x", "y"), step("y", "z", kEven)}));
  unsetenv("BATON_PDL");
  EXPECT_EQ(executable.check(blocks(1, 512)).launches[1].config->shared, 0u);
}

}  // namespace
}  // namespace baton::session_test::even_placement_test
