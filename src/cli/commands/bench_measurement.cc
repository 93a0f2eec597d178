#include "cli/commands/bench_measurement.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands/unused_options.h"
#include "cli/output/json.h"
#include "cli/output/or_null.h"
#include "cli/report/load_progress.h"
#include "cli/report/run_report.h"
#include "cli/report/tune_report.h"
#include "tools/file/program_arrays.h"
#include "tools/file/program_file.h"
#include "tools/measure/step_flops.h"
#include "tools/measure/tuned_program.h"
#include "tools/ranks.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

Executable prepared(const BenchCommand& command, const std::filesystem::path& file,
                    const tools::ProgramFile& named, const std::optional<World>& world,
                    const Device& device, Output& output, const std::atomic<bool>& interrupt) {
  const Program& program = named.program;
  show_program(program, file, output);
  require_collectives(command.collectives, program);
  warn_of_seed(command.seed, program, output);
  Bindings bindings;
  bindings.symbols = command.symbols;
  bindings.seed = command.seed;
  bindings.world = world;
  bindings.collectives = command.collectives;
  bindings.inputs = tools::read_arrays(program, "--input", command.inputs, tools::Serves::kInputs);
  PrepareOptions options;
  options.progress = load_progress(output);
  options.executor = command.executor;
  options.pdl = command.pdl;
  if (command.rewrite) options.rewrite = *command.rewrite;
  const auto tuned = tools::take_tuned(named, device, bindings,
                                       {command.untuned, command.fixed_executor}, options);
  show_tuned(tuned, output);
  Executable executable =
      named.prepare(device, options, tuned ? tuned->variant.choices : TuneChoices{});
  const RunOptions limits = timed_options(command.timeout, interrupt);
  bindings.setup = {limits.timeout, limits.interrupt};
  output.progress("bind and upload");
  executable.bind(std::move(bindings));
  output.write_held();
  warn_of_pdl(command.pdl, program, executable.edges(), output);
  show_symbols(executable.symbols(), output);
  output.flush();
  return executable;
}

}  // namespace

BenchMeasurement::BenchMeasurement(const BenchCommand& command, const std::filesystem::path& file,
                                   const tools::ProgramFile& named,
                                   const std::optional<World>& world, const Device& device,
                                   Output& output, const std::atomic<bool>& interrupt)
    : command_(command),
      file_(file),
      world_(world),
      output_(output),
      interrupt_(interrupt),
      executable_(prepared(command, file, named, world, device, output, interrupt)) {}

// Runs the program so often, with a copy between any two runs.
RunReport BenchMeasurement::one_pass(std::string_view name, baton::RunOptions options,
                                     tools::CopyCeiling* ceiling) {
  const baton::RunOptions limits = timed_options(command_.timeout, interrupt_);
  options.timeout = limits.timeout;
  options.interrupt = limits.interrupt;
  options.join_executions = true;
  options.after_run = [this, ceiling](std::uint64_t run) {
    if (ceiling != nullptr && run > 0) ceiling->measure();
    if (has_ranks()) world_->meet("the next run");
  };
  const std::uint64_t runs = options.repeat;
  const auto start = std::chrono::steady_clock::now();
  options.progress = [this, name, runs, start](const RunProgress& progress) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    const double done = static_cast<double>(progress.run) + progress.share;
    output_.progress(fmt::format("{}: run {} of {}", name, progress.run + 1, runs),
                     done / static_cast<double>(runs), passed.count());
  };
  return executable_.run(options);
}

double BenchMeasurement::warm_up() {
  RunOptions options;
  options.time_steps = false;
  const double own = one_pass("warm-up", std::move(options), nullptr).run_seconds.front();
  return has_ranks() ? tools::slowest(*world_, "the warm-up", {own}).front() : own;
}

void BenchMeasurement::time_steps(std::uint64_t runs, tools::CopyCeiling* ceiling) {
  RunOptions options;
  // A graph is one launch, whose steps have no times.
  options.repeat = in_graph() ? 1 : runs + 1;
  options.steps_apart = true;
  stepped_ = one_pass("with the times of steps", std::move(options), ceiling);
}

