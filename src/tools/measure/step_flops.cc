#include "tools/measure/step_flops.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/error.h"
#include "program/expression/expression_code.h"
#include "program/step_launches.h"

namespace baton::tools {
namespace {

std::int64_t evaluate(const Expression& flops, const Executable& executable) {
  const std::vector<Executable::BoundSymbol> symbols = executable.symbols();
  std::vector<std::int64_t> values;
  for (const std::string& name : flops.names()) {
    values.push_back(std::ranges::find(symbols, name, &Executable::BoundSymbol::name)->value);
  }
  const std::int64_t count = flops.code()->evaluate(values);
  if (count < 0) {
    throw error_at(flops.where(), ErrorCode::kInvalidInput, "flops is {}, it must be at least 0",
                   count);
  }
  return count;
}

}  // namespace

std::vector<std::optional<double>> step_flops(const Executable& executable,
                                              const std::vector<StepReport>& steps) {
  const ProgramDefinition& program = executable.program().definition();
  std::map<std::string, std::int64_t> by_place;
  for_each_launch(program.steps, [&](const LaunchStep& launch, const ProgramStep& step) {
    const auto kernel = std::ranges::find(program.kernels, launch.kernel, &ProgramKernel::name);
    const auto& flops = launch.attributes.flops ? launch.attributes.flops : kernel->launch.flops;
    if (flops) by_place[step.where.to_string()] = evaluate(*flops, executable);
  });
  std::vector<std::optional<double>> all;
  for (const StepReport& step : steps) {
    const auto found = by_place.find(step.where.to_string());
    const bool is_launch = step.kind == StepReport::Kind::kLaunch;
    if (!is_launch || found == by_place.end()) {
      all.emplace_back();
    } else {
      all.emplace_back(static_cast<double>(found->second) *
                       static_cast<double>(step.executions - step.skipped));
    }
  }
  return all;
}

}  // namespace baton::tools
