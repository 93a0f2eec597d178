#include "pdl/order/early_work.h"

#include <algorithm>

#include "pdl/code/code.h"
#include "pdl/footprint/address_binder.h"

namespace baton::overlap {

namespace {

// Memory by what a kernel may do to it before it has waited.
constexpr MemoryId kReadable = 0, kOther = 1;

GivenArgument argument_of(EarlyArgument use) {
  GivenArgument given;
  switch (use) {
    case EarlyArgument::kAny:
      given.kind = GivenArgument::Kind::kBytes;
      break;
    case EarlyArgument::kConstantMemory:
      given.kind = GivenArgument::Kind::kMemory;
      given.memory = kReadable;
      break;
    case EarlyArgument::kScalar:
      given.kind = GivenArgument::Kind::kScalar;
      break;
  }
  return given;
}

}  // namespace

bool may_be_early(const Footprint& footprint, const AccessGroup& access, const EarlyWork& early) {
  if (access.writes || access.by_map) return false;
  std::vector<GivenArgument> arguments;
  for (const EarlyArgument use : early.params) arguments.push_back(argument_of(use));
  const VariableNumber variable = [&](std::string_view, bool constant) {
    return constant && early.constant_memory ? kReadable : kOther;
  };
  const AddressBinder binder(footprint, arguments, variable);
  const TouchedMemory touched = binder.touched(access);
  return !touched.unknown && !touched.places.empty() &&
         std::ranges::all_of(touched.places,
                             [](const auto& place) { return place.memory == kReadable; });
}

}  // namespace baton::overlap
