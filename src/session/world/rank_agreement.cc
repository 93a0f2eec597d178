#include "session/world/rank_agreement.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/hash/hash.h"
#include "bind/binding.h"
#include "session/world/collective_choice.h"
#include "session/world/collective_trace.h"
#include "session/world/message_agreement.h"
#include "world/agreement.h"

namespace baton {
namespace {

using world::Agreed;

// What does not depend on the rank.
std::string text_of(const bind::PlannedStep& step) {
  const auto* const collective = std::get_if<bind::PlannedCollective>(&step.action);
  if (collective == nullptr) return step.label.empty() ? "a group" : step.label;
  const bool reduces = collective->facts().reduces;
  return fmt::format("{} ({}{})", step.label,
                     reduces ? std::string(to_string(collective->op)) + " of " : "",
                     to_string(collective->dtype));
}

void add_steps(const std::vector<bind::PlannedStep>& steps, std::vector<Agreed>& list) {
  for (const bind::PlannedStep& step : steps) {
    list.push_back({"the step at " + step.source->where.to_string(), text_of(step)});
    if (const auto* inner = bind::inner_steps(step)) add_steps(*inner, list);
  }
}

std::optional<std::vector<Agreed>> list_of(const ExchangeSequence& sequence) {
  if (!sequence.is_known()) return std::nullopt;
  std::vector<Agreed> list;
  for (const EqualExchanges& run : sequence.runs()) {
    const std::string times = run.times == 1 ? "" : fmt::format(", {} times", run.times);
    list.push_back({"the step at " + run.where, run.content + times});
  }
  return list;
}

bool has_messages(const std::vector<bind::PlannedStep>& steps) {
  return std::ranges::any_of(steps, [](const bind::PlannedStep& step) {
    const auto* const collective = std::get_if<bind::PlannedCollective>(&step.action);
    if (collective != nullptr) return bind::is_message(collective->kind);
    const auto* const inner = bind::inner_steps(step);
    return inner != nullptr && has_messages(*inner);
  });
}

// Ranks of different groups may come to different collectives, such as the stages of a pipeline.
void agree_on_collectives(const World& world, const LoadedProgramState& state,
                          const ProgramValues& values) {
  const CollectiveTrace trace = trace_collectives(state, values);
  for (std::size_t number = 0; number < trace.groups.size(); ++number) {
    const std::string name =
        number == 0 ? std::string() : state.program.world()->groups[number - 1].name;
    const world::GroupLink ranks(*world.communicator(),
                                 bind::bind_group(state.program, name, values.symbols));
    const std::string what =
        name.empty() ? "the ranks' collectives" : "the collectives in the group " + name;
    world::agree(ranks,
                 {what, "all ranks" + (name.empty() ? std::string() : " of the group " + name) +
                            " must come to the same collectives in the same order"},
                 list_of(trace.groups[number]));
  }
  if (has_messages(state.plan.steps)) agree_on_messages(world, trace);
}

}  // namespace

void agree_on(const World& world, const LoadedProgramState& state, ExecutorKind executor,
              const ProgramValues& values, const Bindings& given) {
  std::vector<Agreed> list = {
      {"the program", state.program.name()},
      {"the device", state.device.name()},
      {"the executor", executor == ExecutorKind::kGraph ? "graph" : "stream"},
      {"the seed", std::to_string(given.seed)},
      {"the executor of collectives", std::string(to_string(given.collectives))},
  };
  for (const BoundSymbol& symbol : values.symbols) {
    const ProgramSymbol* const declared = state.program.symbol(symbol.name);
    if (declared->of_world) continue;
    list.push_back({"the symbol " + symbol.name, std::to_string(symbol.value)});
  }
  add_steps(state.plan.steps, list);
  const Sha256Digest digest = sha256(state.program.text());
  list.push_back({"the SHA-256 of the program file", to_hex(digest)});
  world::agree(
      *world.communicator(),
      {"the ranks' programs", "start all ranks with the same program, symbols and options"}, list);
  agree_on_collectives(world, state, values);
}

}  // namespace baton
