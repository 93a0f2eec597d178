#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "baton/executable.h"
#include "baton/schedules.h"
#include "cli/commands/commands.h"
#include "cli/commands/follow.h"
#include "cli/commands/ranks.h"
#include "cli/commands/record.h"
#include "cli/commands/seen_steps.h"
#include "cli/commands/unused_options.h"
#include "cli/output/counted.h"
#include "cli/picture/run_page.h"
#include "cli/report/check_report.h"
#include "cli/report/kernel_modules.h"
#include "cli/report/load_progress.h"
#include "cli/report/output_report.h"
#include "cli/report/run_report.h"
#include "cli/report/schedule_report.h"
#include "cli/report/trace_report.h"
#include "cli/report/tune_report.h"
#include "tools/basics.h"
#include "tools/device_facts.h"
#include "tools/file/files.h"
#include "tools/file/kept_modules.h"
#include "tools/file/program_arrays.h"
#include "tools/file/program_file.h"
#include "tools/measure/comparison.h"
#include "tools/measure/tuned_program.h"
#include "tools/process/record_folder.h"
#include "tools/ranks.h"
#include "tools/source_lines.h"

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

baton::RunOptions run_options(const RunCommand& command, ExecutorKind executor,
                              const std::vector<std::string>& results, SeenSteps* seen,
                              Output& output, const std::atomic<bool>& interrupt) {
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
  const bool in_graph = executor == ExecutorKind::kGraph;
  options.progress = [&output, start, in_graph,
                      repeat = command.repeat](const RunProgress& progress) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    const double share =
        (static_cast<double>(progress.run) + progress.share) / static_cast<double>(repeat);
    // A graph is one launch: it does not tell how many of its steps are done.
    const std::string steps_text =
        in_graph && progress.steps_done == 0
            ? fmt::format("one graph of {}", counted(progress.steps, "step"))
            : fmt::format("{} of {}", progress.steps_done, counted(progress.steps, "step"));
    output.progress(fmt::format("run {} of {}: {}, {}", progress.run + 1, repeat, steps_text,
                                format_duration(passed.count())),
                    share, passed.count());
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

// Whether kernels are instrumented for the trace. Throws kInvalidInput for a timeline that the
// device does not have.
bool traces_by_kernels(const RunCommand& command, const Device& device) {
  const bool has_own = tools::is_simulated(device);
  if (command.trace_by == TraceSource::kDevice && !has_own) {
    throw error(
        ErrorCode::kInvalidInput,
        "--trace-by device needs the simulated GPU, the device is {}; leave it out, or take "
        "--trace-by kernels",
        device.name());
  }
  return command.trace_by.value_or(has_own ? TraceSource::kDevice : TraceSource::kKernels) ==
         TraceSource::kKernels;
}

// What a page shows of a run besides its JSON object.
struct RunRecord {
  std::string trace;
  std::shared_ptr<tools::SourceLines> sources = std::make_shared<tools::SourceLines>();
};

void write_page(const RunCommand& command, const RunRecord& record, Output& output,
                const Error* failure) {
  if (!command.html || !output.files().may_write(*command.html)) return;
  nlohmann::ordered_json result = output.result();
  if (failure != nullptr) result["error"] = error_object(*failure);
  tools::write_file(*command.html, run_page(result, record.trace, *record.sources));
  output.line("wrote {}: open it in a browser", command.html->string());
}

void show_trace_file(const RunCommand& command, const RunRecord& record, Output& output) {
  if (!command.trace || record.trace.empty()) return;
  output.line("wrote {}: open it at https://ui.perfetto.dev", command.trace->string());
}

// The command of a rank: only rank 0 writes files. Outputs are collected from all ranks.
RunCommand command_of(const RankOfRun& rank, RunCommand command) {
  if (!rank.is_first()) {
    command.keep = command.trace = command.html = command.dump = std::nullopt;
  }
  return command;
}

void run_program(const RunCommand& given, RankOfRun& rank, RunRecord& record, Output& output,
                 const std::atomic<bool>& interrupt) {
  // A reader finds the same keys however far the run gets.
  for (const char* value :
       {"device", "device_name", "program", "symbols", "executor", "tuned", "graph"}) {
    output.result()[value] = nullptr;
  }
  output.result()["executor"] = given.executor == ExecutorKind::kGraph ? "graph" : "stream";
  for (const char* list : {"modules", "kernels", "steps", "edges", "outputs", "findings"}) {
    output.result()[list] = nlohmann::ordered_json::array();
  }
  const tools::ProgramFile named =
      given.call || tools::is_library(given.program)
          ? tools::open_library(given.program, given.call.value_or(tools::LibraryCall()))
          : tools::open_program(given.program, given.trusted);
  const Program& program = named.program;
  rank.enter(program, output,
             {{"--repeat", std::to_string(given.repeat)},
              {"--follow", given.follow ? given.follow->buffer : "none"},
              {"--untuned", given.untuned ? "given" : "left out"}});
  output.files().reads(program);
  const RunCommand command = command_of(rank, given);
  if (!command.schedules.empty()) rank.require_alone("--schedules");
  *record.sources = tools::SourceLines(program);
  output.use_sources(record.sources);
  show_program(program, command.program, output);
  require_collectives(command.collectives, program);
  warn_of_seed(command.seed, program, output);
  Bindings bindings;
  bindings.symbols = command.symbols;
  bindings.seed = command.seed;
  bindings.world = rank.world();
  bindings.collectives = command.collectives;
  using tools::Serves;
  bindings.inputs = tools::read_arrays(program, "--input", command.inputs, Serves::kInputs);
  std::ranges::move(tools::read_arrays(program, "--arg", named.inputs, Serves::kInputs),
                    std::back_inserter(bindings.inputs));
  // What the program expects of a whole run says nothing of a part.
  tools::Expected expected = {tools::read_expected(program, command.expected, !command.until),
                              command.rtol, command.atol};
  if (expected.arrays.empty() && (command.rtol || command.atol)) {
    throw error(ErrorCode::kInvalidInput,
                "{} compares nothing: the program expects nothing of its outputs; give --expect",
                command.rtol ? "--rtol" : "--atol");
  }
  if (rank.is_first()) tools::check_outputs(program, command.outputs);
  std::optional<ListFollower> follower;
  if (command.follow) follower.emplace(program, *command.follow);
  std::optional<SeenSteps> seen;
  if (SeenSteps::is_wanted(command)) seen.emplace(command, program);
  if (command.trace) {
    tools::require_target("--trace " + command.trace->string(), *command.trace);
  }

  const Device device = tools::device_of_rank(command.device, rank.world().value_or(World()));
  show_device(device, output);
  PrepareOptions options;
  options.progress = load_progress(output);
  options.executor = command.executor;
  options.pdl = command.pdl;
  if (command.rewrite) options.rewrite = *command.rewrite;
  options.instrument = command.trace && traces_by_kernels(command, device);
  const auto tuned = tools::take_tuned(named, device, bindings,
                                       {command.untuned, command.fixed_executor}, options);
  show_tuned(tuned, output);
  Executable executable =
      named.prepare(device, options, tuned ? tuned->variant.choices : TuneChoices{});
  if (command.keep) {
    std::vector<std::string> remarks;
    const auto& loaded = executable.modules();
    const auto modules = named.bundle ? tools::with_sources(*named.bundle, loaded) : loaded;
    tools::keep_modules(program, modules, "--keep", *command.keep, output.files(), remarks);
    for (const std::string& remark : remarks) output.warning(remark);
  }
  const RunOptions limits = timed_options(command.timeout, interrupt);
  bindings.setup = {limits.timeout, limits.interrupt};
  output.progress("bind and upload");
  bindings.progress = [&output,
                       start = std::chrono::steady_clock::now()](const UploadProgress& progress) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    output.progress(fmt::format("upload {}: {} of {}", progress.buffer,
                                format_bytes(progress.bytes_done), format_bytes(progress.bytes)),
                    static_cast<double>(progress.bytes_done) / static_cast<double>(progress.bytes),
                    passed.count());
  };
  executable.bind(std::move(bindings));
  output.write_held();
  warn_of_pdl(command.pdl, program, executable.edges(), output);
  show_symbols(executable.symbols(), output);
  if (seen) seen->check(program, executable.symbols());
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

  const auto keep_trace = [&](const RunReport& report) {
    record.trace = report.trace;
    // A run that failed has none where its kernels are instrumented.
    if (command.trace && !record.trace.empty()) tools::write_file(*command.trace, record.trace);
  };
  const std::vector<std::string> more = more_results(command, executable, expected);
  std::optional<RunReport> followed;
  try {
    RunOptions run =
        run_options(command, options.executor, more, seen ? &*seen : nullptr, output, interrupt);
    // The page shows a timeline where there is one.
    run.trace = run.trace || (command.html && tools::is_simulated(device));
    if (follower) {
      followed = follower->run(executable, run, output);
    } else {
      executable.run(run);
    }
  } catch (const Error& failure) {
    keep_trace(executable.report());
    // The simulated GPU tells the launch, which is then all that counts.
    const std::vector<FindingReport>& found = executable.report().findings;
    const bool is_told = std::ranges::any_of(found, &FindingReport::error);
    show_collectives(executable.report(), output);
    add_edges(executable.collective_edges(), output);
    show_steps(executable.report(), executable.edges(), output, !is_told || command.verbose);
    if (executable.report().non_finite) show_non_finite(executable.report(), output);
    if (seen) seen->fail(executable, failure, output);
    show_trace_file(command, record, output);
    show_findings(executable.report(), false, output);
    show_warnings(executable.report(), output);
    if (is_told) throw explained(failure, found);
    throw;  // keeps the type of the exception
  }
  const RunReport& report = followed ? *followed : executable.report();
  keep_trace(report);
  show_collectives(report, output);
  add_edges(executable.collective_edges(), output);
  show_steps(report, executable.edges(), output);
  show_traced(report, executable.modules(), tools::is_simulated(device), output);
  if (command.find_non_finite) show_non_finite(report, output);
  if (seen) seen->finish(output);
  rank.finish(executable, output);
  if (!rank.is_first()) return;
  const auto results = tools::compare_outputs(executable, more, expected);
  show_outputs(results, output);
  if (!command.find_non_finite) show_non_finite_outputs(results, output);
  show_findings(report, true, output);
  show_warnings(report, output);
  for (const auto& [name, file] : command.outputs) {
    tools::write_array(file, executable.output(name));
    output.line("wrote {}", file);
  }
  if (command.keep) output.line("wrote the kernels to {}", command.keep->string());
  show_trace_file(command, record, output);
  tools::throw_on_mismatch(results);
  if (!command.schedules.empty()) {
    const Span<const Schedule> all = command.schedules;
    const std::vector<FindingReport> known = report.findings;
    output.progress("run under " + counted(all.size() - 1, "more schedule"));
    const std::vector<ScheduleRun> runs = compare_schedules(
        executable, {all.data() + 1, all.size() - 1}, schedule_options(command, interrupt));
    show_schedules(all[0], known, runs, output);
    throw_on_difference(all[0], runs, command.races);
  }
}

// One rank of a run, or all of it.
void run_rank(const RunCommand& command, RankOfRun rank, Output& output,
              const std::atomic<bool>& interrupt) {
  RunRecord record;
  try {
    run_program(command, rank, record, output, interrupt);
  } catch (...) {
    const Error told = rank.fail(current_error(), output);
    if (rank.is_first()) write_page(command, record, output, &told);
    throw Error(told);
  }
  if (rank.is_first()) write_page(command, record, output, nullptr);
}

}  // namespace

void run(const RunCommand& command, Output& output, const std::atomic<bool>& interrupt) {
  if (tools::is_record(command.program)) return replay_record(command, output, interrupt);
  if (command.html) tools::require_target("--html " + command.html->string(), *command.html);
  if (command.devices.empty()) return run_rank(command, {}, output, interrupt);
  on_devices(command, output, [&](const RunCommand& own, RankOfRun rank, Output& to) {
    run_rank(own, std::move(rank), to, interrupt);
  });
}

}  // namespace baton::cli
