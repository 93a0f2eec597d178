#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands/record.h"
#include "cli/output/counted.h"
#include "cli/output/format.h"
#include "cli/output/json.h"
#include "cli/report/run_report.h"
#include "tools/basics.h"
#include "tools/draft/readable_names.h"
#include "tools/process/record_folder.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

// Rows of a list that are shown without --verbose.
constexpr std::size_t kMostRows = 8;
// Bytes of a text of a record.
constexpr std::size_t kLongestText = 500;

// A record has its own launches, inputs and order of steps.
void refuse_options_of_programs(const RunCommand& command) {
  const std::pair<bool, std::string_view> given[] = {
      {!command.symbols.empty(), "--set"},
      {!command.inputs.empty(), "--input"},
      {!command.outputs.empty(), "--output"},
      {!command.expected.files.empty() || !command.expected.folders.empty(), "--expect"},
      {command.rtol.has_value(), "--rtol"},
      {command.atol.has_value(), "--atol"},
      {command.repeat != 1, "--repeat"},
      {command.seed != 0, "--seed"},
      {command.executor != ExecutorKind::kStream, "--executor"},
      {command.pdl != PdlMode::kAuto, "--pdl"},
      {command.rewrite.has_value(), "--rewrite"},
      {!command.schedules.empty(), "--schedules"},
      {command.trace.has_value(), "--trace"},
      {command.html.has_value(), "--html"},
      {command.keep.has_value(), "--keep"},
      {command.dump.has_value(), "--dump"},
      {command.until.has_value(), "--until"},
      {command.find_non_finite, "--find-nan"},
      {command.follow.has_value(), "--follow"},
      {!command.devices.empty(), "--devices"},
      {command.collectives != CollectiveExecutor::kAuto, "--collectives"},
      {!command.trusted.empty(), "--verify-key"},
      {command.call.has_value(), "--function"},
      {command.untuned, "--untuned"}};
  for (const auto& [is_given, option] : given) {
    if (!is_given) continue;
    throw error(ErrorCode::kInvalidInput,
                "{} is for programs, {} is a record: it is replayed as it was recorded; leave {} "
                "out",
                option, command.program.string(), option);
  }
}

Device open_simulator(const RunCommand& command) {
  std::string device = command.device.value_or("");
  if (device.empty()) {
    const auto chosen = read_environment("BATON_DEVICE");
    device = chosen && chosen->starts_with("sim") ? *chosen : "sim";
  }
  if (device != "sim" && !device.starts_with("sim:")) {
    throw error(ErrorCode::kInvalidInput,
                "a record is replayed on the simulated GPU, --device {} was given; use sim or "
                "sim:NAME",
                device);
  }
  return Device::open(device);
}

template <typename Row>
void show_rows(const std::vector<Row>& rows, bool all, Output& output,
               const std::function<std::string(const Row&)>& text_of) {
  const std::size_t shown = all ? rows.size() : std::min(rows.size(), kMostRows);
  for (std::size_t k = 0; k < shown; ++k) output.line("  {}", text_of(rows[k]));
  if (shown < rows.size()) output.line("  and {} more; --verbose lists them", rows.size() - shown);
}

void show_unknown(const replay::ReplayResult& result, bool all, Output& output) {
  std::vector<replay::UnknownMemory> rows = result.unknown;
  if (rows.empty()) return;
  output.line("memory whose contents the record lacks, filled with zeros:");
  show_rows<replay::UnknownMemory>(rows, all, output, [](const replay::UnknownMemory& memory) {
    return memory.is_host ? fmt::format("{}: the host writes it", memory.name)
                          : fmt::format("{}: {} were copied into it", memory.name,
                                        counted(memory.unknown_bytes, "byte"));
  });
}

void show_left_out(const replay::ReplayResult& result, bool all, Output& output) {
  if (result.left_out.empty()) return;
  output.line("not replayed:");
  show_rows<replay::LeftOut>(result.left_out, all, output, [](const replay::LeftOut& each) {
    return fmt::format("{} ({})", printable(tools::with_readable_names(each.what), kLongestText),
                       counted(each.count, "time"));
  });
}

void show_doubtful(const replay::ReplayResult& result, bool all, Output& output) {
  std::size_t count = 0;
  for (const replay::ReplayedFinding& finding : result.findings) {
    if (finding.doubt.empty()) continue;
    ++count;
    if (all) {
      output.line("  {}, kernel {}: {}: {} ({})", finding.report.launch,
                  tools::with_readable_names(finding.report.kernel), finding.report.kind,
                  finding.report.message, finding.doubt);
    }
  }
  if (count == 0) return;
  output.line("not counted: {} that may depend on contents that the record lacks{}",
              counted(count, "finding"), all ? "" : "; --verbose lists them");
}

// The findings, as texts for the error.
struct ReplayErrors {
  std::vector<std::string> errors;
  bool all_unsupported = true;
};

