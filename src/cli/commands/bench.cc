#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "baton/executable.h"
#include "cli/commands/bench_measurement.h"
#include "cli/commands/commands.h"
#include "cli/commands/ranks.h"
#include "cli/output/format.h"
#include "cli/output/json.h"
#include "cli/output/or_null.h"
#include "cli/output/table.h"
#include "cli/picture/bench_plot.h"
#include "cli/report/bench_comparison.h"
#include "cli/report/run_report.h"
#include "tools/basics.h"
#include "tools/device_facts.h"
#include "tools/file/files.h"
#include "tools/file/program_arrays.h"
#include "tools/file/program_file.h"
#include "tools/measure/ceiling.h"
#include "tools/measure/flop_ceiling.h"
#include "tools/ranks.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

// Without --repeat: runs that take about so long together, within these numbers.
constexpr double kWantedSeconds = 2;
constexpr std::uint64_t kFewestRuns = 5, kMostRuns = 200;
// A comparison needs a few more runs than that for a certain verdict.
constexpr std::uint64_t kFewestRounds = 10;

std::uint64_t runs_for(double seconds, std::uint64_t fewest) {
  const double runs = kWantedSeconds / std::max(seconds, 1e-9);
  return static_cast<std::uint64_t>(
      std::clamp(runs, static_cast<double>(fewest), static_cast<double>(kMostRuns)));
}

// `ceiling`: bytes per second; nothing where a bandwidth says nothing.
std::vector<std::string> time_cells(const MeasuredTime& measured, std::optional<double> ceiling) {
  const std::string bytes = format_bytes(measured.bytes);
  if (!measured.times) return {"", "", bytes, "", "", ""};
  std::vector<std::string> cells = {
      format_duration(measured.times->median), spread_of(*measured.times), bytes, "", "", ""};
  const auto rate = measured.rate();
  if (!ceiling || !rate) return cells;
  cells[3] = format_rate(*rate);
  cells[4] = fmt::format("{:.0f} %", 100 * *rate / *ceiling);
  if (const auto flops = measured.flop_rate()) cells[5] = format_rate(*flops, "FLOP/s");
  return cells;
}

