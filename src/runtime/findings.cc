#include "runtime/findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "driver/driver.h"

namespace baton {
namespace {

using Findings = std::vector<driver::Finding>;

// Findings that an error names one by one.
constexpr std::size_t kMostNamed = 8;

std::string text_of(const driver::Finding& finding) {
  return fmt::format("{}{}{}", finding.where, finding.where.empty() ? "" : ": ", describe(finding));
}

void note(Error& failure, std::span<const driver::Finding> findings) {
  const std::size_t named = std::min(findings.size(), kMostNamed);
  for (const driver::Finding& finding : findings.first(named)) failure.note(text_of(finding));
  if (named < findings.size()) {
    failure.note(fmt::format("and {} more findings", findings.size() - named));
  }
}

void log_all(const Findings& findings) {
  for (const driver::Finding& finding : findings) {
    const bool is_error = driver::is_error(finding.kind);
    log(is_error ? LogLevel::kError : LogLevel::kWarning, "{}", text_of(finding));
  }
}

// Takes the errors; the warnings are logged.
Findings take_errors(const DeviceState& device) {
  Findings errors = device.driver().simulator->take_findings(device.context());
  const auto first_warning = std::stable_partition(
      errors.begin(), errors.end(),
      [](const driver::Finding& finding) { return driver::is_error(finding.kind); });
  log_all({first_warning, errors.end()});
  errors.erase(first_warning, errors.end());
  return errors;
}

void throw_errors(const DeviceState& device) {
  const Findings errors = take_errors(device);
  if (errors.empty()) return;
  Error failure(ErrorCode::kFault, describe(errors[0]), SourceLocation{.file = errors[0].where});
  note(failure, std::span(errors).subspan(1));
  throw failure;
}

// The fault is what the failure says, so it is not said again.
void note_older(const DeviceState& device, Error& failure) {
  Findings errors = take_errors(device);
  std::erase_if(errors, [](const driver::Finding& finding) { return finding.is_fault; });
  if (!errors.empty()) failure.note("found before that:");
  note(failure, errors);
}

}  // namespace

FindingReport to_report(driver::Finding finding) {
  FindingReport report;
  report.error = driver::is_error(finding.kind);
  report.kind = to_string(finding.kind);
  report.kernel = std::move(finding.kernel);
  report.block = finding.block;
  report.thread = finding.thread;
  report.where = std::move(finding.where);
  report.message = std::move(finding.message);
  report.count = finding.count;
  return report;
}

void end_wait(const DeviceState& device, CUresult result, const char* call) {
  driver::Simulator* simulator = device.driver().simulator;
  const bool tells = simulator != nullptr && !simulator->in_session(device.context());
  const FindingPolicy policy = device.finding_policy();
  try {
    driver::check(device.driver(), result, call);
  } catch (Error& failure) {
    if (tells && policy == FindingPolicy::kThrow) note_older(device, failure);
    throw;
  }
  if (!tells) return;
  switch (policy) {
    case FindingPolicy::kThrow:
      return throw_errors(device);
    case FindingPolicy::kLog:
      return log_all(simulator->take_findings(device.context()));
    case FindingPolicy::kCollect:
      return;
  }
}

}  // namespace baton
