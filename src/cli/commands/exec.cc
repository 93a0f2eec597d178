#include "cli/commands/exec.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/output/json.h"
#include "tools/basics.h"
#include "tools/draft/readable_names.h"
#include "tools/file/files.h"
#include "tools/process/exec_run.h"
#include "tools/process/observed_run.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;
using tools::ExecReport;

// Where the report goes: standard error, or the file that --log-file names.
class ReportWriter {
 public:
  // `has_threads`: findings have a block and a thread. `quiet`: notes are left out.
  ReportWriter(Output& output, const std::optional<std::string>& file, bool has_threads, bool quiet)
      : output_(output), has_threads_(has_threads), quiet_(quiet) {
    if (file) path_ = *file;
  }

  void finding(const ExecReport::Seen& seen) {
    const FindingReport& finding = seen.finding;
    const std::string times = finding.count == 1 ? "" : fmt::format(" ({} times)", finding.count);
    const std::string where = finding.where.empty() ? "" : fmt::format(" ({})", finding.where);
    std::string what;
    if (!finding.kernel.empty()) {
      what = fmt::format("kernel {}", tools::with_readable_names(finding.kernel));
      if (has_threads_) {
        what += fmt::format(", block ({}), thread ({})", fmt::join(finding.block, ", "),
                            fmt::join(finding.thread, ", "));
      }
      what += ": ";
    }
    line(finding.error ? Style::kBad : Style::kWarning, finding.error ? "error" : "warning",
         fmt::format("{}: {}{}{}{}", finding.kind, what, finding.message, times, where));
  }
  void failure(const std::string& text) { line(Style::kBad, "error", text); }
  void note(const std::string& text) {
    if (!quiet_) line(Style::kBold, "baton exec", text);
  }

  // Throws kInvalidInput where the file cannot be written.
  void finish() {
    if (!path_.empty()) tools::write_file(path_, text_);
  }

 private:
  void line(Style style, std::string_view word, const std::string& text) {
    if (path_.empty()) return output_.diagnostic(style, word, text);
    text_ += fmt::format("{}: {}\n", word, text);
  }

  Output& output_;
  bool has_threads_;
  bool quiet_;
  std::string path_;
  std::string text_;
};

