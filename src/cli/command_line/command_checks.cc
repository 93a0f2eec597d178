#include "cli/command_line/command_checks.h"

#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "cli/command_line/command_table.h"
#include "cli/command_line/completion_script.h"
#include "cli/command_line/help.h"
#include "cli/command_line/manual.h"
#include "cli/command_line/option_values.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

constexpr std::string_view kSeeds = "a number from 0 to 2^64 - 1";
constexpr std::string_view kCounts = "a number from 1 to 2^64 - 1";

// What running and measuring have in common.
tools::TrustedFiles trusted_files(const RawOptions& raw) {
  return {raw.trusted.begin(), raw.trusted.end()};
}

// Nothing where the option was left out.
std::optional<TraceSource> checked_trace_source(const RawOptions& raw) {
  constexpr std::string_view kSources[] = {"device", "kernels"};
  check_choice("--trace-by", raw.trace_by, kSources);
  if (raw.trace_by.empty()) return std::nullopt;
  if (raw.trace.empty()) {
    throw error(ErrorCode::kInvalidInput,
                "--trace-by {} says what a timeline is made of, and none is written; give --trace "
                "FILE.json too",
                raw.trace_by);
  }
  return raw.trace_by == "kernels" ? TraceSource::kKernels : TraceSource::kDevice;
}

// Nothing where the option was left out.
std::optional<ExecutorKind> parse_executor(const std::string& text) {
  constexpr std::string_view kExecutors[] = {"stream", "graph"};
  check_choice("--executor", text, kExecutors);
  if (text.empty()) return std::nullopt;
  return text == "graph" ? ExecutorKind::kGraph : ExecutorKind::kStream;
}

template <typename T>
T checked_common(const RawOptions& raw) {
  T command;
  command.json = raw.json;
  command.program = raw.file;
  command.trusted = trusted_files(raw);
  if (!raw.device.empty()) command.device = raw.device;
  command.symbols = parse_symbols(raw.set);
  command.inputs = parse_assignments("--input", raw.inputs, "FILE.npy");
  if (!raw.repeat.empty()) {
    command.repeat = parse_integer<std::uint64_t>("--repeat", raw.repeat, 1, kCounts);
  }
  if (!raw.seed.empty()) {
    command.seed = parse_integer<std::uint64_t>("--seed", raw.seed, 0, kSeeds);
  }
  if (!raw.timeout.empty()) {
    command.timeout = parse_real("--timeout", raw.timeout, false, "a number of seconds above 0");
  }
  const std::optional<ExecutorKind> executor = parse_executor(raw.executor);
  command.fixed_executor = executor.has_value();
  command.executor = executor.value_or(ExecutorKind::kStream);
  command.untuned = raw.untuned;
  command.pdl = parse_pdl(raw.pdl);
  command.rewrite = parse_rewrite(raw.rewrite);
  return command;
}

// Checks the options that look into a run between its steps.
void check_looks(const RawOptions& raw, RunCommand& command) {
  if (!raw.dump.empty()) command.dump = raw.dump;
  if (!raw.until.empty()) command.until = tools::parse_step_choice("--until", raw.until);
  command.find_non_finite = raw.find_nan;
  const char* const looks = command.dump              ? "--dump"
                            : command.until           ? "--until"
                            : command.find_non_finite ? "--find-nan"
                                                      : nullptr;
  // Only a stream has something between its steps.
  command.fixed_executor |= looks != nullptr;
  if (looks != nullptr && command.executor == ExecutorKind::kGraph) {
    throw error(ErrorCode::kInvalidInput,
                "{} looks between steps, and --executor graph makes them one launch; leave one out",
                looks);
  }
  if (command.until && command.repeat > 1) {
    throw error(ErrorCode::kInvalidInput,
                "--until ends the first run, and --repeat asks for {} runs; leave one out",
                command.repeat);
  }
}

