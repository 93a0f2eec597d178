// The options of `baton exec`, and of what prepares for it, checked.

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "cli/command_line/command_checks.h"
#include "cli/command_line/option_values.h"
#include "tools/basics.h"
#include "tools/device_facts.h"

namespace baton::cli {
namespace {

// "8GiB", "512MiB" or a number of bytes.
std::uint64_t parse_bytes(std::string_view option, const std::string& text) {
  constexpr std::pair<std::string_view, unsigned> kUnits[] = {
      {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
  constexpr std::string_view kWanted = "a number of bytes, or of KiB, MiB or GiB, as 8GiB";
  std::string_view number = text;
  unsigned shift = 0;
  for (const auto& [unit, bits] : kUnits) {
    if (!number.ends_with(unit)) continue;
    number.remove_suffix(unit.size());
    shift = bits;
    break;
  }
  const auto count = parse_integer<std::uint64_t>(option, number, 1, kWanted);
  if (count > std::numeric_limits<std::uint64_t>::max() >> shift) {
    refuse_value(option, text, kWanted);
  }
  return count << shift;
}

bool is_simulated(std::string_view device) {
  return device == "sim" || device.starts_with("sim:");
}

constexpr std::string_view kGpu = "cuda";

// Only --device cuda takes the GPU: by default, a program is simulated.
std::string parse_exec_device(const std::string& text) {
  if (text.empty()) {
    const auto chosen = read_environment("BATON_DEVICE");
    return chosen && is_simulated(*chosen) ? *chosen : "sim";
  }
  if (is_simulated(text) || text == kGpu) return text;
  throw error(ErrorCode::kInvalidInput,
              "baton exec takes --device sim, sim:h200, sim:h100, sim:b200, sim:sm80, sim:sm89, "
              "sim:sm120, sim:tiny or cuda, {} was given; CUDA_VISIBLE_DEVICES chooses among "
              "several GPUs",
              text);
}

// These options change the simulation, and have no meaning on a GPU.
void require_no_simulation(const RawOptions& raw) {
  const std::pair<std::string_view, bool> given[] = {
      {"--memory", !raw.memory.empty()},
      {"--schedule", !raw.schedule.empty()},
      {"--races", !raw.races.empty()},
      {"--gdb", !raw.gdb.empty()},
      {"--keep-going", raw.keep_going},
      {"--tool", !raw.tool.empty()},
      {"--leak-check", raw.leaks == "full"},
      {"--launch-skip", !raw.launch_skip.empty()},
      {"--launch-count", !raw.launch_count.empty()},
      {"--report-api-errors", !raw.api_errors.empty() && raw.api_errors != "no"}};
  for (const auto& [option, is_given] : given) {
    if (!is_given) continue;
    throw error(ErrorCode::kInvalidInput,
                "{} is for the simulated GPU, --device {} was given; leave one of them out", option,
                kGpu);
  }
}

// Whether an option that knows two words has the first; if it was left out, it has the second.
bool is_chosen(std::string_view option, const std::string& given, std::string_view first,
               std::string_view second) {
  const std::string_view known[] = {first, second};
  check_choice(option, given, known);
  return given == first;
}

bool ends_kernel_alone(const RawOptions& raw) {
  const bool is_kernel = is_chosen("--destroy-on-device-error", raw.on_error, "kernel", "context");
  if (raw.keep_going && raw.on_error == "context") {
    throw error(ErrorCode::kInvalidInput,
                "--keep-going and --destroy-on-device-error context contradict each other; leave "
                "one of them out");
  }
  return raw.keep_going || is_kernel;
}

tools::SanitizerTool parse_tool(const std::string& text) {
  const std::span<const std::string_view> names = tools::sanitizer_tools();
  check_choice("--tool", text, names);
  return static_cast<tools::SanitizerTool>(std::ranges::find(names, text) - names.begin());
}

// A regular expression, or the filters of compute-sanitizer: kne=NAME, kns=PART, with commas
// between them. One of them must match. Returns the regular expression that says the same.
std::string kernel_pattern(std::string_view option, const std::string& text) {
  constexpr std::pair<std::string_view, bool> kKeys[] = {
      {"kne=", true}, {"kernel_name=", true}, {"kns=", false}, {"kernel_substring=", false}};
  std::string pattern;
  for (std::string_view left = text; !left.empty();) {
    const auto key =
        std::ranges::find_if(kKeys, [&](const auto& each) { return left.starts_with(each.first); });
    if (key == std::end(kKeys)) {
      if (pattern.empty()) return text;
      refuse_value(option, text, "kne=NAME or kns=PART after each comma");
    }
    left.remove_prefix(key->first.size());
    const std::string_view name = left.substr(0, left.find(','));
    if (name.empty()) refuse_value(option, text, "a name after kne= and kns=");
    left.remove_prefix(std::min(name.size() + 1, left.size()));
    std::string escaped;
    for (const char c : name) {
      if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) escaped += '\\';
      escaped += c;
    }
    pattern += pattern.empty() ? "" : "|";
    pattern += key->second ? "^" + escaped + "$" : escaped;
  }
  return pattern;
}

// Kernels and launches whose findings count.
void choose_launches(const RawOptions& raw, ExecCommand* command) {
  tools::ExecSettings& settings = command->settings;
  if (!raw.kernel.empty()) {
    settings.kernels = kernel_pattern("--kernel-name", raw.kernel);
    command->kernels = parse_regex("--kernel-name", *settings.kernels);
  }
  if (!raw.excluded.empty()) {
    settings.excluded_kernels = kernel_pattern("--kernel-name-exclude", raw.excluded);
    command->excluded = parse_regex("--kernel-name-exclude", *settings.excluded_kernels);
  }
  constexpr std::string_view kWanted = "a number of launches";
  if (!raw.launch_skip.empty()) {
    settings.launch_skip =
        parse_integer<std::uint64_t>("--launch-skip", raw.launch_skip, 0, kWanted);
  }
  if (!raw.launch_count.empty()) {
    settings.launch_count =
        parse_integer<std::uint64_t>("--launch-count", raw.launch_count, 0, kWanted);
  }
}

void check_printing(const RawOptions& raw, ExecCommand* command) {
  if (!raw.print_limit.empty()) {
    const auto limit = parse_integer<std::size_t>("--print-limit", raw.print_limit, 0,
                                                  "a number of findings, or 0 for all");
    if (limit != 0) command->print_limit = limit;
  }
  constexpr std::string_view kLevels[] = {"info", "auto", "warn", "error"};
  check_choice("--print-level", raw.print_level, kLevels);
  command->quiet = raw.quiet;
  command->prints_warnings = raw.print_level != "error";
}

// Nothing runs, so that there is nothing to report.
void require_no_run(const RawOptions& raw) {
  const std::pair<std::string_view, bool> given[] = {
      {"the program", !raw.rest.empty()},
      {"--json", !raw.json_file.empty()},
      {"--log-file", !raw.log_file.empty()},
      {"--sarif", !raw.sarif.empty()},
      {"--junit", !raw.junit.empty()},
      {"--suppressions", !raw.suppressions.empty()},
      {"--timeout", !raw.timeout.empty()},
      {"--error-exitcode", !raw.error_status.empty()},
      {"--warnings-as-errors", raw.warnings_as_errors}};
  for (const auto& [what, is_given] : given) {
    if (!is_given) continue;
    throw error(ErrorCode::kInvalidInput,
                "--print-env prints the environment and runs nothing; leave {} out", what);
  }
}

}  // namespace

Command checked_exec(const RawOptions& raw) {
  ExecCommand command;
  command.program = raw.rest;
  command.settings.device = parse_exec_device(raw.device);
  command.on_gpu = command.settings.device == kGpu;
  if (command.on_gpu) {
    require_no_simulation(raw);
  } else {
    tools::require_simulated(command.settings.device);
  }
  command.settings.schedule = checked_schedule(raw.schedule);
  command.settings.races = checked_races(raw.races);
  command.settings.keep_going = ends_kernel_alone(raw);
  command.settings.finds_leaks = is_chosen("--leak-check", raw.leaks, "full", "no");
  if (!raw.api_errors.empty()) {
    constexpr std::string_view kWords[] = {"all", "explicit", "no"};
    check_choice("--report-api-errors", raw.api_errors, kWords);
    command.settings.api_errors = raw.api_errors;
  }
  command.application_only =
      is_chosen("--target-processes", raw.processes, "application-only", "all");
  command.needs_cuda = is_chosen("--require-cuda-init", raw.needs_cuda, "yes", "no");
  if (!raw.tool.empty()) command.tool = parse_tool(raw.tool);
  check_printing(raw, &command);
  if (!raw.memory.empty()) command.settings.memory = parse_bytes("--memory", raw.memory);
  if (!raw.gdb.empty()) {
    constexpr std::string_view kWanted = "a port from 1 to 65535";
    const int port = parse_integer<int>("--gdb", raw.gdb, 1, kWanted);
    if (port > 65535) refuse_value("--gdb", raw.gdb, kWanted);
    command.settings.gdb_port = port;
  }
  if (!raw.json_file.empty()) command.json_file = raw.json_file;
  if (!raw.log_file.empty()) command.log_file = raw.log_file;
  if (raw.suppressions.ends_with(".xml")) {
    refuse_value("--suppressions", raw.suppressions,
                 "a TOML file with a table [[suppress]] for each known finding, not the XML of "
                 "compute-sanitizer");
  }
  if (!raw.suppressions.empty()) command.suppressions = raw.suppressions;
  command.reports = checked_reports(raw);
  choose_launches(raw, &command);
  if (!raw.timeout.empty()) {
    command.timeout = parse_real("--timeout", raw.timeout, false, "a number of seconds above 0");
  }
  if (!raw.error_status.empty()) {
    constexpr std::string_view kWanted = "an exit status from 0 to 255";
    command.error_status = parse_integer<int>("--error-exitcode", raw.error_status, 0, kWanted);
    if (command.error_status > 255) refuse_value("--error-exitcode", raw.error_status, kWanted);
  }
  command.warnings_as_errors = raw.warnings_as_errors;
  command.print_environment = raw.print_environment;
  if (command.print_environment) require_no_run(raw);
  if (command.program.empty() && !command.print_environment) {
    throw Error(ErrorCode::kInvalidInput,
                "baton exec needs a program after \"--\": baton exec -- PROGRAM ARGUMENTS");
  }
  return command;
}

Command checked_record(const RawOptions& raw) {
  RecordCommand command;
  command.device = raw.device;
  command.contents = raw.contents;
  command.program = raw.rest;
  if (!raw.json_file.empty()) command.json_file = raw.json_file;
  if (!raw.timeout.empty()) {
    command.timeout = parse_real("--timeout", raw.timeout, false, "a number of seconds above 0");
  }
  if (raw.output.empty()) {
    throw Error(ErrorCode::kInvalidInput,
                "baton record needs a folder to write: baton record -o OUT.record -- PROGRAM");
  }
  command.output = raw.output;
  if (command.program.empty()) {
    throw Error(ErrorCode::kInvalidInput,
                "baton record needs a program after \"--\": baton record -o OUT.record -- PROGRAM");
  }
  return command;
}

Command checked_ptxas(const RawOptions& raw) {
  return PtxasCommand{raw.rest};
}

Command checked_toolkit(const RawOptions& raw) {
  ToolkitCommand command{raw.json, raw.folder, {}};
  if (!raw.from.empty()) command.from = raw.from;
  return command;
}

}  // namespace baton::cli
