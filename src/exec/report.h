#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/executable.h"
#include "driver/simulator.h"
#include "exec/evaluate.h"
#include "exec/plan.h"

namespace baton::exec {

// Fills a RunReport while the steps of one or more runs are executed and, later, timed.
class ReportBuilder {
 public:
  // `steps`: of one run. Up to kMaxReportedSteps each has a row of its own, else each step of the
  // program has one.
  // `join`: the latter always.
  ReportBuilder(RunReport& report, const Plan& plan, std::uint64_t steps, bool join);

  void begin_run();
  // The row of the next step in order, filled in the first run. `indexes` is asked for only where a
  // row is new.
  template <typename Indexes>
  std::uint32_t next(const PlannedStep& step, Indexes&& indexes) {
    const std::uint32_t row = each_ ? next_++ : step.leaf;
    if (first_run_ && each_) add_row(row, step, indexes());
    if (first_run_) ++report_.steps[row].executions;
    if (open_.size() <= row) open_.resize(row + 1);
    ++open_[row];
    return row;
  }
  bool first_run() const { return first_run_; }
  // Instead of begin_run and `next` for every step, in a run after the first: the same steps again.
  void begin_same_run();
  // The values of the indexes that tell the row from others of its step; may be empty.
  const std::string& indexes(std::uint32_t row) const { return report_.steps[row].indexes; }

  // In the first run.
  void skipped(std::uint32_t row) { ++report_.steps[row].skipped; }
  void launched(std::uint32_t row, const LaunchConfig& config, std::uint64_t bytes);
  void moved(std::uint32_t row, std::uint64_t bytes) { report_.steps[row].bytes += bytes; }

  // In every run. The step that `next` began is done.
  void done(std::uint32_t row) { --open_[row]; }
  void all_done() { open_.assign(open_.size(), 0); }
  void timed(std::uint32_t row, double seconds);
  void counted(std::uint32_t row, const driver::Counters& counters);
  void graph(const GraphReport& graph) { report_.graph = graph; }
  void end_run(double seconds);
  // Instead, where the run failed.
  void abandon_run();
  // After the last run.
  void finish();

 private:
  void add_row(std::uint32_t row, const PlannedStep& step, std::string indexes);

  RunReport& report_;
  bool each_;
  bool first_run_ = true;
  std::uint32_t next_ = 0;
  std::vector<std::uint64_t> open_;           // by row, executions of the run at hand, not done
  std::vector<double> seconds_;               // by row, of the run at hand; negative: not timed
  std::vector<std::vector<double>> samples_;  // by row, of the runs after the first
};

}  // namespace baton::exec