// The first of several schedules is that of the run itself.
void check_schedules(const RawOptions& raw, RunCommand& command) {
  if (command.schedules.empty()) return;
  const char* const other = !raw.schedule.empty() ? "--schedule"
                            : command.until       ? "--until"
                                                  : nullptr;
  if (other != nullptr) {
    throw error(ErrorCode::kInvalidInput, "--schedules compares whole runs; leave {} out", other);
  }
  command.schedule = command.schedules.front();
}

// The runs end with the elements, or after --repeat runs.
void check_follow(const RawOptions& raw, RunCommand& command) {
  if (raw.follow.empty()) return;
  const char* const other = !command.schedules.empty() ? "--schedules"
                            : command.until            ? "--until"
                            : command.dump             ? "--dump"
                                                       : nullptr;
  if (other != nullptr) {
    throw error(ErrorCode::kInvalidInput,
                "--follow runs the program again and again, and {} is about one run; leave one out",
                other);
  }
  command.follow = parse_follow(raw.follow);
  if (!raw.repeat.empty()) command.follow->runs = command.repeat;
}

// `other`: an option that is for one rank; null where there is none.
template <typename Command>
void check_devices(const RawOptions& raw, const char* other, Command& command) {
  command.collectives = parse_collectives(raw.collectives);
  if (raw.devices.empty()) return;
  command.devices = parse_list("--devices", raw.devices, "devices between commas");
  if (command.device) other = "--device";
  if (other != nullptr) {
    throw error(ErrorCode::kInvalidInput, "--devices gives each rank a device; leave {} out",
                other);
  }
}

CacheCommand::Action parse_action(const std::string& text) {
  constexpr std::pair<std::string_view, CacheCommand::Action> kActions[] = {
      {"stats", CacheCommand::Action::kStats},   {"list", CacheCommand::Action::kList},
      {"verify", CacheCommand::Action::kVerify}, {"clear", CacheCommand::Action::kClear},
      {"export", CacheCommand::Action::kExport}, {"import", CacheCommand::Action::kImport}};
  std::vector<std::string_view> names;
  for (const auto& [name, action] : kActions) {
    if (name == text) return action;
    names.push_back(name);
  }
  throw error(ErrorCode::kInvalidInput, "baton cache has no action \"{}\"{}", text,
              suggestion(text, std::span<const std::string_view>(names)));
}

std::optional<std::filesystem::path> checked_plot(const RawOptions& raw) {
  if (raw.plot.empty()) return std::nullopt;
  const std::filesystem::path plot = raw.plot;
  if (plot.extension() == ".svg" || plot.extension() == ".html") return plot;
  throw error(ErrorCode::kInvalidInput, "--plot {} ends in neither .svg nor .html",
              printable(raw.plot));
}

std::optional<std::filesystem::path> checked_page(const RawOptions& raw) {
  if (raw.html.empty()) return std::nullopt;
  std::filesystem::path page = raw.html;
  if (page.extension() == ".html") return page;
  throw error(ErrorCode::kInvalidInput, "--html {} does not end in .html", printable(raw.html));
}

// The command is a program of one rank, which has its own executor and contents.
void check_tune_with(const RawOptions& raw, TuneCommand& command) {
  if (raw.tune_with.empty()) return;
  const char* const other = !raw.devices.empty()       ? "--devices"
                            : !raw.collectives.empty() ? "--collectives"
                            : !raw.executor.empty()    ? "--executor"
                            : !raw.inputs.empty()      ? "--input"
                                                       : nullptr;
  if (other != nullptr) {
    throw error(ErrorCode::kInvalidInput,
                "--tune-with lets a command run the program, and {} is for runs by Baton; leave "
                "one out",
                other);
  }
  command.tune_with = raw.tune_with;
}

}  // namespace

Command checked_doctor(const RawOptions& raw) {
  return DoctorCommand{raw.json};
}

Command checked_init(const RawOptions& raw) {
  InitCommand command{raw.json, raw.file, {}, raw.arch, raw.entries, raw.reference};
  if (!raw.output.empty()) command.output = raw.output;
  return command;
}

ReportFiles checked_reports(const RawOptions& raw) {
  ReportFiles reports;
  if (!raw.sarif.empty()) reports.sarif = raw.sarif;
  if (!raw.junit.empty()) reports.junit = raw.junit;
  return reports;
}