void add_row(Table& table, std::vector<std::string> cells, std::vector<std::string> more) {
  cells.insert(cells.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  table.add(std::move(cells));
}

void show_times(const BenchMeasurement& measurement, std::optional<double> ceiling,
                Output& output) {
  using enum Table::Align;
  Table table({{"step"},
               {"", kRight},
               {"grid", kRight},
               {"block", kRight},
               {"time", kRight},
               {"spread", kRight},
               {"moved", kRight},
               {"bandwidth", kRight},
               {"of the ceiling", kRight},
               {"computed", kRight}});
  const std::vector<std::optional<double>> flops = measurement.flops();
  MeasuredTime all;
  for (std::size_t k = 0; k < measurement.stepped().steps.size(); ++k) {
    const StepReport& step = measurement.stepped().steps[k];
    all.bytes += step.bytes;
    if (flops[k]) all.flops = all.flops.value_or(0) + *flops[k];
    const bool launched = step.kind == StepReport::Kind::kLaunch && step.executions > step.skipped;
    add_row(table,
            {step.label, step.executions == 1 ? "" : fmt::format("{} times", step.executions),
             launched ? format_extent(step.grid) : "", launched ? format_extent(step.block) : ""},
            time_cells({step.bytes, step.times, flops[k]}, ceiling));
  }
  all.times = time_statistics(measurement.samples());
  add_row(table,
          {measurement.has_ranks() ? "the whole run, of the slowest rank" : "the whole run", "", "",
           ""},
          time_cells(all, ceiling));
  output.text(fmt::format("\n{}", table.format(output.terminal())));
}

// "1.25", of so many to each; nothing for none.
std::string each(std::uint64_t count, std::uint64_t of) {
  return of == 0 ? "" : fmt::format("{:.3g}", static_cast<double>(count) / static_cast<double>(of));
}

void show_counts(const BenchMeasurement& measurement, Output& output) {
  using enum Table::Align;
  Table table({{"step"},
               {"instructions", kRight},
               {"threads/warp", kRight},
               {"sectors/request", kRight},
               {"shared passes/request", kRight},
               {"bank conflicts", kRight}});
  for (const StepReport& step : measurement.counted()) {
    if (!step.accesses || !step.instructions) continue;
    const AccessCounts& accesses = *step.accesses;
    table.add({step.label, format_count(*step.instructions),
               each(*step.instructions, step.warp_instructions.value_or(0)),
               each(accesses.global_sectors, accesses.global_requests),
               each(accesses.shared_passes, accesses.shared_requests),
               accesses.shared_requests == 0 ? "" : format_count(accesses.shared_conflicts)});
  }
  if (table.rows() != 0) output.text(fmt::format("\n{}", table.format(output.terminal())));
}

void show_ceiling(const BenchMeasurement& measurement, const tools::CopyCeiling& copies,
                  Output& output) {
  const double ceiling = copies.bytes_per_second();
  const TimeStatistics times = copies.times();
  output.line("\nceiling  {}, read and written: a kernel that copies {} takes {} {}",
              format_rate(ceiling), format_bytes(copies.bytes() / 2), format_duration(times.median),
              spread_of(times));
  output.line("         (measured {} times, between the runs)", times.count);
  output.line(
      "moved    of a launch: what its buffers hold from where they are passed on, at the most");
  std::uint64_t bytes = 0;
  for (const StepReport& step : measurement.stepped().steps) bytes += step.bytes;
  const auto runs = time_statistics(measurement.samples());
  if (MeasuredTime{bytes, runs}.rate().value_or(0) > ceiling) {
    output.line("         above the ceiling: what it moves stays in the caches");
  }
}

// Where the program says what its steps compute.
void add_flop_ceiling(const BenchMeasurement& measurement, Json& json, Output& output) {
  for (const char* key : {"f32_flops_per_second", "f16_mma_flops_per_second"}) json[key] = nullptr;
  const std::vector<std::optional<double>> flops = measurement.flops();
  const bool says =
      std::any_of(flops.begin(), flops.end(), [](const auto& each) { return !!each; });
  if (!says) return;
  output.progress("the ceiling of computation");
  const tools::FlopCeiling ceiling = tools::measure_flop_ceiling(measurement.executable().device());
  json["f32_flops_per_second"] = ceiling.f32;
  json["f16_mma_flops_per_second"] = or_null(ceiling.f16_mma);
}

// One program, against what the device's memory gives.
void measure_one(const BenchCommand& command, BenchMeasurement& measurement, Output& output) {
  tools::CopyCeiling copies(measurement.executable().device());
  // The first run warms up what a first run warms up, and says how long one takes.
  const double once = measurement.warm_up();
  const std::uint64_t runs = command.repeat.value_or(runs_for(once, kFewestRuns));
  const bool simulated = tools::is_simulated(measurement.executable().device());
  measurement.time_steps(runs, &copies);
  measurement.time_whole(runs, &copies);
  if (simulated) measurement.count();

  const double ceiling = copies.bytes_per_second();
  Json& json = output.result();
  json["runs"] = runs;
  measurement.add_to(json, ceiling);
  json["ceiling"] = {{"bytes", copies.bytes()},
                     {"times", cli::json_of(copies.times())},
                     {"bytes_per_second", ceiling}};
  add_flop_ceiling(measurement, json["ceiling"], output);
  if (simulated) {
    show_counts(measurement, output);
    show_times(measurement, std::nullopt, output);
  } else {
    show_times(measurement, ceiling, output);
    show_ceiling(measurement, copies, output);
  }
  output.line("{}times    the median of {} runs; {}", simulated ? "\n" : "", runs,
              measurement.in_graph() ? "a graph is one launch, so its steps have none"
                                     : "steps' with events between them, the whole run's without");
  if (measurement.has_ranks()) {
    output.line(
        "         a run takes as long as it takes the slowest rank; the steps are rank 0's");
  }
  if (simulated)
    output.line("         of the simulation on this machine: they say nothing of a GPU");
}

// Two programs in turn, so that what disturbs one disturbs the other. The simulated GPU's counts
// need no second run.
void measure_both(const BenchCommand& command, BenchMeasurement& first, BenchMeasurement& second,
                  Output& output) {
  const bool simulated = tools::is_simulated(first.executable().device());
  std::uint64_t runs = 1;
  if (simulated) {
    first.count();
    second.count();
  } else {
    const double once = first.warm_up() + second.warm_up();
    runs = command.repeat.value_or(runs_for(2 * once, kFewestRounds));
    first.time_steps(runs, nullptr);
    second.time_steps(runs, nullptr);
    for (std::uint64_t round = 0; round < runs; ++round) {
      // Neither is always the one that comes first.
      BenchMeasurement& one = round % 2 == 0 ? first : second;
      BenchMeasurement& other = round % 2 == 0 ? second : first;
      one.time_round(round, runs);
      other.time_round(round, runs);
    }
  }
  Json& json = output.result();
  json["runs"] = runs;
  second.add_to(json, std::nullopt);
  Json& before =
      json["first"] = {{"program", first.executable().program().name()}, {"file", first.name()}};
  first.add_to(before, std::nullopt);
}

void show_remarks(BenchMeasurement& measurement, bool error_findings, Output& output) {
  show_findings(measurement.executable().report(), error_findings, output);
  show_warnings(measurement.executable().report(), output);
}

// What was measured until then. The first run of a pass warms up.
void show_interrupted(BenchMeasurement& measurement, Output& output) {
  std::vector<double> samples = measurement.samples();
  if (samples.empty()) {
    samples = measurement.executable().report().run_seconds;
    if (!samples.empty()) samples.erase(samples.begin());
  }
  const auto times = time_statistics(samples);
  if (!times) return;
  output.result()["run"] = {{"times", cli::json_of(*times)}, {"samples", samples}};
  output.line("\ninterrupted after {} runs: median {} {}", times->count,
              format_duration(times->median), spread_of(*times));
}

// The command of a rank: only rank 0 compares and writes files.
BenchCommand command_of(const RankOfRun& rank, BenchCommand command) {
  if (!rank.is_first()) {
    command.plot = command.baseline = std::nullopt;
  }
  return command;
}

void bench_rank(const BenchCommand& given, RankOfRun& rank, Output& output,
                const std::atomic<bool>& interrupt) {
  for (const char* value :
       {"device", "device_name", "program", "symbols", "executor", "tuned", "run", "ceiling"}) {
    output.result()[value] = nullptr;
  }
  output.result()["executor"] = given.executor == ExecutorKind::kGraph ? "graph" : "stream";
  for (const char* list : {"steps", "findings"}) {
    output.result()[list] = Json::array();
  }
  const tools::ProgramFile named =
      tools::open_program(given.other.value_or(given.program), given.trusted);
  rank.enter(named.program, output,
             {{"--repeat", given.repeat ? std::to_string(*given.repeat) : "left out"},
              {"--untuned", given.untuned ? "given" : "left out"}});
  output.files().reads(named.program);
  const BenchCommand command = command_of(rank, given);
  if (command.other) rank.require_alone("a second program");
  if (command.plot) {
    tools::require_target("--plot " + command.plot->string(), *command.plot);
  }
  std::optional<tools::BenchResult> before;
  if (command.baseline) before = tools::read_bench_result(*command.baseline);

  const Device device = tools::device_of_rank(command.device, rank.world().value_or(World()));
  show_device(device, output);
  std::optional<BenchMeasurement> other;
  if (command.other) {
    tools::ProgramFile first = tools::open_program(command.program, command.trusted);
    output.files().reads(first.program);
    other.emplace(command, command.program, std::move(first), rank.world(), device, output,
                  interrupt);
  }
  BenchMeasurement measurement(command, command.other.value_or(command.program), named,
                               rank.world(), device, output, interrupt);
  try {
    if (other) {
      measure_both(command, *other, measurement, output);
      before = other->result();
    } else {
      measure_one(command, measurement, output);
    }
  } catch (const Error& failure) {
    if (failure.code() == ErrorCode::kInterrupted) show_interrupted(measurement, output);
    if (other) show_remarks(*other, false, output);
    show_remarks(measurement, false, output);
    throw;
  }
  show_collectives(measurement.executable().report(), output);
  rank.finish(measurement.executable(), output, time_statistics(measurement.own_samples()));
  if (!rank.is_first()) return;
  if (other) show_remarks(*other, true, output);
  show_remarks(measurement, true, output);
  std::optional<BenchComparison> comparison;
  const tools::BenchResult after = measurement.result();
  if (before) {
    comparison = compare_benches(*before, after, other.has_value());
    show_comparison(*comparison, *before, after, output);
  }
  if (command.plot) tools::write_file(*command.plot, bench_plot(output.result(), *command.plot));
  if (comparison && command.limit) throw_on_growth(*comparison, *command.limit, *before, after);
}

// One rank, or the only one.
void bench_or_fail(const BenchCommand& command, RankOfRun rank, Output& output,
                   const std::atomic<bool>& interrupt) {
  try {
    bench_rank(command, rank, output, interrupt);
  } catch (...) {
    throw Error(rank.fail(current_error(), output));
  }
}

}  // namespace

void bench(const BenchCommand& command, Output& output, const std::atomic<bool>& interrupt) {
  if (command.devices.empty()) return bench_or_fail(command, {}, output, interrupt);
  on_devices(command, output, [&](const BenchCommand& own, RankOfRun rank, Output& to) {
    bench_or_fail(own, std::move(rank), to, interrupt);
  });
}

}  // namespace baton::cli
