#include "baton/tune_choices.h"

#include <algorithm>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "program/step_launches.h"

namespace baton {
namespace {

template <typename Part>
Part& named(std::vector<Part>& parts, const std::string& name, const char* kind) {
  const auto found = std::ranges::find(parts, name, &Part::name);
  if (found != parts.end()) return *found;
  std::vector<std::string_view> known;
  for (const Part& part : parts) known.push_back(part.name);
  throw error(ErrorCode::kNotFound, "the choices name the unknown {} \"{}\"{}", kind,
              printable(name), suggestion(name, known));
}

void set_parameter(ProgramDefinition& program, const std::string& name, std::int64_t value) {
  ProgramSymbol& symbol = named(program.symbols, name, "symbol");
  if (std::ranges::find(program.tune, name, &TuneParameter::symbol) == program.tune.end()) {
    throw error(ErrorCode::kInvalidInput,
                "the choices give the symbol {} the value {}, but [tune] does not name it", name,
                value);
  }
  symbol.value = value;
}

void make_full(ProgramDefinition& program, const std::vector<std::uint32_t>& launches) {
  std::uint32_t count = 0;
  for_each_launch(program.steps, [&](LaunchStep& step) {
    const std::uint32_t number = count++;
    if (std::ranges::find(launches, number) == launches.end()) return;
    const ProgramKernel& kernel = named(program.kernels, step.kernel, "kernel");
    if (!step.attributes.pdl && !kernel.launch.pdl) step.attributes.pdl = PdlMode::kOff;
  });
  for (const std::uint32_t number : launches) {
    if (number < count) continue;
    throw error(ErrorCode::kNotFound, "the choices name launch {}, the program has {}", number,
                count);
  }
}

void set_executor(ProgramDefinition& program, std::uint32_t number, CollectiveExecutor by) {
  std::uint32_t count = 0;
  for_each_collective(program.steps, [&](CollectiveStep& step, bool) {
    if (count++ == number && !step.by) step.by = by;
  });
  if (number < count) return;
  throw error(ErrorCode::kNotFound, "the choices name collective {}, the program has {}", number,
              count);
}

}  // namespace

std::string to_text(const TuneChoices& choices) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const auto& [name, value] : choices.parameters) add(fmt::format("{} = {}", name, value));
  for (const auto& [kernel, mode] : choices.rewrites) {
    add(fmt::format("rewrite {} = {}", printable(kernel), to_string(mode)));
  }
  for (const std::string& kernel : choices.even) {
    add(fmt::format("placement {} = even", printable(kernel)));
  }
  for (const std::uint32_t launch : choices.full_edges) {
    add(fmt::format("full edge to launch {}", launch));
  }
  for (const auto& [number, by] : choices.collectives) {
    add(fmt::format("collective {} by {}", number, to_string(by)));
  }
  return text.empty() ? "untuned" : text;
}

Program with_choices(const Program& program, const TuneChoices& choices) {
  if (choices.empty()) return program;
  ProgramDefinition changed = program.definition();
  for (const auto& [name, value] : choices.parameters) set_parameter(changed, name, value);
  for (const auto& [name, mode] : choices.rewrites) {
    ProgramKernel& kernel = named(changed.kernels, name, "kernel");
    if (!kernel.rewrite) kernel.rewrite = mode;
  }
  for (const std::string& name : choices.even) {
    ProgramKernel& kernel = named(changed.kernels, name, "kernel");
    if (!kernel.launch.placement) kernel.launch.placement = BlockPlacement::kEven;
  }
  make_full(changed, choices.full_edges);
  for (const auto& [number, by] : choices.collectives) set_executor(changed, number, by);
  return Program(std::move(changed));
}

}  // namespace baton
