// The command line: reads arguments, calls one command, and maps errors to exit statuses.

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "cli/command_line/command_files.h"
#include "cli/command_line/command_line.h"
#include "cli/command_line/help.h"
#include "cli/commands/commands.h"
#include "cli/commands/exec.h"
#include "cli/commands/ranks.h"
#include "cli/commands/record.h"
#include "cli/output/junit.h"
#include "cli/output/output.h"
#include "cli/output/sarif.h"
#include "cli/tool_main.h"
#include "tools/file/files.h"
#include "tools/file/program_arrays.h"
#include "tools/toolkit/ptxas.h"

namespace baton::cli {
namespace {

// Set by the first SIGINT or SIGTERM; commands that run for long poll it.
std::atomic<bool> interrupted{false};
std::atomic<std::int64_t> first_signal{0};  // when it came, in nanoseconds
static_assert(std::atomic<bool>::is_always_lock_free, "it is set in a signal handler");
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "it is set in a signal handler");

// A later signal ends the process. One that comes at once is the same wish: timeout(1) sends its
// signal to the process and to its group.
constexpr std::int64_t kSameWish = 100'000'000;

void on_interrupt(int) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t at = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  std::int64_t first = 0;
  if (first_signal.compare_exchange_strong(first, at)) {
    interrupted = true;
  } else if (at - first > kSameWish) {
    _exit(exit_status(ErrorCode::kInterrupted));
  }
}

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A reader that goes away shows as a failed write, not as a signal.
  std::signal(SIGPIPE, SIG_IGN);
}

// What is freed stays with the process, but for large blocks: new memory takes longer to touch than
// contents take to copy.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kMiB = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 16 * kMiB);
  mallopt(M_TRIM_THRESHOLD, 64 * kMiB);
#endif
}

bool is_strict(const Command& command) {
  return std::visit(
      [](const auto& chosen) {
        if constexpr (requires { chosen.strict; }) return chosen.strict;
        return false;
      },
      command);
}

ReportFiles reports_of(const Command& command) {
  return std::visit(
      [](const auto& chosen) {
        if constexpr (requires { chosen.reports; }) return chosen.reports;
        return ReportFiles{};
      },
      command);
}

// What cannot be written is known before anything runs.
void require_targets(const ReportFiles& reports) {
  if (reports.sarif) tools::require_target("--sarif " + reports.sarif->string(), *reports.sarif);
  if (reports.junit) tools::require_target("--junit " + reports.junit->string(), *reports.junit);
}

// A report that would replace what the command reads was refused before, as the command's error.
void write_reports(const ReportFiles& reports, const Output& output, int status) {
  if (reports.sarif && output.files().may_write(*reports.sarif)) {
    const std::string root = std::filesystem::current_path().string();
    tools::write_file(*reports.sarif, sarif_of(output.result(), status, root));
  }
  if (reports.junit && output.files().may_write(*reports.junit)) {
    tools::write_file(*reports.junit, junit_of(output.result(), status));
  }
}

// Of a command that found nothing worse than warnings, where --strict allows none.
constexpr int kWarningStatus = 1;

struct Dispatch {
  Output& output;
  int& status;
  void operator()(const ShowText& command) const { output.text(command.text); }
  void operator()(const ShowVersion&) const {
    output.text(version_line());
    add_versions(output.result());
  }
  void operator()(const ShowHelp& command) const {
    output.text(help_text(command.command, output.terminal()));
    add_help(command.command, output.result());
  }
  void operator()(const DoctorCommand& command) const { doctor(command, output); }
  void operator()(const RunCommand& command) const { run(command, output, interrupted); }
  void operator()(const CheckCommand& command) const { check(command, output); }
  void operator()(const BenchCommand& command) const { bench(command, output, interrupted); }
  void operator()(const TuneCommand& command) const { tune(command, output, interrupted); }
  void operator()(const InitCommand& command) const { init(command, output); }
  void operator()(const BuildCommand& command) const { build(command, output); }
  void operator()(const SignCommand& command) const { sign(command, output); }
  void operator()(const CompileCommand& command) const { compile(command, output); }
  void operator()(const ExplainCommand& command) const { explain(command, output); }
  void operator()(const InspectCommand& command) const { inspect(command, output); }
  void operator()(const CacheCommand& command) const { cache(command, output); }
  void operator()(const PtxasCommand& command) const {
    status = tools::run_ptxas(command.arguments, interrupted);
  }
  void operator()(const ToolkitCommand& command) const { toolkit(command, output); }
  void operator()(const ExecCommand& command) const { status = exec(command, output, interrupted); }
  void operator()(const RecordCommand& command) const {
    status = record(command, output, interrupted);
  }
};

// A rank whose command line is wrong joins the others first, so that the run of all ends with its
// error.
Command parsed(const std::vector<std::string>& arguments, const std::string& name, Output& output) {
  try {
    return parse_command_line(arguments);
  } catch (...) {
    if (name != "run" && name != "bench" && name != "tune") throw;
    throw Error(RankOfRun().fail(current_error(), output));
  }
}

int run_command(const std::vector<std::string>& arguments) {
  install_signal_handlers();
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const std::string name = command_name(arguments);
  // The JSON of commands that run a program has a file of its own.
  const bool json =
      name != "exec" && name != "record" && std::find(arguments.begin(), end, "--json") != end;
  Output output(json, name);
  int status = 0;
  ReportFiles reports;
  try {
    const Command command = parsed(arguments, name, output);
    note_files(command, output.files());
    require_targets(reports_of(command));
    reports = reports_of(command);
    std::visit(Dispatch{output, status}, command);
    if (interrupted) throw Error(ErrorCode::kInterrupted, "interrupted");
    if (is_strict(command) && output.warnings() > 0) {
      output.report_warnings();
      status = kWarningStatus;
    }
  } catch (...) {
    const Error error = current_error();
    output.report(error);
    status = exit_status(error.code());
  }
  try {
    if (!output.is_muted()) write_reports(reports, output, status);
    output.finish();
  } catch (const Error& error) {
    output.report(error);
    if (status == 0) status = exit_status(error.code());
  }
  return status;
}

}  // namespace

int tool_main(int count, char** values) {
  keep_freed_memory();
  return run_command(std::vector<std::string>(values + 1, values + std::max(count, 1)));
}

}  // namespace baton::cli
