#include "pdl/value/deciding.h"

#include "pdl/order/flags.h"
#include "pdl/order/signal_use.h"
#include "ptx/dataflow.h"

namespace baton::overlap {
namespace {

// Calls `visit` for each register that the operation computes its results from, or decides by.
template <typename Visit>
void each_operand(const Operation& operation, const Visit& visit) {
  const auto read = [&](const ValueSource& source) {
    if (source.kind == ValueSource::Kind::kRegister) visit(source.id);
  };
  for (const ValueSource& source : operation.sources) read(source);
  read(operation.address);
  if (operation.guard != kNone) visit(operation.guard);
  for (const std::uint32_t id : operation.kept) visit(id);
}

}  // namespace

std::vector<bool> find_deciding(const Code& code) {
  const auto count = static_cast<std::uint32_t>(code.operations.size());
  // What lanes may give each other at different shuffles, all of these define.
  const auto joins_others = [&](std::uint32_t at) {
    return code.operations[at].exchange == Exchange::kShuffled && !code.lone_shuffles.empty() &&
           !code.lone_shuffles[at];
  };
  const std::uint32_t shuffled = code.exchanged(Exchange::kShuffled);
  const ptx::UseLists definitions(code.values(), count, [&](std::uint32_t at, const auto& visit) {
    for (const std::uint32_t id : code.operations[at].defines) visit(id);
    if (joins_others(at)) visit(shuffled);
  });
  std::vector<bool> deciding(code.values());
  std::vector<std::uint32_t> pending;
  const auto add = [&](std::uint32_t id) {
    if (deciding[id]) return;
    deciding[id] = true;
    pending.push_back(id);
  };
  const bool polls = has_flags(code);
  for (const Operation& operation : code.operations) {
    if (operation.guard != kNone) add(operation.guard);
    const bool signals = mbarrier_use(operation) || barrier_use(operation) ||
                         (polls && shared_write(operation).has_value());
    if (signals) each_operand(operation, add);
  }
  while (!pending.empty()) {
    const std::uint32_t id = pending.back();
    pending.pop_back();
    for (const std::uint32_t at : definitions.of(id)) {
      each_operand(code.operations[at], add);
      if (joins_others(at)) add(shuffled);
    }
  }
  return deciding;
}

}  // namespace baton::overlap