void add_findings(const replay::ReplayResult& result, std::uint32_t process, ReplayErrors& found,
                  Output& output) {
  Json& json = output.result();
  for (const replay::ReplayedFinding& each : result.findings) {
    Json row = cli::json_of(each.report);
    row["process"] = process;
    if (!each.doubt.empty()) {
      row["doubt"] = each.doubt;
      json["doubtful"].push_back(std::move(row));
      continue;
    }
    json["findings"].push_back(std::move(row));
    const FindingReport& report = each.report;
    if (!report.error) {
      show_finding(report, fmt::format("process {}, ", process), output);
      continue;
    }
    found.all_unsupported &= report.kind.starts_with("unsupported");
    const std::string times = report.count == 1 ? "" : fmt::format(" ({} times)", report.count);
    const std::string kernel =
        report.kernel.empty()
            ? ""
            : fmt::format("kernel {}, block ({}), thread ({}): ", report.kernel,
                          fmt::join(report.block, ", "), fmt::join(report.thread, ", "));
    found.errors.push_back(fmt::format(
        "{}{}process {}{}{}: {}{}{}", report.where, report.where.empty() ? "" : ": ", process,
        report.launch.empty() ? "" : ", ", report.launch, kernel, report.message, times));
  }
}

Json json_of_process(const record::ProcessRecord& process, const replay::ReplayResult& result) {
  Json json = {{"process", process.process},
               {"program", process.program},
               {"launches", result.launches},
               {"replayed", result.replayed},
               {"graph_launches", result.graph_launches},
               {"copies", result.copies},
               {"fills", result.fills},
               {"moved_addresses", result.moved_addresses}};
  json["unknown"] = Json::array();
  for (const replay::UnknownMemory& memory : result.unknown) {
    json["unknown"].push_back({{"name", memory.name},
                               {"bytes", memory.bytes},
                               {"unknown_bytes", memory.unknown_bytes},
                               {"host", memory.is_host}});
  }
  json["left_out"] = Json::array();
  for (const replay::LeftOut& each : result.left_out) {
    json["left_out"].push_back({{"what", each.what}, {"count", each.count}});
  }
  return json;
}

// Counts the launches of all processes, those that the simulated GPU executed, and other work.
struct ReplayedLaunches {
  std::uint64_t recorded = 0, replayed = 0, transfers = 0;
  std::string reason;  // for the first that was left out

  void add(const replay::ReplayResult& result) {
    recorded += result.launches;
    replayed += result.replayed + result.graph_launches;
    transfers += result.copies + result.fills;
    if (reason.empty() && !result.left_out.empty()) reason = result.left_out.front().what;
  }
  // Nothing was checked where nothing was replayed.
  void require_any() const {
    if (replayed != 0) return;
    if (recorded == 0) {
      if (transfers != 0) return;
      throw error(ErrorCode::kUnsupported,
                  "the record has no launch, copy or fill, so nothing was checked; record a "
                  "program that uses the CUDA driver");
    }
    throw error(ErrorCode::kUnsupported,
                "none of the record's launches could be replayed, so nothing was checked: {}",
                reason);
  }
};

}  // namespace

void replay_record(const RunCommand& command, Output& output, const std::atomic<bool>& interrupt) {
  refuse_options_of_programs(command);
  const tools::RecordContents record = tools::read_record(command.program);
  Json& json = output.result();
  json["file"] = command.program.string();
  json["kind"] = "record";
  for (const char* list : {"processes", "findings", "doubtful"}) json[list] = Json::array();
  output.use_sources(std::make_shared<tools::SourceLines>());
  output.line("record   {} of {}, on {}", command.program.string(),
              printable(fmt::format("{}", fmt::join(record.command, " "))), record.device);
  const Device device = open_simulator(command);
  show_device(device, output);
  ReplayErrors found;
  ReplayedLaunches launches;
  const auto start = std::chrono::steady_clock::now();
  for (const record::ProcessRecord& process : record.processes) {
    replay::ReplayOptions options;
    options.schedule = command.schedule;
    options.races = command.races;
    options.interrupt = &interrupt;
    if (command.timeout) options.timeout = std::chrono::duration<double>(*command.timeout);
    options.progress = [&](std::uint64_t done, std::uint64_t all) {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
      output.progress(fmt::format("process {}: {} of {} events", process.process, done, all),
                      static_cast<double>(done) / static_cast<double>(all), passed.count());
    };
    const replay::ReplayResult result = tools::replay_process(record, process, device, options);
    output.line("\nprocess {}: {}", process.process, printable(process.program));
    output.line("{} of {} replayed, {} of graphs, {}, {}", result.replayed,
                counted(result.launches, "launch", "launches"),
                counted(result.graph_launches, "launch", "launches"),
                counted(result.copies, "copy", "copies"), counted(result.fills, "fill"));
    if (result.moved_addresses > 0) {
      output.line("{} of copied contents were replaced as addresses",
                  counted(result.moved_addresses, "word"));
    }
    show_unknown(result, command.verbose, output);
    show_left_out(result, command.verbose, output);
    show_doubtful(result, command.verbose, output);
    for (const std::string& remark : result.remarks) {
      output.warning(printable(remark, kLongestText));
    }
    json["processes"].push_back(json_of_process(process, result));
    add_findings(result, process.process, found, output);
    launches.add(result);
  }
  if (found.errors.empty()) {
    tools::require_whole(record);
    launches.require_any();
    return output.line("\nno error was found");
  }
  Error failure = error(found.all_unsupported ? ErrorCode::kUnsupported : ErrorCode::kFault,
                        "the simulated GPU found {} in the recorded kernels",
                        counted(found.errors.size(), "error"));
  for (const std::string& text : found.errors) failure.note(text);
  throw failure;
}

}  // namespace baton::cli
