#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/text.h"
#include "baton/executable.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/kernel_modules.h"
#include "cli/program_arrays.h"
#include "cli/run_report.h"

namespace baton::cli {
namespace {

// What can be known of --output before the run: a long run must not end at a folder that is not
// there.
void check_outputs(const Program& program, const std::vector<Assignment>& outputs) {
  for (const auto& [name, file] : outputs) {
    named_buffer(program, "--output", name, Serves::kOutputs);
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder)) {
      throw error(ErrorCode::kNotFound, "--output {}={}: there is no folder {}; create it first",
                  name, file, folder.string());
    }
  }
}

void check_expected_shapes(const Executable& executable, const NamedArrays& expected) {
  for (const auto& [name, array] : expected) {
    if (array.shape == executable.shape(name)) continue;
    throw error(ErrorCode::kInvalidInput,
                "--expect {}: the file holds the shape {}, the buffer has {}; compute it for the "
                "same symbols",
                name, format_shape(array.shape), format_shape(executable.shape(name)));
  }
}

baton::RunOptions run_options(const RunCommand& command, Output& output,
                              const std::atomic<bool>& interrupt) {
  baton::RunOptions options = timed_options(command.timeout, interrupt);
  options.repeat = command.repeat;
  if (command.schedule) options.schedule = *command.schedule;
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

std::vector<OutputResult> compare_outputs(const RunCommand& command, const Executable& executable,
                                          const NamedArrays& expected) {
  std::vector<OutputResult> results;
  for (const std::string& name : executable.outputs()) {
    OutputResult result{name, &executable.output(name), {}, {}};
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].first != name) continue;
      Tolerance tolerance = default_tolerance(result.array->dtype);
      tolerance.rtol = command.rtol.value_or(tolerance.rtol);
      tolerance.atol = command.atol.value_or(tolerance.atol);
      result.comparison = compare(*result.array, expected[i].second, tolerance, name);
      result.expected_file = command.expected[i].second;
    }
    results.push_back(std::move(result));
  }
  return results;
}

void throw_on_mismatch(const std::vector<OutputResult>& results) {
  for (const OutputResult& result : results) {
    if (!result.comparison || result.comparison->ok) continue;
    const Comparison& comparison = *result.comparison;
    const std::string tolerance =
        is_float(result.array->dtype)
            ? fmt::format(" (rtol {:g}, atol {:g})", comparison.tolerance.rtol,
                          comparison.tolerance.atol)
            : "";
    throw error(
        ErrorCode::kMismatch,
        "output \"{}\" differs from {} in {} of {} elements{}, worst at {}: got {}, want {}",
        result.name, result.expected_file, comparison.mismatches, comparison.elements, tolerance,
        format_shape(comparison.worst_index), comparison.got_text, comparison.want_text);
  }
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
  const Program program = Program::from_file(command.program);
  output.result()["program"] = program.name();
  output.line("program  {} ({})", program.name(), command.program.string());
  Bindings bindings;
  bindings.symbols = command.symbols;
  bindings.seed = command.seed;
  bindings.inputs = read_arrays(program, "--input", command.inputs, Serves::kInputs);
  const NamedArrays expected = read_arrays(program, "--expect", command.expected, Serves::kOutputs);
  check_outputs(program, command.outputs);

  const Device device = command.device ? Device::open(*command.device) : Device::open();
  show_device(device, output);
  output.progress("compile and load");
  PrepareOptions options;
  options.executor = command.executor;
  options.pdl = command.pdl;
  if (command.rewrite) options.rewrite = *command.rewrite;
  Executable executable = Executable::prepare(program, device, options);
  if (command.keep) keep_modules(program, executable.modules(), "--keep", *command.keep, output);
  executable.bind(std::move(bindings));
  show_symbols(executable.symbols(), output);
  if (command.schedule) {
    output.result()["schedule"] = to_string(*command.schedule);
    output.line("schedule {}", to_string(*command.schedule));
  }
  show_modules(executable.modules(), output);
  show_rewrites(executable.modules(), output);
  check_expected_shapes(executable, expected);
  output.flush();

  const auto write_trace = [&] {
    if (command.trace) write_file_atomically(*command.trace, executable.report().trace);
  };
  try {
    executable.run(run_options(command, output, interrupt));
  } catch (const Error&) {
    write_trace();
    show_steps(executable.report(), executable.edges(), output);
    show_findings(executable.report(), false, output);
    throw;
  }
  write_trace();
  const RunReport& report = executable.report();
  show_steps(report, executable.edges(), output);
  const std::vector<OutputResult> results = compare_outputs(command, executable, expected);
  show_outputs(results, output);
  show_findings(report, true, output);
  for (const std::string& warning : report.warnings) output.warning(warning);
  for (const auto& [name, file] : command.outputs) write_npy(file, executable.output(name));
  throw_on_mismatch(results);
}

}  // namespace baton::cli
