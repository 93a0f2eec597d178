// SARIF and JUnit of a command's JSON object.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/output/junit.h"
#include "cli/output/result_rows.h"
#include "cli/output/sarif.h"

namespace baton::cli::report_formats_test {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;
using Level = ResultRow::Level;

Json finding(const char* severity, const char* where) {
  return {{"severity", severity},
          {"kind", "shared_race"},
          {"kernel", "_Z3sumPf"},
          {"block", {1, 0, 0}},
          {"thread", {32, 0, 0}},
          {"where", where},
          {"message", "a < b"},
          {"count", 3},
          {"launch", "launch 1 (sum), at p.toml:4:1"}};
}

Json edge(const char* verdict, const char* decision) {
  return {{"from", 0},
          {"to", 1},
          {"verdict", verdict},
          {"cause", "conflict"},
          {"reason", "b reads y"},
          {"decision", decision},
          {"decision_reason", "it says so"}};
}

Json with_edges(std::initializer_list<Json> edges) {
  return {{"command", "check"},
          {"steps",
           {{{"kind", "launch"}, {"label", "a"}, {"where", "p.toml:3:1"}},
            {{"kind", "fill"}, {"label", "z"}, {"where", "p.toml:5:1"}},
            {{"kind", "launch"}, {"label", "b"}, {"where", "p.toml:9:1"}}}},
          {"edges", edges}};
}

Json results_of(const Json& result, int status = 1, const std::string& root = "/src") {
  return Json::parse(sarif_of(result, status, root)).at("runs").at(0).at("results");
}

TEST(ResultRows, LevelsOfEdgesFollowVerdictAndDecision) {
  const auto level = [](const char* verdict, const char* decision) {
    return result_rows(with_edges({edge(verdict, decision)})).at(0).level;
  };
  EXPECT_EQ(level("unsafe", "programmatic"), Level::kError);
  EXPECT_EQ(level("unsafe", "full"), Level::kNote);
  EXPECT_EQ(level("unknown", "full"), Level::kNote);
  EXPECT_EQ(level("proven", "programmatic"), Level::kPass);
  const ResultRow row = result_rows(with_edges({edge("unknown", "full")})).at(0);
  EXPECT_EQ(row.where, "p.toml:9:1") << "edges number the launches alone";
  EXPECT_EQ(row.subject, "launch 0 (a) -> launch 1 (b)");
}

TEST(ResultRows, AnErrorIsARowWhereNoOtherRowIsOne) {
  Json result = {{"findings", {finding("warning", "k.cu:2:3")}},
                 {"error", {{"code", "fault"}, {"what", "it failed"}, {"where", "p.toml:1:1"}}}};
  EXPECT_EQ(result_rows(result).size(), 2u);
  EXPECT_EQ(result_rows(result)[1].code, "fault");
  result["findings"].push_back(finding("error", "k.cu:2:3"));
  EXPECT_EQ(result_rows(result).size(), 2u) << "the finding is the error";
  EXPECT_EQ(result_rows({{"error", nullptr}, {"warnings", {"odd"}}}).at(0).message, "odd");
  EXPECT_TRUE(result_rows(Json::object()).empty());
}

TEST(Sarif, HasARuleAResultAndAPlace) {
  const Json result = {{"findings", {finding("error", "/src/my code/k.cu:2:3")}}};
  const Json log = Json::parse(sarif_of(result, 1, "/src"));
  EXPECT_EQ(log.at("version"), "2.1.0");
  const Json& run = log.at("runs").at(0);
  const Json& rule = run.at("tool").at("driver").at("rules").at(0);
  EXPECT_EQ(rule.at("id"), "shared_race");
  EXPECT_THAT(rule.at("shortDescription").at("text").get<std::string>(),
              HasSubstr("shared memory"));
  const Json& row = run.at("results").at(0);
  EXPECT_EQ(row.at("ruleId"), "shared_race");
  EXPECT_EQ(row.at("ruleIndex"), 0);
  EXPECT_EQ(row.at("level"), "error");
  EXPECT_THAT(row.at("message").at("text").get<std::string>(), HasSubstr("a < b (3 times)"));
  const Json& place = row.at("locations").at(0).at("physicalLocation");
  EXPECT_EQ(place.at("artifactLocation").at("uri"), "my%20code/k.cu");
  EXPECT_EQ(place.at("artifactLocation").at("uriBaseId"), "SRCROOT");
  EXPECT_EQ(place.at("region"), (Json{{"startLine", 2}, {"startColumn", 3}}));
  EXPECT_EQ(row.at("relatedLocations").at(0).at("physicalLocation").at("region").at("startLine"),
            4);
  EXPECT_EQ(run.at("originalUriBaseIds").at("SRCROOT").at("uri"), "file:///src/");
  EXPECT_EQ(run.at("invocations").at(0), (Json{{"executionSuccessful", true}, {"exitCode", 1}}));
}

TEST(Sarif, PlacesOutsideAndInTextOfPrograms) {
  const auto places = [](const char* where) {
    return results_of({{"findings", {finding("error", where)}}}).at(0).at("locations").at(0);
  };
  EXPECT_EQ(places("/usr/k.cu:2").at("physicalLocation").at("artifactLocation"),
            (Json{{"uri", "file:///usr/k.cu"}}));
  EXPECT_EQ(places("../k.cu:2").at("physicalLocation").at("artifactLocation"),
            (Json{{"uri", "../k.cu"}}));
  EXPECT_EQ(places("/src/./a/../k.cu:2").at("physicalLocation").at("artifactLocation").at("uri"),
            "k.cu");
  for (const char* no_file : {"<kernel b>:2:28", ""}) {
    EXPECT_EQ(places(no_file).at("physicalLocation").at("artifactLocation").at("uri"), "p.toml")
        << "the launch instead";
  }
  Json alone = finding("error", "");
  alone["launch"] = "";
  EXPECT_FALSE(
      results_of({{"findings", {alone}}}).at(0).at("locations").at(0).contains("physicalLocation"));
  EXPECT_EQ(places("").at("logicalLocations").at(0).at("fullyQualifiedName"), "sum");
}

TEST(Sarif, ProvenEdgesAreNoResults) {
  const Json rows =
      results_of(with_edges({edge("proven", "programmatic"), edge("unknown", "full")}));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("level"), "note");
}

