#include "core/run.h"

#include <atomic>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "baton/schedules.h"
#include "core/device.h"
#include "core/errors.h"
#include "core/executable_value.h"
#include "core/given.h"
#include "core/module.h"
#include "core/step_call.h"
#include "core/values.h"

namespace baton::python {
namespace {

Ref accesses_of(const std::optional<AccessCounts>& counts) {
  if (!counts) return none();
  return call_python("_values", "AccessCounts", to_python(counts->global_requests),
                     to_python(counts->global_sectors), to_python(counts->shared_requests),
                     to_python(counts->shared_passes), to_python(counts->shared_conflicts));
}

Ref traced_of(const std::optional<TraceReport>& traced) {
  if (!traced) return none();
  return call_python(
      "_values", "TraceReport",
      tuple_of(traced->edges,
               [](const TracedEdge& edge) {
                 return call_python("_values", "TracedEdge", to_python(std::uint64_t{edge.from}),
                                    to_python(std::uint64_t{edge.to}), to_python(edge.from_kernel),
                                    to_python(edge.to_kernel), to_python(edge.executions),
                                    to_python(edge.early), to_python(edge.overlap_seconds),
                                    to_python(edge.gap_seconds), to_python(edge.wait_seconds),
                                    to_python(edge.tail_seconds), to_python(edge.idle_sm_seconds),
                                    advice_of(edge.advice));
               }),
      traced->costliest ? to_python(std::uint64_t{*traced->costliest}) : none(),
      to_python(traced->seconds), to_python(std::uint64_t{traced->multiprocessors}),
      to_python(traced->idle_sm_seconds), to_python(traced->launches), to_python(traced->blocks),
      to_python(traced->clock_step_ns),
      tuple_of(traced->remarks, [](const std::string& text) { return to_python(text); }));
}

Ref statistics_of(const RunReport& report) {
  return call_python(
      "_values", "RunReport", tuple_of(report.run_seconds, [](double s) { return to_python(s); }),
      tuple_of(report.steps,
               [](const StepReport& step) {
                 return call_python("_values", "StepReport", to_python(step.label),
                                    to_python(step.indexes), to_python(step.where.to_string()),
                                    to_python(step.executions), to_python(step.skipped),
                                    extents_of(step.grid), extents_of(step.block),
                                    optional_of(step.seconds), optional_of(step.best_seconds),
                                    to_python(step.bytes), optional_of(step.instructions),
                                    accesses_of(step.accesses));
               }),
      findings_of(report.findings),
      tuple_of(report.warnings, [](const std::string& text) { return to_python(text); }),
      to_python(report.trace), tuple_of(report.parts, part_of), traced_of(report.traced));
}

// Looks for signals and calls `after_step` while a run goes on, in the thread that runs. What
// either raises ends the run.
class Watch {
 public:
  explicit Watch(PyObject* after_step) : after_step_(after_step) {}

  void set(RunOptions& options) {
    options.interrupt = &stop_;
    options.progress = [this](const RunProgress&) {
      with_gil([] { check(PyErr_CheckSignals()); });
    };
    if (after_step_ == nullptr) return;
    options.after_step = [this](const CompletedStep& step) {
      bool goes_on = false;
      with_gil([&] { goes_on = call_after_step(after_step_, step); });
      return goes_on;
    };
  }

  bool raised() const { return raised_; }
  // Throws what was raised meanwhile.
  void rethrow() const {
    if (raised_) throw PythonError{};
  }

 private:
  template <typename Body>
  void with_gil(const Body& body) {
    const WithGil held;
    if (!raised_ && guarded_status(body) != 0) {
      raised_ = true;
      stop_ = true;
    }
  }

