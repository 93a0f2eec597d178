#include "session/rank_agreement.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/hash.h"
#include "baton/error.h"
#include "session/collective_choice.h"
#include "world/agreement.h"

namespace baton {
namespace {

using world::Agreed;

// Collectives of a repeat may depend on its index: ranks compare these during the run.
bool depends_on_index(const bind::PlannedCollective& step, std::size_t symbols, std::size_t slots) {
  for (std::size_t slot = symbols; slot < slots; ++slot) {
    if (bind::uses_slot(step, slot)) return true;
  }
  return false;
}

std::string content_of(const bind::PlannedCollective& collective,
                       const std::vector<std::int64_t>& slots, const ProgramValues& values,
                       const SourceLocation& where) {
  try {
    return bind::content_text(collective, evaluate(collective, slots, values.buffers));
  } catch (Error& failure) {
    failure.at(where);
    throw;
  }
}

void add_steps(const std::vector<bind::PlannedStep>& steps, const bind::Plan& plan,
               const ProgramValues& values, std::vector<Agreed>& list) {
  const std::vector<std::int64_t> slots = values.slots();
  for (const bind::PlannedStep& step : steps) {
    std::string text = step.label.empty() ? "a group" : step.label;
    const auto* collective = std::get_if<bind::PlannedCollective>(&step.action);
    if (collective != nullptr && !depends_on_index(*collective, slots.size(), plan.slots)) {
      text += " (" + content_of(*collective, slots, values, step.source->where) + ")";
    }
    list.push_back({"the step at " + step.source->where.to_string(), std::move(text)});
    if (const auto* inner = bind::inner_steps(step)) add_steps(*inner, plan, values, list);
  }
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
  add_steps(state.plan.steps, state.plan, values, list);
  const Sha256Digest digest = sha256(state.program.text());
  list.push_back({"the SHA-256 of the program file", to_hex(digest)});
  world::agree(*world.communicator(), list);
}

}  // namespace baton
