#include "cli/report/schedule_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "cli/output/counted.h"
#include "cli/output/format.h"
#include "cli/output/json.h"
#include "cli/output/table.h"
#include "cli/report/run_report.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const ScheduleDifference& difference) {
  return fmt::format("{}{} is {} and was {}, the first of {} in {}", difference.buffer,
                     format_shape(difference.index), difference.got, difference.reference,
                     difference.count, difference.elements);
}

// Equal for what is one finding in several runs.
std::string identity_of(const FindingReport& finding) {
  return fmt::format("{}\n{}\n{}", finding.kind, finding.kernel, finding.where);
}

Json json_of(const ScheduleRun& run) {
  Json json = {
      {"schedule", to_string(run.schedule)}, {"difference", nullptr}, {"findings", Json::array()}};
  for (const FindingReport& finding : run.findings) {
    json["findings"].push_back(cli::json_of(finding));
  }
  if (!run.difference) return json;
  const ScheduleDifference& found = *run.difference;
  json["difference"] = {{"buffer", found.buffer}, {"index", found.index},
                        {"got", found.got},       {"reference", found.reference},
                        {"count", found.count},   {"elements", found.elements}};
  return json;
}

}  // namespace

void show_schedules(const Schedule& first, const std::vector<FindingReport>& known,
                    const std::vector<ScheduleRun>& runs, Output& output) {
  std::set<std::string> shown;
  for (const FindingReport& finding : known) shown.insert(identity_of(finding));
  Json& json = output.result()["schedules"] = Json::array();
  Table table({{"schedule"}, {"outputs"}, {"findings", Table::Align::kRight}});
  table.add({to_string(first), "the reference", ""});
  for (const ScheduleRun& run : runs) {
    json.push_back(json_of(run));
    table.add({to_string(run.schedule),
               run.failure      ? "errors were found"
               : run.difference ? text_of(*run.difference)
                                : "the same bits",
               run.findings.empty() ? "" : std::to_string(run.findings.size())});
  }
  output.text("\n" + table.format(output.terminal()));
  for (const ScheduleRun& run : runs) {
    for (const FindingReport& finding : run.findings) {
      if (!shown.insert(identity_of(finding)).second) continue;
      show_finding(finding, fmt::format("under {}: ", to_string(run.schedule)), output);
    }
  }
}

void throw_on_difference(const Schedule& first, const std::vector<ScheduleRun>& runs, Races races) {
  for (const ScheduleRun& run : runs) {
    if (run.failure) throw Error(*run.failure);
    if (!run.difference) continue;
    throw error(ErrorCode::kMismatch,
                "the outputs differ between the schedules {} and {}: {}; a race, or a sum in an "
                "order that is not fixed{}",
                to_string(first), to_string(run.schedule), text_of(*run.difference),
                races == Races::kUsual ? "; --races global names the lines of a race" : "");
  }
}

}  // namespace baton::cli