Command checked_run(const RawOptions& raw) {
  RunCommand command = checked_common<RunCommand>(raw);
  command.verbose = raw.verbose;
  command.strict = raw.strict;
  command.outputs = parse_outputs(raw.outputs);
  if (!raw.function.empty() || !raw.call_arguments.empty()) {
    command.call = {raw.function, parse_assignments("--arg", raw.call_arguments, "VALUE")};
  }
  command.expected = parse_expected(raw.expected);
  constexpr std::string_view kTolerance = "a number of at least 0";
  if (!raw.rtol.empty()) command.rtol = parse_real("--rtol", raw.rtol, true, kTolerance);
  if (!raw.atol.empty()) command.atol = parse_real("--atol", raw.atol, true, kTolerance);
  if (!raw.keep.empty()) command.keep = raw.keep;
  check_looks(raw, command);

  command.schedule = checked_schedule(raw.schedule);
  command.schedules = checked_schedules(raw.schedules);
  check_schedules(raw, command);
  check_follow(raw, command);
  check_devices(raw, command.schedules.empty() ? nullptr : "--schedules", command);
  command.races = checked_races(raw.races);
  if (!raw.trace.empty()) command.trace = raw.trace;
  command.trace_by = checked_trace_source(raw);
  command.html = checked_page(raw);
  command.reports = checked_reports(raw);
  return command;
}

Command checked_check(const RawOptions& raw) {
  CheckCommand command;
  command.json = raw.json;
  command.strict = raw.strict;
  command.verbose = raw.verbose;
  command.files.assign(raw.files.begin(), raw.files.end());
  command.trusted = trusted_files(raw);
  command.symbols = parse_symbols(raw.set);
  command.pdl = parse_pdl(raw.pdl);
  command.rewrite = parse_rewrite(raw.rewrite);
  command.collectives = parse_collectives(raw.collectives);
  if (!raw.device.empty()) command.device = raw.device;
  command.reports = checked_reports(raw);
  return command;
}

Command checked_bench(const RawOptions& raw) {
  BenchCommand command = checked_common<BenchCommand>(raw);
  command.strict = raw.strict;
  if (!raw.second.empty()) command.other = raw.second;
  check_devices(raw, command.other ? "the second program" : nullptr, command);
  if (!raw.baseline.empty()) command.baseline = raw.baseline;
  if (command.other && command.baseline) {
    throw error(ErrorCode::kInvalidInput,
                "two programs are compared with each other, and --baseline {} is a third "
                "measurement; leave one out",
                raw.baseline);
  }
  if (!raw.limit.empty()) {
    command.limit = parse_real("--limit", raw.limit, true, "a percentage of at least 0");
    if (!command.other && !command.baseline) {
      throw Error(ErrorCode::kInvalidInput,
                  "--limit judges a comparison; give a second program or --baseline OLD.json");
    }
  }
  command.plot = checked_plot(raw);
  return command;
}

Command checked_tune(const RawOptions& raw) {
  TuneCommand command;
  command.json = raw.json;
  command.strict = raw.strict;
  command.trusted = trusted_files(raw);
  command.program = raw.file;
  if (!raw.output.empty()) command.output = raw.output;
  if (!raw.device.empty()) command.device = raw.device;
  check_devices(raw, command.output ? "-o" : nullptr, command);
  command.symbols = parse_symbols(raw.set);
  command.inputs = parse_assignments("--input", raw.inputs, "FILE.npy");
  if (!raw.seed.empty()) {
    command.seed = parse_integer<std::uint64_t>("--seed", raw.seed, 0, kSeeds);
  }
  if (!raw.timeout.empty()) {
    command.timeout = parse_real("--timeout", raw.timeout, false, "a number of seconds above 0");
  }
  command.executor = parse_executor(raw.executor);
  if (!raw.budget.empty()) {
    command.budget = parse_real("--budget", raw.budget, true, "a number of seconds of at least 0");
  }
  command.plot = checked_plot(raw);
  check_tune_with(raw, command);
  return command;
}

