#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/executable.h"
#include "baton/world.h"
#include "cli/command_line/options.h"
#include "cli/output/output.h"
#include "tools/file/program_file.h"
#include "tools/measure/bench_result.h"
#include "tools/measure/ceiling.h"

namespace baton::cli {

// A program under `baton bench`, and what was measured of it. Its passes are runs of the program,
// which show progress and can be interrupted. One thread.
//
// The ranks of a world measure together, and begin each run together. A run takes as long as it
// takes the slowest rank.
class BenchMeasurement {
 public:
  // Prepares and binds the program of the file, and shows what that found. `world`: its ranks.
  BenchMeasurement(const BenchCommand& command, const std::filesystem::path& file,
                   const tools::ProgramFile& named, const std::optional<World>& world,
                   const Device& device, Output& output, const std::atomic<bool>& interrupt);

  Executable& executable() { return executable_; }
  const Executable& executable() const { return executable_; }
  // The name for people: the file's.
  std::string name() const { return file_.string(); }
  bool in_graph() const { return command_.executor == ExecutorKind::kGraph; }

  bool has_ranks() const { return world_ && world_->ranks() > 1; }

  // One run, to warm up. Returns how long it took the slowest rank, in seconds.
  double warm_up();
  // `runs` runs with the times of steps. `ceiling`: measured between the runs.
  void time_steps(std::uint64_t runs, tools::CopyCeiling* ceiling);
  // The same without events between steps: the times of whole runs.
  void time_whole(std::uint64_t runs, tools::CopyCeiling* ceiling);
  // One more time of a whole run: of the second of two, as the first initialises.
  void time_round(std::uint64_t round, std::uint64_t rounds);
  // One run whose accesses are counted, on the simulated GPU.
  void count();

  const RunReport& stepped() const { return stepped_; }
  const std::vector<double>& samples() const { return samples_; }
  // The times of whole runs on this rank.
  const std::vector<double>& own_samples() const { return own_samples_; }
  // What the steps did, in the order of `stepped`; nothing where it is not counted.
  const std::vector<StepReport>& counted() const { return counted_; }

  // The floating-point operations of each step of `stepped`, where the program says them.
  std::vector<std::optional<double>> flops() const;

  // As a baseline has it. With `count` alone it has no times.
  tools::BenchResult result() const;
  // "steps" and "run" of the JSON object. `ceiling`: bytes per second; nothing where not measured.
  void add_to(nlohmann::ordered_json& json, std::optional<double> ceiling) const;

 private:
  RunReport one_pass(std::string_view name, baton::RunOptions options, tools::CopyCeiling* ceiling);
  // Of the steps, timed where they were and counted where they were.
  const std::vector<StepReport>& steps() const;

  const BenchCommand& command_;
  std::filesystem::path file_;
  std::optional<World> world_;
  Output& output_;
  const std::atomic<bool>& interrupt_;
  Executable executable_;
  RunReport stepped_;
  std::vector<double> samples_, own_samples_;
  std::chrono::steady_clock::time_point begin_;  // of the first round
  std::vector<StepReport> counted_;
};

// One line of a measurement: a step in all its executions, or the whole run.
struct MeasuredTime {
  std::uint64_t bytes = 0;
  std::optional<TimeStatistics> times = std::nullopt;
  std::optional<double> flops = std::nullopt;  // where the program says them

  // Bytes per second; nothing without a time.
  std::optional<double> rate() const;
  // Floating-point operations per second.
  std::optional<double> flop_rate() const;
  void add_to(nlohmann::ordered_json& json, std::optional<double> ceiling) const;
};

// "± 3.1 %": half the distance between the quartiles.
std::string spread_of(const TimeStatistics& times);

}  // namespace baton::cli
