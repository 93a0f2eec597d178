#include "pdl/footprint/bound.h"

#include <algorithm>

#include "pdl/order/signals.h"
#include "pdl/value/thread.h"

namespace baton::overlap {
namespace {

std::vector<std::optional<std::uint64_t>> scalars_of(std::span<const GivenArgument> arguments) {
  std::vector<std::optional<std::uint64_t>> scalars;
  for (const GivenArgument& given : arguments) scalars.push_back(given.bits);
  return scalars;
}

// Any thread of the launch. All arguments must outlive it.
KnownThread any_thread(std::span<const GivenArgument> arguments,
                       std::span<const std::optional<std::uint64_t>> scalars,
                       const std::array<std::uint32_t, 3>& block,
                       const std::array<std::uint32_t, 3>& grid) {
  KnownThread thread;
  thread.tid.reset();
  thread.block = block;
  thread.grid = grid;
  thread.params = scalars;
  thread.fields = [arguments](std::uint32_t param, std::int64_t byte,
                              unsigned width) -> std::optional<std::uint64_t> {
    if (param >= arguments.size()) return std::nullopt;
    for (const GivenArgument::Number& number : arguments[param].numbers) {
      if (number.position == byte && width <= 8 * number.bytes) return number.bits;
    }
    return std::nullopt;
  };
  return thread;
}

// By operation: whether the thread may come there without one of that kind.
std::vector<bool> reached_without(const Code& code, Operation::Kind kind,
                                  const KnownThread& thread) {
  std::vector<bool> stops(code.operations.size());
  for (std::size_t at = 0; at < stops.size(); ++at) stops[at] = code.operations[at].kind == kind;
  return find_reachable_unordered(code, thread, stops);
}

}  // namespace

BoundLaunch bind(const Footprint& footprint, std::span<const GivenArgument> arguments,
                 const std::array<std::uint32_t, 3>& block,
                 const std::array<std::uint32_t, 3>& grid, const VariableNumber& variable,
                 LoadedValue loaded) {
  BoundLaunch out;
  out.footprint = &footprint;
  out.accesses.reserve(footprint.accesses.size());
  const AddressBinder binder(footprint, arguments, variable, loaded);
  out.stores_differences = binder.stores_differences();
  out.has_wide_places = binder.widens_places();
  for (const AccessGroup& access : footprint.accesses) {
    const TouchedMemory touched = binder.touched(access);
    out.by_value |= touched.by_value;
    const bool is_one_of = touched.places.size() + (touched.unknown ? 1 : 0) > 1;
    BoundAccess bound;
    bound.group = &access;
    bound.order = access.order;
    bound.is_one_of = is_one_of;
    for (const TouchedMemory::Place& place : touched.places) {
      bound.memory = place.memory;
      bound.offset = place.offset;
      bound.bytes = place.bytes;
      bound.argument = place.argument;
      out.accesses.push_back(bound);
    }
    if (!touched.unknown) continue;
    bound.memory.reset();
    bound.offset = 0;
    bound.bytes = kUnknownBytes;
    bound.argument = kNoArgument;
    bound.why = *touched.unknown;
    out.accesses.push_back(bound);
  }
  if (footprint.waits == Footprint::Waits::kSometimes) {
    const auto scalars = scalars_of(arguments);
    out.waits = footprint.waits_for_certain(any_thread(arguments, scalars, block, grid));
    out.by_value = true;
  } else {
    out.waits = footprint.waits_for_certain({});
  }
  return out;
}

void refine(BoundLaunch& launch, std::span<const GivenArgument> arguments,
            const std::array<std::uint32_t, 3>& block, const std::array<std::uint32_t, 3>& grid) {
  const Footprint& footprint = *launch.footprint;
  if (footprint.code == nullptr || footprint.waits == Footprint::Waits::kNever) return;
  const auto scalars = scalars_of(arguments);
  const KnownThread thread = any_thread(arguments, scalars, block, grid);
  const std::vector<bool> unwaited =
      has_signals(*footprint.code)
          ? find_early(*footprint.code, thread, footprint.behind_barrier)
          : reached_without(*footprint.code, Operation::Kind::kWait, thread);
  for (BoundAccess& access : launch.accesses) {
    const bool is_early = std::ranges::any_of(access.group->operations,
                                              [&](std::uint32_t at) { return unwaited[at]; });
    if (!is_early) access.order = Order::kAfter;
  }
}

std::vector<bool> executed(const Footprint& footprint, std::span<const GivenArgument> arguments,
                           const std::array<std::uint32_t, 3>& block,
                           const std::array<std::uint32_t, 3>& grid) {
  const Code& code = *footprint.code;
  const auto scalars = scalars_of(arguments);
  return find_reachable_unordered(code, any_thread(arguments, scalars, block, grid),
                                  std::vector<bool>(code.operations.size()));
}

bool triggers_early(const Footprint& footprint, std::span<const GivenArgument> arguments,
                    const std::array<std::uint32_t, 3>& block,
                    const std::array<std::uint32_t, 3>& grid) {
  if (footprint.code == nullptr) return false;
  const Code& code = *footprint.code;
  const auto scalars = scalars_of(arguments);
  const std::vector<bool> without =
      reached_without(code, Operation::Kind::kTrigger, any_thread(arguments, scalars, block, grid));
  for (std::size_t at = 0; at < without.size(); ++at) {
    if (without[at] && ends_the_early_part(code.operations[at])) return false;
  }
  return true;
}

}  // namespace baton::overlap