TEST(Sarif, StatusesAboveOneGaveNoAnswer) {
  const Json result = {{"error", {{"code", "not_found"}, {"what", "no file"}, {"where", nullptr}}}};
  const Json run = Json::parse(sarif_of(result, 2, "/")).at("runs").at(0);
  EXPECT_EQ(run.at("invocations").at(0).at("executionSuccessful"), false);
  EXPECT_EQ(run.at("results").at(0).at("ruleId"), "not_found");
}

TEST(Sarif, SuppressedFindingsAreMarked) {
  Json known = finding("error", "k.cu:1:1");
  known["reason"] = "padding";
  const Json row = results_of({{"suppressed", {known}}}, 0).at(0);
  EXPECT_EQ(row.at("suppressions").at(0),
            (Json{{"kind", "external"}, {"justification", "padding"}}));
}

TEST(Junit, CountsFailuresErrorsAndSkipped) {
  Json known = finding("error", "k.cu:1:1");
  known["reason"] = "padding";
  Json result = with_edges({edge("proven", "programmatic"), edge("unsafe", "programmatic")});
  result["findings"] = {finding("error", "k.cu:2:3"), finding("warning", "k.cu:3:3")};
  result["suppressed"] = {known};
  const std::string xml = junit_of(result, 1);
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"baton check\" tests=\"5\" failures=\"2\" "
                             "errors=\"0\" skipped=\"1\">"));
  EXPECT_THAT(xml, HasSubstr("classname=\"sum\" name=\"shared_race at k.cu:2:3\"><failure"));
  EXPECT_THAT(xml, HasSubstr("a &lt; b"));
  EXPECT_THAT(xml, Not(HasSubstr("a < b")));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"suppressed: padding\"/>"));
  EXPECT_THAT(xml, HasSubstr("classname=\"launch 0 (a) -&gt; launch 1 (b)\""));
}

TEST(Junit, WithoutRowsOneTestPasses) {
  EXPECT_THAT(junit_of({{"command", "exec"}}, 0),
              HasSubstr("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\">\n"
                        "    <testcase classname=\"baton\" name=\"baton exec\"/>"));
  const Json failed = {{"error", {{"code", "driver"}, {"what", "no device"}}}};
  EXPECT_THAT(junit_of(failed, 3), HasSubstr("errors=\"1\""));
  EXPECT_THAT(junit_of(failed, 3), HasSubstr("<error type=\"driver\" message=\"no device\"/>"));
}

}  // namespace
}  // namespace baton::cli::report_formats_test
