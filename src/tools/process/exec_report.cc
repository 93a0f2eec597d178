#include "tools/process/exec_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/file/file.h"
#include "base/text/json.h"
#include "base/text/text.h"
#include "tools/draft/readable_names.h"
#include "tools/process/record_findings.h"

namespace baton::tools {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  // kind, kernel, place

std::array<std::uint32_t, 3> triple(const Json& value, const std::string& where) {
  std::array<std::uint32_t, 3> numbers{};
  const Json& list = require_array(value, where);
  for (std::size_t k = 0; k < std::min(list.size(), numbers.size()); ++k) {
    numbers[k] = static_cast<std::uint32_t>(require_integer(list[k], where));
  }
  return numbers;
}

FindingReport finding_of(const Json& line) {
  const std::string where = "finding";
  FindingReport finding;
  finding.error = require_bool(line.at("error"), where);
  finding.kind = require_string(line.at("kind"), where);
  finding.kernel = require_string(line.at("kernel"), where);
  finding.block = triple(line.at("block"), where);
  finding.thread = triple(line.at("thread"), where);
  finding.where = require_string(line.at("where"), where);
  finding.message = require_string(line.at("message"), where);
  finding.count = static_cast<std::uint64_t>(require_integer(line.at("count"), where));
  return finding;
}

// What one process told. A finding is told when it is first seen, and again with its count.
struct Told {
  std::int64_t process = 0;
  std::vector<FindingReport> findings;
  std::map<Key, std::size_t> places;
  std::map<std::string, std::uint64_t> missing;

  // A call that returned an error, at first and again with its count.
  void add_call(const Json& line) {
    const std::string event = "call";
    FindingReport finding;
    finding.kind = to_string(Observation::kApiError);
    finding.where = with_readable_names(require_string(line.at("where"), event));
    finding.message = fmt::format("{} gave {}", require_string(line.at("name"), event),
                                  require_string(line.at("error"), event));
    const std::string& through = require_string(line.at("through"), event);
    if (!through.empty()) {
      finding.message += fmt::format("; called through {}", with_readable_names(through));
    }
    finding.count = static_cast<std::uint64_t>(require_integer(line.at("count"), event));
    const auto [at, is_new] =
        places.try_emplace(Key{finding.kind, finding.message, finding.where}, findings.size());
    if (is_new) {
      findings.push_back(std::move(finding));
    } else {
      // A forked child may tell what its parent had told before the fork.
      findings[at->second].count = std::max(findings[at->second].count, finding.count);
    }
  }

  void add(const Json& line, ExecReport& report) {
    const std::string& event = require_string(line.at("event"), "event");
    if (event == "process") {
      process = require_integer(line.at("pid"), event);
      ++report.processes;
    } else if (event == "finding") {
      FindingReport finding = finding_of(line);
      const auto [at, is_new] =
          places.try_emplace(Key{finding.kind, finding.kernel, finding.where}, findings.size());
      if (is_new) {
        findings.push_back(std::move(finding));
      } else {
        findings[at->second].count = std::max(findings[at->second].count, finding.count);
      }
    } else if (event == "leak") {
      FindingReport finding;
      finding.kind = to_string(Observation::kLeak);
      finding.message = require_string(line.at("message"), event);
      finding.count = static_cast<std::uint64_t>(require_integer(line.at("count"), event));
      findings.push_back(std::move(finding));
    } else if (event == "call") {
      add_call(line);
    } else if (event == "missing") {
      std::uint64_t& calls = missing[require_string(line.at("name"), event)];
      calls = std::max(calls, static_cast<std::uint64_t>(require_integer(line.at("count"), event)));
    } else if (event == "image") {
      ++report.images[require_string(line.at("what"), event)];
    } else {
      ++report.unreadable;
    }
  }
};

Told read_process(const std::filesystem::path& path, ExecReport& report) {
  Told told;
  const std::string text = read_file(path);
  for (const std::string_view line : split_lines(text)) {
    try {
      told.add(parse_json(line, path.filename().string()), report);
    } catch (const Error&) {
      ++report.unreadable;
    } catch (const nlohmann::json::exception&) {
      ++report.unreadable;
    }
  }
  return told;
}

void add_file(const std::filesystem::path& file, ExecReport& report) {
  Told told = read_process(file, report);
  // The process marked it so (shim/process_report.h).
  const auto permissions = std::filesystem::status(file).permissions();
  if ((permissions & std::filesystem::perms::owner_write) == std::filesystem::perms::none) {
    ++report.lost;
  }
  for (const auto& [name, calls] : told.missing) report.missing[name] += calls;
  for (FindingReport& finding : told.findings) report.add(std::move(finding), told.process);
}

// What no kernel did, and what was asked for by itself.
bool is_of_the_host(const ExecReport::Seen& seen) {
  const std::string& kind = seen.finding.kind;
  return kind == to_string(Observation::kLeak) || kind == to_string(Observation::kApiError);
}

bool is_of(const ExecReport::Seen& seen, const std::regex& kernels) {
  return std::regex_search(seen.finding.kernel, kernels) ||
         std::regex_search(with_readable_names(seen.finding.kernel), kernels);
}

std::size_t count(const ExecReport& report, bool errors) {
  return static_cast<std::size_t>(
      std::count_if(report.findings.begin(), report.findings.end(),
                    [errors](const auto& seen) { return seen.finding.error == errors; }));
}

}  // namespace

void ExecReport::add(FindingReport finding, std::int64_t process) {
  const auto equal = std::ranges::find_if(findings, [&](const Seen& seen) {
    return std::tie(seen.finding.kind, seen.finding.kernel, seen.finding.where) ==
               std::tie(finding.kind, finding.kernel, finding.where) &&
           // One call may give several errors.
           (finding.kind != to_string(Observation::kApiError) ||
            seen.finding.message == finding.message);
  });
  if (equal == findings.end()) {
    findings.push_back({std::move(finding), {process}});
    return;
  }
  equal->finding.count += finding.count;
  if (std::ranges::find(equal->processes, process) == equal->processes.end()) {
    equal->processes.push_back(process);
  }
}

std::size_t ExecReport::errors() const {
  return count(*this, true);
}

std::size_t ExecReport::warnings() const {
  return count(*this, false);
}

ExecReport read_exec_report(const std::filesystem::path& folder) {
  ExecReport report;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.insert(entry.path());
  for (const std::filesystem::path& file : files) add_file(file, report);
  return report;
}

ExecReport read_process_report(const std::filesystem::path& folder, pid_t process) {
  ExecReport report;
  const std::filesystem::path file = folder / (std::to_string(process) + ".jsonl");
  if (std::filesystem::exists(file)) add_file(file, report);
  return report;
}

void suppress(ExecReport& report, std::vector<Suppression>& suppressions) {
  std::vector<ExecReport::Seen> left;
  for (ExecReport::Seen& seen : report.findings) {
    if (Suppression* rule = find_suppression(suppressions, seen.finding)) {
      ++rule->matches;
      report.suppressed.push_back({std::move(seen), rule->reason});
    } else {
      left.push_back(std::move(seen));
    }
  }
  report.findings = std::move(left);
}

void keep_kernels(ExecReport& report, const std::regex& pattern) {
  std::erase_if(report.findings, [&](const ExecReport::Seen& seen) {
    return !is_of_the_host(seen) && !is_of(seen, pattern);
  });
}

void leave_out_kernels(ExecReport& report, const std::regex& pattern) {
  std::erase_if(report.findings, [&](const ExecReport::Seen& seen) {
    return !is_of_the_host(seen) && is_of(seen, pattern);
  });
}

}  // namespace baton::tools
