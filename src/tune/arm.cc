#include "tune/arm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/overloaded.h"
#include "bind/binding.h"
#include "bind/requirements.h"
#include "driver/driver.h"
#include "program/buffer_roles.h"

namespace baton::tuning {
namespace {

// Whether the shape is another one for another value of a [tune] symbol.
bool has_tuned_shape(const ProgramBuffer& buffer, const Program& program) {
  const auto is_tuned = [&](const std::string& name) {
    return std::ranges::find(program.tune_parameters(), name, &TuneParameter::symbol) !=
           program.tune_parameters().end();
  };
  return std::ranges::any_of(buffer.shape, [&](const Expression& extent) {
    return std::ranges::any_of(extent.names(), is_tuned);
  });
}

// The weights of `owner` become memory that the bindings give.
void share_weights(const Arm* owner, const Program& program, Bindings& bindings) {
  if (owner == nullptr) return;
  for (const ProgramBuffer& buffer : program.buffers()) {
    if (buffer.role != BufferRole::kWeight || buffer.variable) continue;
    if (has_tuned_shape(buffer, program)) continue;
    const DeviceArray array = owner->executable()->array(buffer.name);
    if (array.address != 0) bindings.memory.emplace_back(buffer.name, array);
  }
}

bool has_conditions(const std::vector<ProgramStep>& steps);

bool has_conditions(const ProgramStep& step) {
  return std::visit(
      Overloaded{[](const LaunchStep&) { return false; }, [](const CopyStep&) { return false; },
                 [](const FillStep&) { return false; }, [](const CollectiveStep&) { return false; },
                 [](const IfStep&) { return true; }, [](const WhileStep&) { return true; },
                 [](const RepeatStep& group) { return has_conditions(group.steps); },
                 [](const ParallelStep& parallel) {
                   const auto any = [](const std::vector<ProgramStep>& branch) {
                     return has_conditions(branch);
                   };
                   return std::ranges::any_of(parallel.branches, any);
                 }},
      step.action);
}

bool has_conditions(const std::vector<ProgramStep>& steps) {
  const auto has = [](const ProgramStep& step) { return has_conditions(step); };
  return std::ranges::any_of(steps, has);
}

Executable bound(LoadedProgram loaded, ExecutorKind executor, Bindings bindings, const Arm* weights,
                 const RunOptions& limits) {
  share_weights(weights, loaded.program(), bindings);
  bindings.setup = {limits.timeout, limits.interrupt};
  Executable executable(std::move(loaded), executor);
  executable.bind(std::move(bindings));
  return executable;
}

}  // namespace

CostKind cost_on(const Device& device) {
  return device.driver().simulator != nullptr ? CostKind::kWarpInstructions : CostKind::kSeconds;
}

ExecutedArm::ExecutedArm(LoadedProgram loaded, ExecutorKind executor, Bindings bindings,
                         const Arm* weights, const RunOptions& limits, CostKind cost)
    : executable_(bound(std::move(loaded), executor, std::move(bindings), weights, limits)),
      limits_(limits),
      cost_(cost),
      is_enqueued_(executor == ExecutorKind::kGraph ||
                   !has_conditions(executable_.program().steps())),
      stream_(executable_.device()),
      begin_(executable_.device()),
      end_(executable_.device()) {}

void ExecutedArm::reset() {
  for (const ProgramBuffer& buffer : executable_.program().buffers()) {
    if (is_kept(buffer.role)) executable_.reset(buffer.name, stream_);
  }
  executable_.initialise(stream_);
}

std::map<std::string, Array> ExecutedArm::results() {
  reset();
  stream_.synchronize();
  RunOptions options = limits_;
  options.time_steps = false;
  executable_.run(options);
  std::map<std::string, Array> arrays;
  for (const std::string& name : executable_.outputs()) {
    // What the caller gave is not downloaded.
    arrays.emplace(name, executable_.contents(name));
  }
  return arrays;
}

double ExecutedArm::measure() {
  if (cost_ == CostKind::kWarpInstructions) return instructions();
  return is_enqueued_ ? seconds() : seconds_of_run();
}

double ExecutedArm::seconds() {
  const WaitOptions wait{limits_.timeout, limits_.interrupt};
  reset();
  // The first run after another variant finds that one's data in the caches.
  executable_.enqueue(stream_);
  executable_.wait(stream_, wait);
  begin_.record(stream_);
  executable_.enqueue(stream_);
  end_.record(stream_);
  executable_.wait(stream_, wait);
  return elapsed_seconds(begin_, end_);
}

double ExecutedArm::seconds_of_run() {
  reset();
  stream_.synchronize();
  RunOptions options = limits_;
  options.time_steps = false;
  options.repeat = 2;
  return executable_.run(options).run_seconds.back();
}

double ExecutedArm::instructions() {
  reset();
  stream_.synchronize();
  RunOptions options = limits_;
  options.join_executions = true;
  double sum = 0;
  for (const StepReport& step : executable_.run(options).steps) {
    sum += static_cast<double>(step.warp_instructions.value_or(0));
  }
  return sum;
}

namespace {

std::vector<BoundSymbol> checked_symbols(const Program& program, const Bindings& bindings) {
  std::vector<BoundSymbol> symbols = bind::bind_symbols(program, bindings);
  std::vector<std::int64_t> values;
  for (const BoundSymbol& symbol : symbols) values.push_back(symbol.value);
  bind::Requirements(program).check(values);
  return symbols;
}

}  // namespace

CallersArm::CallersArm(const TuneVariant& variant, const Program& program,
                       const TuneOptions& options)
    : variant_(variant), symbols_(checked_symbols(program, options.bindings)), options_(options) {}

std::map<std::string, Array> CallersArm::results() {
  measure();
  return {};
}

double CallersArm::measure() {
  const double cost = options_.measure(variant_, symbols_);
  if (std::isfinite(cost) && cost > 0) return cost;
  throw error(ErrorCode::kInvalidInput,
              "the measurement of {} says {} seconds; it must be a number above 0",
              to_text(variant_), cost);
}

}  // namespace baton::tuning
