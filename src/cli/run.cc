#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baton/executable.h"
#include "cli/commands.h"
#include "cli/kernel_modules.h"
#include "cli/run_report.h"
#include "tools/basics.h"
#include "tools/comparison.h"
#include "tools/files.h"
#include "tools/kept_modules.h"
#include "tools/program_arrays.h"
#include "tools/program_file.h"

namespace baton::cli {
namespace {

baton::RunOptions run_options(const RunCommand& command, Output& output,
                              const std::atomic<bool>& interrupt) {
  baton::RunOptions options = timed_options(command.timeout, interrupt);
  options.repeat = command.repeat;
  if (command.schedule) options.schedule = *command.schedule;
  options.races = command.races;
  options.trace = command.trace.has_value();
  const auto start = std::chrono::steady_clock::now();
  options.progress = [&output, start, repeat = command.repeat](const RunProgress& progress) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    output.progress(fmt::format("run {} of {}: {} of {} steps, {}", progress.run + 1, repeat,
                                progress.steps_done, progress.steps,
                                format_duration(passed.count())));
  };
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
  const tools::ProgramFile named = tools::open_program(command.program);
  const Program& program = named.program;
  show_program(program, command.program, output);
  Bindings bindings;
  bindings.symbols = command.symbols;
  bindings.seed = command.seed;
  using tools::Serves;
  bindings.inputs = tools::read_arrays(program, "--input", command.inputs, Serves::kInputs);
  const tools::Expected expected = {
      command.expected, tools::read_arrays(program, "--expect", command.expected, Serves::kOutputs),
      command.rtol, command.atol};
  tools::check_outputs(program, command.outputs);
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
  tools::check_expected_shapes(executable, expected);
  output.flush();

  const auto write_trace = [&] {
    if (command.trace) tools::write_file(*command.trace, executable.report().trace);
  };
  try {
    executable.run(run_options(command, output, interrupt));
  } catch (const Error&) {
    write_trace();
    show_steps(executable.report(), executable.edges(), output);
    show_findings(executable.report(), false, output);
    show_warnings(executable.report(), output);
    throw;
  }
  write_trace();
  const RunReport& report = executable.report();
  show_steps(report, executable.edges(), output);
  const auto results = tools::compare_outputs(executable, expected);
  show_outputs(results, output);
  show_findings(report, true, output);
  show_warnings(report, output);
  for (const auto& [name, file] : command.outputs)
    tools::write_array(file, executable.output(name));
  tools::throw_on_mismatch(results);
}

}  // namespace baton::cli
