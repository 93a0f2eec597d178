#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "baton/executable.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/run_report.h"
#include "cli/table.h"
#include "tools/basics.h"
#include "tools/ceiling.h"
#include "tools/device_facts.h"
#include "tools/program_arrays.h"
#include "tools/program_file.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

// Without --repeat: runs that take about so long together, within these numbers.
constexpr double kWantedSeconds = 2;
constexpr std::uint64_t kFewestRuns = 5, kMostRuns = 200;

std::uint64_t runs_for(double seconds) {
  const double runs = kWantedSeconds / std::max(seconds, 1e-9);
  return static_cast<std::uint64_t>(
      std::clamp(runs, static_cast<double>(kFewestRuns), static_cast<double>(kMostRuns)));
}

// "± 3.1 %": half the distance between the quartiles.
std::string spread_of(const TimeStatistics& times) {
  if (times.median <= 0) return {};
  return fmt::format("± {:.1f} %",
                     50 * (times.upper_quartile - times.lower_quartile) / times.median);
}

// One line of the result: a step in all its executions, or the whole run.
struct Measured {
  std::uint64_t bytes = 0;
  std::optional<TimeStatistics> times;

  std::optional<double> rate() const {
    if (!times || times->median <= 0) return std::nullopt;
    return static_cast<double>(bytes) / times->median;
  }
  void add_to(Json& json, double ceiling) const {
    json["times"] = times ? cli::json_of(*times) : Json();
    json["bytes_per_second"] = rate() ? Json(*rate()) : Json();
    json["share"] = rate() ? Json(*rate() / ceiling) : Json();
  }
  std::vector<std::string> cells(double ceiling) const {
    if (!times) return {"", "", format_bytes(bytes), "", ""};
    return {format_duration(times->median), spread_of(*times), format_bytes(bytes),
            rate() ? format_rate(*rate()) : "",
            rate() ? fmt::format("{:.0f} %", 100 * *rate() / ceiling) : ""};
  }
};

class Bench {
 public:
  Bench(const BenchCommand& command, Executable& executable, Output& output,
        const std::atomic<bool>& interrupt)
      : command_(command),
        executable_(executable),
        output_(output),
        interrupt_(interrupt),
        ceiling_(executable.device()) {}

  void run() {
    // The first run warms up what a first run warms up, and says how long one takes.
    const double once = one_pass("warm-up", 1, false).run_seconds.front();
    runs_ = command_.repeat.value_or(runs_for(once));
    // A graph is one launch, whose steps have no times.
    stepped_ = one_pass("with the times of steps", in_graph() ? 1 : runs_ + 1, true);
    RunReport whole = one_pass("without", runs_ + 1, false);
    whole.run_seconds.erase(whole.run_seconds.begin());
    whole_ = time_statistics(std::move(whole.run_seconds));
  }

  void show() {
    const double ceiling = ceiling_.bytes_per_second();
    using enum Table::Align;
    Table table({{"step"},
                 {"", kRight},
                 {"grid", kRight},
                 {"block", kRight},
                 {"time", kRight},
                 {"spread", kRight},
                 {"moved", kRight},
                 {"bandwidth", kRight},
                 {"of the ceiling", kRight}});
    Json& steps = output_.result()["steps"] = Json::array();
    Measured all;
    for (const StepReport& step : stepped_.steps) {
      const Measured measured{step.bytes, step.times};
      all.bytes += step.bytes;
      Json json = cli::json_of(step);
      measured.add_to(json, ceiling);
      steps.push_back(std::move(json));
      const bool launched =
          step.kind == StepReport::Kind::kLaunch && step.executions > step.skipped;
      add_row(table,
              {step.label, step.executions == 1 ? "" : fmt::format("{} times", step.executions),
               launched ? format_extent(step.grid) : "", launched ? format_extent(step.block) : ""},
              measured.cells(ceiling));
    }
    all.times = whole_;
    add_row(table, {"the whole run", "", "", ""}, all.cells(ceiling));
    output_.text(fmt::format("\n{}", table.format(output_.terminal())));

    Json& json = output_.result();
    json["runs"] = runs_;
    Json& run = json["run"] = {{"bytes", all.bytes}};
    all.add_to(run, ceiling);
    const TimeStatistics copies = ceiling_.times();
    json["ceiling"] = {{"bytes", ceiling_.bytes()},
                       {"times", cli::json_of(copies)},
                       {"bytes_per_second", ceiling}};
    output_.line("\nceiling  {}, read and written: a kernel that copies {} takes {} {}",
                 format_rate(ceiling), format_bytes(ceiling_.bytes() / 2),
                 format_duration(copies.median), spread_of(copies));
    output_.line("         (measured {} times, between the runs)", copies.count);
    output_.line("times    the median of {} runs; {}", runs_,
                 in_graph() ? "a graph is one launch, so its steps have none"
                            : "steps' with events between them, the whole run's without");
    explain(all.rate().value_or(0) > ceiling);
  }

