#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/suggest.h"
#include "baton/executable.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/run_report.h"

namespace baton::cli {
namespace {

bool is_output(const ProgramBuffer& buffer) {
  return buffer.role == BufferRole::kOutput || buffer.role == BufferRole::kInout;
}
bool is_input(const ProgramBuffer& buffer) {
  return buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight ||
         buffer.role == BufferRole::kInout;
}

// The buffer that an option names, of a role that the option serves.
const ProgramBuffer& named_buffer(const Program& program, std::string_view option,
                                  const std::string& name, bool (*serves)(const ProgramBuffer&),
                                  std::string_view roles) {
  const ProgramBuffer* buffer = program.buffer(name);
  if (buffer == nullptr) {
    std::vector<std::string> names;
    for (const ProgramBuffer& known : program.buffers()) {
      if (serves(known)) names.push_back(known.name);
    }
    throw error(ErrorCode::kNotFound, "{} names no buffer of the program: \"{}\"{}", option, name,
                suggestion(name, names));
  }
  if (!serves(*buffer)) {
    throw error_at(buffer->where, ErrorCode::kInvalidInput,
                   "{} serves {} buffers, \"{}\" has the role {}; change its role", option, roles,
                   name, to_string(buffer->role));
  }
  return *buffer;
}

using NamedArrays = std::vector<std::pair<std::string, Array>>;

NamedArrays read_arrays(const Program& program, std::string_view option,
                        const std::vector<Assignment>& files, bool (*serves)(const ProgramBuffer&),
                        std::string_view roles) {
  NamedArrays arrays;
  for (const auto& [name, file] : files) {
    const ProgramBuffer& buffer = named_buffer(program, option, name, serves, roles);
    arrays.emplace_back(name, read_npy(file, buffer.dtype));
  }
  return arrays;
}

// What can be known of --output before the run: a long run must not end at a folder that is not
// there.
void check_outputs(const Program& program, const std::vector<Assignment>& outputs) {
  for (const auto& [name, file] : outputs) {
    named_buffer(program, "--output", name, is_output, "output and inout");
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

// Writes what the program was made from and what compiling gave: sources byte for byte, PTX and
// machine code, a file name a compile.
void keep_parts(const Executable& executable, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::set<std::string> taken;
  for (const Executable::CompiledKernels& part : executable.compiled()) {
    std::string stem = part.source.directory.empty()
                           ? part.kernels.front()
                           : std::filesystem::path(part.source.name).stem().string();
    for (int number = 2; !taken.insert(stem).second; ++number) {
      stem = fmt::format("{}_{}", part.kernels.front(), number);
    }
    const auto keep = [&](const char* ending, std::string_view bytes) {
      write_file_atomically(folder / (stem + ending), bytes);
    };
    keep(".cu", part.source.text);
    keep(".ptx", part.compiled.ptx.bytes());
    if (part.compiled.cubin) keep(".cubin", part.compiled.cubin->bytes());
  }
}

baton::RunOptions run_options(const RunCommand& command, Output& output,
                              const std::atomic<bool>& interrupt) {
  baton::RunOptions options;
  options.repeat = command.repeat;
  if (command.timeout) options.timeout = std::chrono::duration<double>(*command.timeout);
  options.interrupt = &interrupt;
  if (command.schedule) options.schedule = *command.schedule;
  options.trace = command.trace.has_value();
  options.progress = [&output, repeat = command.repeat](const RunProgress& progress) {
    output.progress(fmt::format("run {} of {}: {} of {} steps", progress.run + 1, repeat,
                                progress.steps_done, progress.steps));
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
  for (const char* value : {"device", "device_name", "program", "symbols"}) {
    output.result()[value] = nullptr;
  }
  for (const char* list : {"steps", "edges", "outputs", "findings"}) {
    output.result()[list] = nlohmann::ordered_json::array();
  }
  const Program program = Program::from_file(command.program);
  output.result()["program"] = program.name();
  output.line("program  {} ({})", program.name(), command.program.string());
  Bindings bindings;
  bindings.symbols = command.symbols;
  bindings.seed = command.seed;
  bindings.inputs =
      read_arrays(program, "--input", command.inputs, is_input, "input, weight and inout");
  const NamedArrays expected =
      read_arrays(program, "--expect", command.expected, is_output, "output and inout");
  check_outputs(program, command.outputs);

  const Device device = command.device ? Device::open(*command.device) : Device::open();
  show_device(device, output);
  output.progress("compile and load");
  PrepareOptions options;
  options.pdl = command.pdl;
  Executable executable = Executable::prepare(program, device, options);
  if (command.keep) keep_parts(executable, *command.keep);
  executable.bind(std::move(bindings));
  show_symbols(executable.symbols(), output);
  if (command.schedule) {
    output.result()["schedule"] = to_string(*command.schedule);
    output.line("schedule {}", to_string(*command.schedule));
  }
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
