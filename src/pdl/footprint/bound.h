#pragma once

// A footprint with the arguments of one launch: memory instead of parameters.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pdl/footprint/address_binder.h"
#include "pdl/footprint/footprint.h"

namespace baton::overlap {

struct BoundAccess {
  const AccessGroup* group = nullptr;
  Order order = Order::kAfter;     // in this launch
  std::optional<MemoryId> memory;  // nothing: any
  // That the kernel is given, or kUnknownOffset. With `bytes`, the access stays between the two.
  std::uint64_t offset = 0;
  std::uint64_t bytes = kUnknownBytes;
  std::uint32_t argument = kNoArgument;            // whose offset it is, if one's
  UnknownAddress why = UnknownAddress::kNoOrigin;  // the reason, if `memory` is empty
  bool is_one_of = false;                          // the same access may be of other memory instead
};

// Refers to the footprint, which must outlive it.
struct BoundLaunch {
  std::uint32_t number = 0;  // the caller's, for messages
  const Footprint* footprint = nullptr;
  bool waits = false;               // some thread of it, for certain
  bool has_wide_places = false;     // accesses have other offsets than their arguments
  bool stores_differences = false;  // of addresses, as AddressBinder has it
  bool by_value = false;  // other values of scalars, or another grid, may change what is here
  std::vector<BoundAccess> accesses;
};

BoundLaunch bind(const Footprint& footprint, std::span<const GivenArgument> arguments,
                 const std::array<std::uint32_t, 3>& block,
                 const std::array<std::uint32_t, 3>& grid, const VariableNumber& variable,
                 LoadedValue loaded = LoadedValue::kIndex);

// Looks for accesses that the launch's own numbers put after the wait (`if (overlaps) wait();`,
// `if (i < n) wait();`).
void refine(BoundLaunch& launch, std::span<const GivenArgument> arguments,
            const std::array<std::uint32_t, 3>& block, const std::array<std::uint32_t, 3>& grid);

// By operation of the footprint's code, which must not be null: whether the launch may execute it.
std::vector<bool> executed(const Footprint& footprint, std::span<const GivenArgument> arguments,
                           const std::array<std::uint32_t, 3>& block,
                           const std::array<std::uint32_t, 3>& grid);

// Whether all threads of the launch trigger before they wait or end.
bool triggers_early(const Footprint& footprint, std::span<const GivenArgument> arguments,
                    const std::array<std::uint32_t, 3>& block,
                    const std::array<std::uint32_t, 3>& grid);

}  // namespace baton::overlap