std::string plural(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string processes(std::size_t count) {
  return count == 1 ? "1 process" : fmt::format("{} processes", count);
}

void tell(const ExecReport& report, const ExecCommand& command,
          const std::vector<tools::Suppression>& suppressions, ReportWriter& writer) {
  std::size_t printed = 0, left_out = 0;
  for (const ExecReport::Seen& seen : report.findings) {
    if (!seen.finding.error && !command.prints_warnings) continue;
    if (command.print_limit && printed == *command.print_limit) {
      ++left_out;
    } else {
      writer.finding(seen);
      ++printed;
    }
  }
  if (left_out > 0) {
    writer.note(fmt::format("{} more not printed (--print-limit {}); --json FILE has all",
                            plural(left_out, "finding"), *command.print_limit));
  }
  for (const auto& [name, calls] : report.missing) {
    // Entries of the driver have names like cuInit, those of the runtime like cudaMalloc.
    const bool is_runtime = name.starts_with("cuda") || name.starts_with("__cuda");
    writer.note(fmt::format("not simulated: {} ({}); it gave {}", name, plural(calls, "call"),
                            is_runtime ? "cudaErrorNotSupported" : "CUDA_ERROR_NOT_SUPPORTED"));
  }
  for (const auto& [why, loads] : report.images) {
    writer.note(
        fmt::format("not checked: {}{}", why, loads == 1 ? "" : fmt::format(" ({} times)", loads)));
  }
  if (report.unreadable > 0) {
    writer.note(fmt::format("{} of the report {} cut off or damaged",
                            plural(report.unreadable, "line"),
                            report.unreadable == 1 ? "is" : "are"));
  }
  if (report.lost > 0) {
    writer.failure(
        fmt::format("{} could not write all findings to {}: is the disk full? Set TMPDIR to a "
                    "folder with room",
                    processes(report.lost), std::filesystem::temp_directory_path().string()));
  }
  if (!report.suppressed.empty()) {
    writer.note(fmt::format("{} suppressed by {}", plural(report.suppressed.size(), "finding"),
                            command.suppressions->string()));
  }
  for (const tools::Suppression& rule : suppressions) {
    if (rule.matches > 0) continue;
    writer.note(fmt::format("no finding matched the suppression at {}", rule.place.to_string()));
  }
  if (report.other_tools > 0) {
    writer.note(fmt::format("{} of other tools left out (--tool {})",
                            plural(report.other_tools, "finding"),
                            tools::sanitizer_tools()[static_cast<std::size_t>(*command.tool)]));
  }
  if (report.processes == 0 && report.lost == 0) {
    writer.note("no process used the CUDA driver: nothing was checked");
  } else {
    writer.note(fmt::format("{}, {} in {} on {}", plural(report.errors(), "error"),
                            plural(report.warnings(), "warning"), processes(report.processes),
                            command.settings.device));
  }
}

Json json_of(const ExecReport& report, const ExecCommand& command, const tools::ProcessEnd& end,
             int status) {
  Json json = {{"version", 1},
               {"command", "exec"},
               {"status", status},
               {"device", command.settings.device},
               {"program", {{"command", command.program}}}};
  json["program"]["status"] = end.status ? Json(*end.status) : Json();
  json["program"]["signal"] = end.status ? Json() : Json(end.signal);
  json["program"]["timed_out"] = end.timed_out;
  json["processes"] = report.processes;
  json["lost"] = report.lost;
  const auto row_of = [&](const ExecReport::Seen& seen) {
    Json row = cli::json_of(seen.finding);
    if (!report.has_threads) row["block"] = row["thread"] = nullptr;
    row["processes"] = seen.processes;
    return row;
  };
  json["findings"] = Json::array();
  for (const ExecReport::Seen& seen : report.findings) json["findings"].push_back(row_of(seen));
  json["suppressed"] = Json::array();
  for (const ExecReport::Suppressed& each : report.suppressed) {
    json["suppressed"].push_back(row_of(each.seen));
    json["suppressed"].back()["reason"] = each.reason;
  }
  json["missing"] = Json::array();
  for (const auto& [name, calls] : report.missing) {
    json["missing"].push_back({{"name", name}, {"calls", calls}});
  }
  json["unchecked"] = Json::array();
  for (const auto& [why, loads] : report.images) {
    json["unchecked"].push_back({{"why", why}, {"loads", loads}});
  }
  return json;
}

// %p is the process that the report is of, %q{NAME} a variable of the environment, %% a percent
// sign: as compute-sanitizer has them.
std::string expanded(const std::string& name) {
  std::string path;
  for (std::size_t k = 0; k < name.size(); ++k) {
    if (name[k] != '%' || k + 1 == name.size()) {
      path += name[k];
    } else if (name[++k] == 'p') {
      path += std::to_string(getpid());
    } else if (const std::size_t end = name.find('}', k);
               name.compare(k, 2, "q{") == 0 && end != std::string::npos) {
      path += read_environment(name.substr(k + 2, end - k - 2).c_str()).value_or("");
      k = end;
    } else {
      path += name[k] == '%' ? "%" : std::string("%") + name[k];
    }
  }
  return path;
}

}  // namespace

int exec(const ExecCommand& command, Output& output, const std::atomic<bool>& interrupt) {
  if (command.print_environment) {
    for (const auto& [name, value] :
         command.on_gpu ? tools::observed_environment()
                        : tools::exec_environment(command.settings, tools::driver_folder(), "")) {
      if (!value.empty()) output.line("{}={}", name, value);
    }
    return 0;
  }
  // A mistake in the file is known before anything runs.
  std::vector<tools::Suppression> suppressions;
  if (command.suppressions) suppressions = tools::read_suppressions(*command.suppressions);
  std::optional<std::chrono::duration<double>> limit;
  if (command.timeout) limit.emplace(*command.timeout);
  auto [end, report] = command.on_gpu
                           ? tools::run_observed(command.program, limit, interrupt)
                           : tools::run_on_simulator(command.settings, command.program,
                                                     command.application_only, limit, interrupt);
  if (command.kernels) tools::keep_kernels(report, *command.kernels);
  if (command.excluded) tools::leave_out_kernels(report, *command.excluded);
  if (command.tool) tools::keep_findings_of(*command.tool, report);
  tools::suppress(report, suppressions);
  const bool failed = report.errors() > 0 || report.lost > 0 ||
                      (command.warnings_as_errors && report.warnings() > 0) ||
                      (command.needs_cuda && report.processes == 0);
  const int own = end.exit_status();
  const int status = own != 0 || !failed ? own : command.error_status;

  std::optional<std::string> log;
  if (command.log_file) log = expanded(*command.log_file);
  ReportWriter writer(output, log, report.has_threads, command.quiet);
  tell(report, command, suppressions, writer);
  if (end.signal != 0) writer.note(fmt::format("the program was ended by signal {}", end.signal));
  writer.finish();
  output.result() = json_of(report, command, end, status);
  if (command.json_file) {
    tools::write_file(expanded(*command.json_file), output.result().dump(2) + "\n");
  }
  if (end.timed_out) {
    throw error(ErrorCode::kTimeout, "the program took more than {} s and was stopped",
                *command.timeout);
  }
  return status;
}

}  // namespace baton::cli
