#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baton/report.h"
#include "bind/tape_walk.h"
#include "driver/simulator.h"
#include "play/moves.h"

namespace baton::play {

// Fills a RunReport while the steps of one or more runs are executed and, later, timed.
class RunLog {
 public:
  // Of a condition, which has a report of its own.
  static constexpr std::uint32_t kNoRow = UINT32_MAX;

  // `steps`: of one run. Each of up to kMaxReportedSteps has a row of its own; of more, each step
  // of the program has one. `join`: each step of the program has one in any case. So it is with
  // conditions, where runs have different steps.
  RunLog(RunReport& report, const bind::Plan& plan, const bind::BufferTable& buffers,
         std::uint64_t steps, bool join);

  void begin_run();
  // Notes the next step, and sets its row. `slots`: the values of symbols and indexes. Inline: a
  // later run does this for each launch.
  template <typename Action>
  void next(bind::RunStep& at, const Action& action, const std::vector<std::int64_t>& slots) {
    at.row = each_ ? next_++ : at.step->leaf;
    if (first_run_) {
      note(at, action, slots, 1);
    } else if (runs_differ_ && in_condition_[at.row]) {
      ++open_[at.row];
    }
  }
  // The steps of conditions were noted as if each was executed once. The run is done, and
  // `next_done` notes them anew.
  void recount();
  // A step of a condition was executed that often.
  template <typename Action>
  void next_done(bind::RunStep& at, const Action& action, const std::vector<std::int64_t>& slots,
                 std::uint64_t times) {
    at.row = at.step->leaf;
    if (times != 0) note(at, action, slots, times);
  }
  // The steps of a condition are executed (again) `times` times.
  void executed(const bind::PlannedStep& condition, std::uint64_t times) {
    if (!first_run_) return;
    std::optional<std::uint64_t>& executions = report_.conditions[condition.leaf].executions;
    executions = executions.value_or(0) + times;
  }
  bool first_run() const { return first_run_; }
  // The values of the indexes that distinguish the row from others of its step; may be empty.
  std::string indexes(std::uint32_t row) const {
    return row == kNoRow ? std::string() : report_.steps[row].indexes;
  }

  // In every run. A step that `next` noted is done.
  void done(std::uint32_t row) {
    if (row != kNoRow) --open_[row];
  }
  void all_done() { open_.assign(open_.size(), 0); }
  void timed(std::uint32_t row, double seconds);
  void timed_with_next(std::uint32_t row) { report_.steps[row].timed_with_next = true; }
  void counted(std::uint32_t row, const driver::Counters& counters);
  void graph(const GraphReport& graph) { report_.graph = graph; }
  void end_run(double seconds);
  // Instead, where the run failed.
  void abandon_run();
  // After the last run.
  void finish();

 private:
  // Of the first run.
  void note(const bind::RunStep& at, const bind::TapeLaunch& launch,
            std::span<const std::int64_t> slots, std::uint64_t times);
  template <typename Planned>
  void note(const bind::RunStep& at, const bind::TapeMove<Planned>& move,
            std::span<const std::int64_t> slots, std::uint64_t times) {
    begin_row(at, slots, times);
    report_.steps[at.row].bytes += bytes_moved(move, buffers_) * times;
  }
  void begin_row(const bind::RunStep& at, std::span<const std::int64_t> slots, std::uint64_t times);
  void add_row(std::uint32_t row, const bind::PlannedStep& step, std::string indexes);

  RunReport& report_;
  const bind::BufferTable& buffers_;
  const bool runs_differ_;
  std::vector<bool> in_condition_;  // by row, where runs differ
  bool each_;
  bool first_run_ = true;
  std::uint32_t next_ = 0;
  std::vector<std::uint64_t> open_;           // by row, executions of the run at hand, not done
  bool any_timed_ = false;                    // in the run at hand
  std::vector<double> seconds_;               // by row, of the run at hand; negative: not timed
  std::vector<std::vector<double>> samples_;  // by row, of the runs after the first
};

}  // namespace baton::play
