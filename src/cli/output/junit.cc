#include "cli/output/junit.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cli/output/result_rows.h"
#include "cli/picture/svg.h"

namespace baton::cli {
namespace {

using Level = ResultRow::Level;

constexpr int kMostAnswers = 1;  // exit statuses above say that there is no answer

struct Counts {
  int tests = 0, failures = 0, errors = 0, skipped = 0;
};

std::string test_case(const ResultRow& row, bool answered, Counts& counts) {
  ++counts.tests;
  const std::string place = row.where.empty() ? "" : fmt::format(" at {}", row.where);
  std::string text = fmt::format("    <testcase classname=\"{}\" name=\"{}{}\"",
                                 escaped(row.subject.empty() ? "baton" : row.subject),
                                 escaped(row.code), escaped(place));
  const std::string message = escaped(row.message);
  if (row.suppressed) {
    ++counts.skipped;
    return text + fmt::format("><skipped message=\"suppressed: {}\"/></testcase>\n",
                              escaped(row.reason.empty() ? row.message : row.reason));
  }
  if (row.level == Level::kError) {
    const std::string_view tag = answered ? "failure" : "error";
    ++(answered ? counts.failures : counts.errors);
    return text + fmt::format("><{0} type=\"{1}\" message=\"{2}\"/></testcase>\n", tag,
                              escaped(row.code), message);
  }
  return text + fmt::format("><system-out>{}</system-out></testcase>\n", message);
}

}  // namespace

std::string junit_of(const nlohmann::ordered_json& result, int exit_status) {
  Counts counts;
  std::string cases;
  for (const ResultRow& row : result_rows(result)) {
    cases += test_case(row, exit_status <= kMostAnswers, counts);
  }
  const auto command = result.find("command");
  const std::string name =
      "baton " + (command == result.end() || !command->is_string() ? std::string()
                                                                   : command->get<std::string>());
  if (counts.tests == 0) {
    ++counts.tests;
    cases = fmt::format("    <testcase classname=\"baton\" name=\"{}\"/>\n", escaped(name));
  }
  const std::string totals =
      fmt::format("name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
                  escaped(name), counts.tests, counts.failures, counts.errors, counts.skipped);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite {0}>\n{1}"
      "  </testsuite>\n</testsuites>\n",
      totals, cases);
}

}  // namespace baton::cli
