#pragma once

// A footprint with the arguments of one launch: memory instead of parameters.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pdl/footprint.h"

namespace baton::overlap {

// Memory by a number of the caller's: a buffer, or a variable of a module. Pieces with different
// numbers do not overlap.
using MemoryId = std::uint32_t;

struct GivenArgument {
  enum class Kind : std::uint8_t {
    kMemory,     // an address: `memory` and `offset` in it, in bytes
    kTensorMap,  // a map by value, of what lies in `memory` from `offset` on
    kScalar,     // `bits`, where they are known
    kBytes,      // a struct by value, which may hold addresses
  };
  Kind kind = Kind::kBytes;
  MemoryId memory = 0;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> bits;
};

struct BoundAccess {
  const AccessGroup* group = nullptr;
  Order order = Order::kAfter;     // in this launch
  std::optional<MemoryId> memory;  // nothing: any
  std::uint64_t offset = 0;        // that the kernel is given; how far it reaches is not known
  UnknownAddress why = UnknownAddress::kNoOrigin;  // the reason, if `memory` is empty
  bool is_one_of = false;                          // the same access may be of other memory instead
};

// Refers to the footprint, which must outlive it.
struct BoundLaunch {
  std::uint32_t number = 0;  // the caller's, for messages
  const Footprint* footprint = nullptr;
  bool waits = false;  // some thread of it, for certain
  std::vector<BoundAccess> accesses;
};

// `variable` gives the number of the variable of the kernel's module that the root is.
BoundLaunch bind(const Footprint& footprint, std::span<const GivenArgument> arguments,
                 const std::array<std::uint32_t, 3>& block,
                 const std::array<std::uint32_t, 3>& grid,
                 const std::function<MemoryId(const Root& root)>& variable);

// Looks for accesses that the launch's own numbers put behind the wait (`if (overlaps) wait();`,
// `if (i < n) wait();`), and makes unclear those of which no thread that was looked at comes there
// without anything that may order it: a witness has to be somebody.
void refine(BoundLaunch& launch, std::span<const GivenArgument> arguments,
            const std::array<std::uint32_t, 3>& block, const std::array<std::uint32_t, 3>& grid);

// Whether some thread of the launch certainly makes the access: on every path on which it ends
// without an error. False if nothing shows it.
bool is_certain(const BoundLaunch& launch, const BoundAccess& access,
                std::span<const GivenArgument> arguments, const std::array<std::uint32_t, 3>& block,
                const std::array<std::uint32_t, 3>& grid);

}  // namespace baton::overlap