  PyObject* after_step_;
  std::atomic<bool> stop_ = false;
  bool raised_ = false;
};

// Runs the body without the interpreter's lock, and returns what it threw.
template <typename Body>
std::optional<Error> without_gil(const Device& device, const Watch& watch, const Body& body) {
  std::optional<Error> failure;
  {
    const WithoutGil released;
    try {
      body();
    } catch (const Error& caught) {
      failure = caught;
    }
  }
  // A run that is ended stops the simulated GPU.
  if (watch.raised() && is_simulated(device)) recover(device);
  watch.rethrow();
  if (failure) recover_from(device, *failure);
  return failure;
}

Ref difference_of(const std::optional<ScheduleDifference>& difference) {
  if (!difference) return none();
  return call_python("_values", "ScheduleDifference", to_python(difference->buffer),
                     shape_tuple(difference->index), to_python(difference->got),
                     to_python(difference->reference), to_python(difference->count),
                     to_python(difference->elements));
}

Ref comparison_of(const Comparison& comparison) {
  return call_python("_values", "Comparison", to_python(comparison.ok),
                     to_python(comparison.elements), to_python(comparison.mismatches),
                     shape_tuple(comparison.worst_index), to_python(comparison.got_text),
                     to_python(comparison.want_text), to_python(comparison.worst_error),
                     to_python(comparison.largest_absolute), to_python(comparison.largest_relative),
                     to_python(comparison.largest_ulps), to_python(comparison.pattern),
                     to_python(comparison.tolerance.rtol), to_python(comparison.tolerance.atol));
}

}  // namespace

PyObject* executable_run(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 10> kNames = {
        "repeat",     "timeout",    "schedule", "races",          "trace",
        "time_steps", "after_step", "find_nan", "count_accesses", "keep"};
    const Given given("run", kNames, 0, 0, args, nargs, names);
    RunOptions options;
    if (given.set(0) != nullptr) {
      options.repeat = unsigned_argument(given[0], "repeat", INT64_MAX);
    }
    if (const auto timeout = seconds_argument(given.set(1))) {
      options.timeout = std::chrono::duration<double>(*timeout);
    }
    if (given.set(2) != nullptr) options.schedule = parse_schedule(given.text(2));
    options.races = races_argument(given[3]);
    options.trace = given.truth(4, false);
    options.time_steps = given.truth(5, true);
    options.find_non_finite = given.truth(7, false);
    options.count_accesses = given.truth(8, false);
    if (given.set(9) != nullptr) options.results = texts_argument(given[9], "keep");
    ExecutableValue& value = executable_in(self);
    Watch watch(given.set(6));
    watch.set(options);
    const auto failure = without_gil(value->device(), watch, [&] { value->run(options); });
    if (failure) {
      const std::vector<FindingReport>& findings = value->report().findings;
      if (failure->code() == ErrorCode::kFault && failure->driver_result() == 0 &&
          !findings.empty()) {
        throw_findings(findings);
      }
      set_error(*failure, Subject::kText, findings);
      throw PythonError{};
    }
    return statistics_of(value->report());
  });
}

PyObject* executable_compare_expected(PyObject* self, PyObject*) {
  return guarded([&] {
    return tuple_of(executable_in(self)->compare_expected(), [](const ExpectedOutput& output) {
      return call_python("_values", "ExpectedOutput", to_python(output.buffer),
                         to_python(output.file.string()), comparison_of(output.comparison));
    });
  });
}

PyObject* executable_compare_schedules(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                       PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 3> kNames = {"schedules", "timeout", "races"};
    const Given given("compare_schedules", kNames, 1, 1, args, nargs, names);
    std::vector<Schedule> schedules;
    for (const std::string& text : texts_argument(given[0], "schedules"))
      schedules.push_back(parse_schedule(text));
    RunOptions options;
    if (const auto timeout = seconds_argument(given.set(1))) {
      options.timeout = std::chrono::duration<double>(*timeout);
    }
    options.races = races_argument(given[2]);
    Watch watch(nullptr);
    watch.set(options);
    std::vector<ScheduleRun> runs;
    Executable& executable = *executable_in(self).executable;
    const auto failure = without_gil(executable.device(), watch, [&] {
      runs = compare_schedules(executable, schedules, options);
    });
    if (failure) throw Error(*failure);
    for (const ScheduleRun& run : runs) {
      if (!run.failure) continue;
      recover_from(executable.device(), *run.failure);
      throw_findings(run.findings);
    }
    return tuple_of(runs, [](const ScheduleRun& run) {
      return call_python("_values", "ScheduleRun", to_python(to_string(run.schedule)),
                         difference_of(run.difference), findings_of(run.findings));
    });
  });
}

}  // namespace baton::python
