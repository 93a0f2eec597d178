#include "cli/report/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/output/json.h"
#include "cli/report/output_report.h"
#include "tools/json_values.h"

namespace baton::cli::run_report_test {
namespace {

using tools::json_number;
using tools::OutputResult;

using testing::HasSubstr;
using testing::Not;

StepReport launch(std::string label, int line) {
  StepReport step;
  step.label = std::move(label);
  step.where = {"p.toml", line, 1};
  step.grid = Dim3(22);
  step.block = Dim3(16, 16);
  step.seconds = 2e-6;
  step.bytes = 2048;
  step.instructions = 1000;
  return step;
}

// What a report prints for people.
template <typename Show>
std::string text_of(const Show& show) {
  Output output(false, "run");
  show(output);
  testing::internal::CaptureStdout();
  output.finish();
  return testing::internal::GetCapturedStdout();
}

std::string steps_text(const RunReport& report) {
  return text_of([&](Output& output) { show_steps(report, {}, output); });
}

TEST(RunReport, EachStepIsARow) {
  RunReport report;
  report.steps = {launch("rmsnorm", 3), launch("matvec", 9)};
  report.steps[1].shared = 3072;
  report.run_seconds = {4e-6};
  EXPECT_EQ(steps_text(report),
            "\n"
            "  step     grid    block  shared     time  moved  instructions\n"
            "  rmsnorm    22  16 x 16          2.00 us  2 KiB        1.00 k\n"
            "  matvec     22  16 x 16   3 KiB  2.00 us  2 KiB        1.00 k\n"
            "  total                           4.00 us  4 KiB        2.00 k\n");
}

TEST(RunReport, SkippedLaunchesSaySo) {
  RunReport report;
  report.steps = {launch("a", 3)};
  report.steps[0].skipped = 1;
  const std::string text = steps_text(report);
  EXPECT_THAT(text, HasSubstr("skipped"));
  EXPECT_THAT(text, Not(HasSubstr("22")));
}

TEST(RunReport, ManyStepsAreOneRowForEachStepOfTheProgram) {
  RunReport report;
  for (int i = 0; i < 50; ++i) {
    report.steps.push_back(launch("a", 3));
    report.steps.back().indexes = "i = " + std::to_string(i);
    report.steps.push_back(launch("a", 4));  // the same kernel at another place
  }
  report.steps[0].skipped = 1;
  const std::string text = steps_text(report);
  EXPECT_THAT(text, HasSubstr("50 times, 1 skipped"));
  EXPECT_THAT(text, HasSubstr("50.0 k"));
  EXPECT_THAT(text, Not(HasSubstr("i = ")));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
}

TEST(RunReport, RepeatedRunsAreSummedUp) {
  RunReport report;
  report.steps = {launch("a", 3)};
  report.run_seconds = {9e-3, 1e-3, 3e-3, 2e-3};
  EXPECT_THAT(
      steps_text(report),
      HasSubstr("4 runs: first 9.00 ms, then median 2.00 ms (half of them 1.50 ms to 2.50 ms, "
                "all 1.00 ms to 3.00 ms)"));
  report.steps[0].seconds = 9e-3;
  EXPECT_THAT(steps_text(report), Not(HasSubstr("then  ")));
  report.steps[0].times = time_statistics({5e-3, 4e-3, 6e-3});
  EXPECT_THAT(steps_text(report), HasSubstr("9.00 ms  5.00 ms"));
  report.run_seconds.resize(2);
  EXPECT_THAT(steps_text(report), HasSubstr("2 runs: first 9.00 ms, then median 1.00 ms\n"));
}

TEST(RunReport, AttributesShowWhereALaunchHasSome) {
  RunReport report;
  report.steps = {launch("a", 3), launch("b", 4)};
  report.steps[1].attributes = {cluster(Dim3(2, 2)), cooperative(), pdl(), priority(-1),
                                mem_sync_domain_map(0, 1)};
  EXPECT_THAT(steps_text(report), HasSubstr("cluster 2 x 2, cooperative, pdl, priority -1, "
                                            "mem_sync_domain_map {\"default\":0,\"remote\":1}"));
  EXPECT_EQ(json_of(report.steps[1])["attributes"].dump(),
            "{\"cluster\":[2,2,1],\"cooperative\":true,\"pdl\":true,\"priority\":-1,"
            "\"mem_sync_domain_map\":{\"default\":0,\"remote\":1}}");
  EXPECT_EQ(json_of(report.steps[0])["attributes"].dump(), "{}");
}

TEST(RunReport, EdgesSayWhatIsDoneWithThem) {
  EdgeReport edge;
  edge.from = 2;
  edge.to = 3;
  edge.cause = EdgeCause::kMayNotWait;
  edge.reason = "k may end without having waited";
  edge.programmatic = true;
  edge.decision = EdgeDecision::kAsked;
  edge.decision_reason = "the program says on";
  Output output(true, "run");
  show_steps(RunReport(), {edge}, output);
  EXPECT_EQ(output.result()["edges"].dump(),
            "[{\"from\":2,\"to\":3,\"verdict\":\"unknown\",\"cause\":\"may_not_wait\",\"reason\":"
            "\"k may end without having "
            "waited\",\"decision\":\"programmatic\",\"decision_cause\":\"asked\",\"decision_"
            "reason\":\"the program says on\","
            "\"room\":null}]");
}

TEST(RunReport, OutputsShowValuesAndTheComparison) {
  Array array{DType::kI32, {2, 3}, {}};
  array.bytes.resize(24, '\0');
  array.bytes[0] = 5;
  OutputResult plain{"a", &array, {}, {}};
  Comparison different;
  different.ok = false;
  different.elements = 6;
  different.mismatches = 1;
  different.worst_index = {0, 0};
  different.got = 5;
  different.want = 7;
  different.first = {{{0, 0}, 5, 7, "5", "7"}};
  different.largest_absolute = 2;
  different.largest_relative = 0.25;
  different.pattern = "each is 5";
  OutputResult wrong{"b", &array, "b.npy", different};
  EXPECT_EQ(text_of([&](Output& output) {
              show_outputs({plain, wrong}, output);
            }),
            "\n"
            "  output  dtype  shape   values           comparison\n"
            "  a       i32    [2, 3]  5  0  0  0  ...\n"
            "  b       i32    [2, 3]  5  0  0  0  ...  differs in 1 of 6 from b.npy\n"
            "\n"
            "b: 16.7 % of the elements differ: each is 5\n"
            "  largest error: 2, relative 0.25\n"
            "  index   got  want\n"
            "  [0, 0]    5     7\n");

  Output output(true, "run");
  show_outputs({plain, wrong}, output);
  const nlohmann::ordered_json& outputs = output.result()["outputs"];
  EXPECT_TRUE(outputs[0]["worst"].is_null());
  EXPECT_EQ(outputs[1]["worst"].dump(), R"({"index":[0,0],"got":5.0,"want":7.0,"error":0.0})");
}

TEST(RunReport, ErrorFindingsCanBeLeftToTheError) {
  RunReport report;
  FindingReport finding;
  finding.kind = "out_of_bounds";
  finding.kernel = "saxpy";
  finding.block = {3, 0, 0};
  finding.where = "saxpy.cu:5:3";
  finding.message = "reads 4 bytes behind buffer x";
  finding.count = 12;
  report.findings = {finding};
  const auto shown = [&](bool errors) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(text_of([&](Output& output) { show_findings(report, errors, output); }), "");
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(shown(true),
            "error: kernel saxpy, block (3, 0, 0), thread (0, 0, 0): reads 4 bytes behind buffer x "
            "(12 times) (saxpy.cu:5:3)\n");
  EXPECT_EQ(shown(false), "");
}

TEST(Json, NumbersThatJsonHasNotAreText) {
  EXPECT_EQ(json_number(0.5).dump(), "0.5");
  EXPECT_EQ(json_number(std::nan("")).dump(), "\"nan\"");
  EXPECT_EQ(json_number(INFINITY).dump(), "\"inf\"");
  EXPECT_EQ(json_number(-INFINITY).dump(), "\"-inf\"");
}

TEST(Json, WhatAnImageDoesNotSayIsNull) {
  KernelFacts kernel;
  kernel.name = "k";
  const nlohmann::ordered_json json = json_of(kernel);
  for (const char* key :
       {"params", "registers", "static_shared", "max_threads", "arch", "waits", "triggers"}) {
    EXPECT_TRUE(json.at(key).is_null()) << key;
  }
  kernel.params.emplace(2);
  (*kernel.params)[1].kind = ParamKind::kScalar;
  (*kernel.params)[1].dtype = DType::kF32;
  EXPECT_EQ(json_of(kernel)["params"][1]["kind"], "f32");
}

}  // namespace
}  // namespace baton::cli::run_report_test