Command checked_build(const RawOptions& raw) {
  if (raw.output.empty()) {
    throw Error(ErrorCode::kInvalidInput,
                "baton build needs a file to write: baton build PROGRAM -o OUT.baton");
  }
  BuildCommand command{
      raw.json,
      raw.file,
      raw.output,
      parse_list("--arch", raw.arch, "architectures between commas (sm_90a,sm_100a)"),
      !raw.no_sources,
      raw.weights};
  if (!raw.key.empty()) command.key = raw.key;
  if (!raw.tvm_library.empty()) command.tvm_library = raw.tvm_library;
  command.symbols = parse_symbols(raw.set);
  return command;
}

Command checked_sign(const RawOptions& raw) {
  if (raw.key.empty()) {
    throw Error(ErrorCode::kInvalidInput,
                "baton sign needs a key: baton sign X.baton --key KEY.pem; \"openssl genpkey "
                "-algorithm ed25519 -out KEY.pem\" makes one");
  }
  return SignCommand{raw.json, raw.file, raw.key, raw.output.empty() ? raw.file : raw.output};
}

Command checked_compile(const RawOptions& raw) {
  if (raw.ptx && raw.cubin) {
    throw Error(ErrorCode::kInvalidInput,
                "--ptx and --cubin name two outputs, one file is written; keep one");
  }
  CompileCommand command{raw.json, raw.file,  {},          raw.arch,
                         raw.ptx,  raw.cubin, raw.entries, raw.rest};
  if (!raw.output.empty()) command.output = raw.output;
  command.rewrite = parse_rewrite_alone(raw.rewrite);
  if (command.rewrite == RewriteMode::kOff) command.rewrite.reset();
  command.quiet = raw.quiet;
  if (!raw.depfile.empty()) command.depfile = raw.depfile;
  if (command.depfile && raw.output.empty()) {
    throw Error(ErrorCode::kInvalidInput,
                "--depfile says what a file depends on, and none is named; give -o");
  }
  return command;
}

Command checked_inspect(const RawOptions& raw) {
  InspectCommand command;
  command.json = raw.json;
  command.image = raw.file;
  command.trusted = trusted_files(raw);
  command.arch = raw.arch;
  if (!raw.kernel.empty()) command.kernel = parse_regex("--kernel", raw.kernel);
  if (!raw.extract.empty()) command.extract = raw.extract;
  return command;
}

Command checked_explain(const RawOptions& raw) {
  return ExplainCommand{raw.json, raw.word};
}

Command checked_cache(const RawOptions& raw) {
  const CacheCommand::Action action = parse_action(raw.word);
  const bool copies =
      action == CacheCommand::Action::kExport || action == CacheCommand::Action::kImport;
  if (copies && raw.folder.empty()) {
    throw error(ErrorCode::kInvalidInput,
                "baton cache {0} needs a folder or a file: baton cache {0} DIR, or FILE.zip",
                raw.word);
  }
  if (!copies && !raw.folder.empty()) {
    throw error(ErrorCode::kInvalidInput, "baton cache {} takes no folder, \"{}\" is given",
                raw.word, printable(raw.folder));
  }
  return CacheCommand{raw.json, action, raw.folder};
}

Command checked_completion(const RawOptions& raw) {
  constexpr std::pair<std::string_view, std::string (*)()> kShells[] = {
      {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};
  std::vector<std::string_view> names;
  for (const auto& [name, script] : kShells) {
    if (name == raw.word) return ShowText{script()};
    names.push_back(name);
  }
  throw error(ErrorCode::kInvalidInput, "baton completion has no shell \"{}\"{}",
              printable(raw.word), suggestion(raw.word, std::span<const std::string_view>(names)));
}

Command checked_manual(const RawOptions& raw) {
  return ShowText{manual_page(raw.word.empty() ? nullptr : &named_command(raw.word))};
}

Command checked_help(const RawOptions& raw) {
  return ShowHelp{raw.word.empty() ? "" : std::string(named_command(raw.word).name)};
}

Command checked_version(const RawOptions&) {
  return ShowVersion{};
}

}  // namespace baton::cli