void BenchMeasurement::time_whole(std::uint64_t runs, tools::CopyCeiling* ceiling) {
  RunOptions options;
  options.repeat = runs + 1;
  options.time_steps = false;
  own_samples_ = one_pass("without", std::move(options), ceiling).run_seconds;
  own_samples_.erase(own_samples_.begin());
  samples_ = has_ranks() ? tools::slowest(*world_, "the runs", own_samples_) : own_samples_;
}

void BenchMeasurement::time_round(std::uint64_t round, std::uint64_t rounds) {
  if (round == 0 || samples_.empty()) begin_ = std::chrono::steady_clock::now();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
  output_.progress(fmt::format("round {} of {}", round + 1, rounds),
                   static_cast<double>(round) / static_cast<double>(rounds), passed.count());
  RunOptions options = timed_options(command_.timeout, interrupt_);
  options.repeat = 2;
  options.time_steps = false;
  samples_.push_back(executable_.run(options).run_seconds.back());
}

void BenchMeasurement::count() {
  RunOptions options;
  options.count_accesses = true;
  counted_ = one_pass("counting", std::move(options), nullptr).steps;
}

const std::vector<StepReport>& BenchMeasurement::steps() const {
  return stepped_.steps.empty() ? counted_ : stepped_.steps;
}

std::vector<std::optional<double>> BenchMeasurement::flops() const {
  return tools::step_flops(executable_, steps());
}

tools::BenchResult BenchMeasurement::result() const {
  tools::BenchResult result;
  result.name = name();
  result.device_name = executable_.device().name();
  result.executor = in_graph() ? "graph" : "stream";
  for (const Executable::BoundSymbol& symbol : executable_.symbols()) {
    result.symbols.emplace_back(symbol.name, symbol.value);
  }
  result.samples = samples_;
  for (std::size_t k = 0; k < steps().size(); ++k) {
    const StepReport& step = steps()[k];
    tools::BenchResult::Step& added = result.steps.emplace_back(step.label, step.where.to_string());
    if (step.times) added.median = step.times->median;
    if (k < counted_.size()) added.counts = tools::counts_of(counted_[k]);
  }
  return result;
}

void BenchMeasurement::add_to(Json& json, std::optional<double> ceiling) const {
  const tools::BenchResult result = this->result();
  Json& list = json["steps"] = Json::array();
  const std::vector<std::optional<double>> flops = this->flops();
  MeasuredTime all;
  for (std::size_t k = 0; k < steps().size(); ++k) {
    const StepReport& step = steps()[k];
    Json added = cli::json_of(step);
    const MeasuredTime measured{step.bytes, step.times, flops[k]};
    measured.add_to(added, ceiling);
    added["counts"] = result.steps[k].counts ? Json::object() : Json();
    for (std::size_t i = 0; result.steps[k].counts && i < tools::kCountKinds; ++i) {
      added["counts"][std::string(tools::count_kinds()[i].key)] = (*result.steps[k].counts)[i];
    }
    all.bytes += step.bytes;
    if (flops[k]) all.flops = all.flops.value_or(0) + *flops[k];
    list.push_back(std::move(added));
  }
  all.times = time_statistics(samples_);
  Json& run = json["run"] = {{"bytes", all.bytes}};
  all.add_to(run, ceiling);
  run["samples"] = samples_;
}

std::optional<double> MeasuredTime::rate() const {
  if (!times || times->median <= 0) return std::nullopt;
  return static_cast<double>(bytes) / times->median;
}

std::optional<double> MeasuredTime::flop_rate() const {
  if (!flops || !times || times->median <= 0) return std::nullopt;
  return *flops / times->median;
}

void MeasuredTime::add_to(Json& json, std::optional<double> ceiling) const {
  json["times"] = times ? cli::json_of(*times) : Json();
  json["bytes_per_second"] = or_null(rate());
  json["share"] = rate() && ceiling ? Json(*rate() / *ceiling) : Json();
  json["flops"] = or_null(flops);
  json["flops_per_second"] = or_null(flop_rate());
}

std::string spread_of(const TimeStatistics& times) {
  if (times.median <= 0) return {};
  return fmt::format("± {:.1f} %",
                     50 * (times.upper_quartile - times.lower_quartile) / times.median);
}

}  // namespace baton::cli
