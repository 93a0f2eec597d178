#include "bind/tape_changes.h"

#include <algorithm>

#include "base/overloaded.h"

namespace baton::bind {
namespace {

void collect(const std::vector<TapeStep>& steps, std::uint32_t buffer, TapeChanges& changes) {
  for (const TapeStep& step : steps) {
    std::visit(
        Overloaded{[&](const TapeLaunch& launch) {
                     if (std::ranges::count(launch.site->launch->buffers, buffer) == 0) return;
                     changes.launches.push_back(&launch);
                   },
                   [&](const TapeCopy& copy) {
                     changes.moves |= copy.planned->from == buffer || copy.planned->to == buffer;
                   },
                   [&](const TapeFill& fill) { changes.moves |= fill.planned->buffer == buffer; },
                   [&](const TapeCollective& exchange) {
                     const PlannedCollective& planned = *exchange.planned;
                     changes.moves |= planned.from == buffer || planned.to == buffer ||
                                      planned.epilogue.uses_buffer(buffer);
                   },
                   [](const TapeIndex&) {}, [](const TapeAfter&) {}, [](const TapeEvents&) {},
                   [&](const TapeLoop& loop) { collect(loop.steps, buffer, changes); },
                   [&](const TapeCondition& condition) {
                     changes.moves |= condition.group->test.buffer == buffer;
                     collect(condition.steps, buffer, changes);
                   },
                   [&](const TapeParallel& parallel) { collect(parallel.steps, buffer, changes); },
                   [&](const TapeBranch& branch) { collect(branch.steps, buffer, changes); }},
        step.action);
  }
}

}  // namespace

TapeChanges changes_of_buffer(const Tape& tape, std::uint32_t buffer) {
  TapeChanges changes;
  collect(tape.steps, buffer, changes);
  return changes;
}

}  // namespace baton::bind
