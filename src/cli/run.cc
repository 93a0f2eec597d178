#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "baton/executable.h"
#include "baton/schedules.h"
#include "cli/commands.h"
#include "cli/kernel_modules.h"
#include "cli/output_report.h"
#include "cli/run_report.h"
#include "cli/schedule_report.h"
#include "cli/seen_steps.h"
#include "tools/basics.h"
#include "tools/comparison.h"
#include "tools/files.h"
#include "tools/kept_modules.h"
#include "tools/program_arrays.h"
#include "tools/program_file.h"

namespace baton::cli {
namespace {

// The buffers that options name besides the outputs.
std::vector<std::string> more_results(const RunCommand& command, const Executable& executable,
                                      const tools::Expected& expected) {
  std::vector<std::string> names;
  const std::vector<std::string> outputs = executable.outputs();
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(outputs, name) != outputs.end()) return;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const auto& [name, file] : command.outputs) add(name);
  for (const tools::ExpectedArray& wanted : expected.arrays) add(wanted.name);
  return names;
}

baton::RunOptions run_options(const RunCommand& command, const std::vector<std::string>& results,
                              SeenSteps* seen, Output& output, const std::atomic<bool>& interrupt) {
  baton::RunOptions options = timed_options(command.timeout, interrupt);
  options.repeat = command.repeat;
  if (command.schedule) options.schedule = *command.schedule;
  options.races = command.races;
  options.trace = command.trace.has_value();
  options.find_non_finite = command.find_non_finite;
  options.results = results;
  if (seen != nullptr) {
    options.after_step = [seen](const CompletedStep& step) { return seen->add(step); };
  }
  const auto start = std::chrono::steady_clock::now();
  options.progress = [&output, start, repeat = command.repeat](const RunProgress& progress) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    output.progress(fmt::format("run {} of {}: {} of {} steps, {}", progress.run + 1, repeat,
                                progress.steps_done, progress.steps,
                                format_duration(passed.count())));
  };
  return options;
}

// Returns the options of a run that is compared with the first one.
baton::RunOptions schedule_options(const RunCommand& command, const std::atomic<bool>& interrupt) {
  baton::RunOptions options = timed_options(command.timeout, interrupt);
  options.races = command.races;
  options.time_steps = false;
  return options;
}

}  // namespace

void run(const RunCommand& command, Output& output, const std::atomic<bool>& interrupt) {
  // A reader finds the same keys however far the run gets.
  for (const char* value : {"device", "device_name", "program", "symbols", "executor", "graph"}) {
    output.result()[value] = nullptr;
  }
  output.result()["executor"] = command.executor == ExecutorKind::kGraph ? "graph" : "stream";
  for (const char* list : {"modules", "kernels", "steps", "edges", "outputs", "findings"}) {
    output.result()[list] = nlohmann::ordered_json::array();
  }
  const tools::ProgramFile named = tools::open_program(command.program, command.trusted);
  const Program& program = named.program;
  show_program(program, command.program, output);
  Bindings bindings;
  bindings.symbols = command.symbols;
  bindings.seed = command.seed;
  using tools::Serves;
  bindings.inputs = tools::read_arrays(program, "--input", command.inputs, Serves::kInputs);
  // What the program expects of a whole run says nothing of a part.
  tools::Expected expected = {tools::read_expected(program, command.expected, !command.until),
                              command.rtol, command.atol};
  if (expected.arrays.empty() && (command.rtol || command.atol)) {
    throw error(ErrorCode::kInvalidInput,
                "{} compares nothing: the program expects nothing of its outputs; give --expect",
                command.rtol ? "--rtol" : "--atol");
  }
  tools::check_outputs(program, command.outputs);
  std::optional<SeenSteps> seen;
  if (SeenSteps::is_wanted(command)) seen.emplace(command, program);
  if (command.trace) {
    tools::require_target("--trace " + command.trace->string(), *command.trace);
  }

  const Device device = command.device ? Device::open(*command.device) : Device::open();
  show_device(device, output);
  output.progress("compile and load");
  PrepareOptions options;
  options.executor = command.executor;
  options.pdl = command.pdl;
  if (command.rewrite) options.rewrite = *command.rewrite;
  Executable executable = named.prepare(device, options);
  if (command.keep) {
    std::vector<std::string> remarks;
    tools::keep_modules(program, executable.modules(), "--keep", *command.keep, remarks);
    for (const std::string& remark : remarks) output.warning(remark);
  }
  const RunOptions limits = timed_options(command.timeout, interrupt);
  bindings.setup = {limits.timeout, limits.interrupt};
  executable.bind(std::move(bindings));
  show_symbols(executable.symbols(), output);
  if (command.schedule) {
    output.result()["schedule"] = to_string(*command.schedule);
    output.line("schedule {}", to_string(*command.schedule));
  }
  show_modules(executable.modules(), output);
  show_rewrites(executable.modules(), output);
  std::vector<std::string> remarks;
  tools::check_expected_shapes(executable, expected, remarks);
  for (const std::string& remark : remarks) output.warning(remark);
  output.flush();

  const auto write_trace = [&] {
    if (command.trace) tools::write_file(*command.trace, executable.report().trace);
  };
  const std::vector<std::string> more = more_results(command, executable, expected);
  try {
    executable.run(run_options(command, more, seen ? &*seen : nullptr, output, interrupt));
  } catch (const Error& failure) {
    write_trace();
    show_steps(executable.report(), executable.edges(), output);
    if (executable.report().non_finite) show_non_finite(executable.report(), output);
    if (seen) seen->fail(executable, failure, output);
    show_findings(executable.report(), false, output);
    show_warnings(executable.report(), output);
    throw;
  }
  write_trace();
  const RunReport& report = executable.report();
  show_steps(report, executable.edges(), output);
  if (command.find_non_finite) show_non_finite(report, output);
  if (seen) seen->finish(output);
  const auto results = tools::compare_outputs(executable, more, expected);
  show_outputs(results, output);
  show_findings(report, true, output);
  show_warnings(report, output);
  for (const auto& [name, file] : command.outputs)
    tools::write_array(file, executable.output(name));
  tools::throw_on_mismatch(results);
  if (!command.schedules.empty()) {
    const Span<const Schedule> all = command.schedules;
    const std::vector<FindingReport> known = report.findings;
    output.progress(fmt::format("run under {} more schedules", all.size() - 1));
    const std::vector<ScheduleRun> runs = compare_schedules(
        executable, {all.data() + 1, all.size() - 1}, schedule_options(command, interrupt));
    show_schedules(all[0], known, runs, output);
    throw_on_difference(all[0], runs);
  }
}

}  // namespace baton::cli