 private:
  bool in_graph() const { return command_.executor == ExecutorKind::kGraph; }

  static void add_row(Table& table, std::vector<std::string> cells, std::vector<std::string> more) {
    cells.insert(cells.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
    table.add(std::move(cells));
  }

  // Runs the program so often, with a copy between any two runs.
  RunReport one_pass(const char* name, std::uint64_t runs, bool time_steps) {
    baton::RunOptions options = timed_options(command_.timeout, interrupt_);
    options.repeat = runs;
    options.time_steps = options.steps_apart = time_steps;
    options.join_executions = true;
    options.after_run = [this](std::uint64_t run) {
      if (run > 0) ceiling_.measure();
    };
    options.progress = [&](const RunProgress& progress) {
      output_.progress(fmt::format("{}: run {} of {}", name, progress.run + 1, runs));
    };
    return executable_.run(options);
  }

  void explain(bool above) const {
    if (tools::is_simulated(executable_.device())) {
      output_.line(
          "         on the simulated GPU they are those of the simulation on this machine: "
          "they compare programs");
      output_.line(
          "         with each other here, and say nothing of a GPU; its bytes are what "
          "threads read and wrote");
      return;
    }
    output_.line(
        "moved    of a launch: what its buffers hold from where they are passed on, at the "
        "most");
    if (above) output_.line("         above the ceiling: what it moves stays in the caches");
  }

  const BenchCommand& command_;
  Executable& executable_;
  Output& output_;
  const std::atomic<bool>& interrupt_;
  tools::CopyCeiling ceiling_;
  std::uint64_t runs_ = 0;
  RunReport stepped_;
  std::optional<TimeStatistics> whole_;
};

}  // namespace

void bench(const BenchCommand& command, Output& output, const std::atomic<bool>& interrupt) {
  for (const char* value :
       {"device", "device_name", "program", "symbols", "executor", "run", "ceiling"}) {
    output.result()[value] = nullptr;
  }
  output.result()["executor"] = command.executor == ExecutorKind::kGraph ? "graph" : "stream";
  for (const char* list : {"steps", "findings"}) {
    output.result()[list] = Json::array();
  }
  const tools::ProgramFile named = tools::open_program(command.program, command.trusted);
  const Program& program = named.program;
  show_program(program, command.program, output);
  Bindings bindings;
  bindings.symbols = command.symbols;
  bindings.seed = command.seed;
  bindings.inputs = tools::read_arrays(program, "--input", command.inputs, tools::Serves::kInputs);
  const Device device = command.device ? Device::open(*command.device) : Device::open();
  show_device(device, output);
  output.progress("compile and load");
  PrepareOptions options;
  options.executor = command.executor;
  options.pdl = command.pdl;
  if (command.rewrite) options.rewrite = *command.rewrite;
  Executable executable = named.prepare(device, options);
  const RunOptions limits = timed_options(command.timeout, interrupt);
  bindings.setup = {limits.timeout, limits.interrupt};
  executable.bind(std::move(bindings));
  show_symbols(executable.symbols(), output);
  output.flush();
  try {
    Bench measurement(command, executable, output, interrupt);
    measurement.run();
    measurement.show();
  } catch (const Error&) {
    show_findings(executable.report(), false, output);
    show_warnings(executable.report(), output);
    throw;
  }
  show_findings(executable.report(), true, output);
  show_warnings(executable.report(), output);
}

}  // namespace baton::cli
