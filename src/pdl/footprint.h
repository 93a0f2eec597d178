#pragma once

// What a kernel touches in global memory, by the parameter that the address comes from, and when:
// before or behind its wait for the launch before it (griddepcontrol.wait). The answer errs on one
// side: what it does not list does not happen, and what it lists as behind the wait is behind it.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pdl/order.h"
#include "pdl/unseen.h"
#include "ptx/ast.h"

namespace baton::overlap {

struct Code;

// One thing that an address may come from.
struct Root {
  enum class Kind : std::uint8_t { kParam, kVariable, kUnknown };
  Kind kind = Kind::kUnknown;
  std::uint32_t param = 0;   // kParam: its index
  std::uint32_t offset = 0;  // in bytes, where in the parameter the address stands
  // The parameter was added to something loaded from memory, or to another parameter: it is the
  // address only if it is given one.
  bool with_loaded = false;
  bool with_param = false;
  // The address stands in a struct, or the root is a tensor map; with_loaded: one in memory.
  bool by_value = false;
  std::string variable;                            // kVariable: its name in the module
  bool constant = false;                           // kVariable: in constant memory
  UnknownAddress why = UnknownAddress::kNoOrigin;  // kUnknown

  friend auto operator<=>(const Root&, const Root&) = default;
};

// A group of accesses of one kind to one place; `where` is that of the first.
struct AccessGroup {
  bool reads = false;
  bool writes = false;
  bool non_coherent = false;  // a load that the wait does not order; also of constant memory
  bool strong = false;        // as in Operation
  bool prefetches = false;
  Order order = Order::kAfter;
  std::vector<Root> roots;                // any one of these
  std::string where;                      // "norm.cu:14"
  std::vector<std::uint32_t> operations;  // of the code, ascending
};

struct Footprint {
  enum class Waits : std::uint8_t {
    kUnknown,  // what it does is not known
    kNever,
    kSometimes,  // on some paths
    kOne,        // one thread of each block, for certain
    kAll,        // every thread, on every path
  };
  std::string kernel;  // its symbol
  Waits waits = Waits::kUnknown;
  bool triggers = false;
  bool triggers_before_wait = false;
  std::vector<AccessGroup> accesses;
  std::optional<Unseen> unseen;  // why it may do more than is listed; nothing: it does not

  // Whether some thread of the grid waits for certain, which keeps the grid from ending before the
  // launch that it depends on; for kSometimes it takes the launch to tell. `params`: the values of
  // scalars, by index.
  bool waits_for_certain(const std::array<std::uint32_t, 3>& block,
                         const std::array<std::uint32_t, 3>& grid,
                         std::span<const std::optional<std::uint64_t>> params) const;

  std::shared_ptr<const Code> code;  // null where there is no PTX
  std::vector<bool> ordering_ops;    // as in WaitOrdering
};

// From PTX. `block`: its extents where they are known, else zeros. What cannot be read is no error:
// the footprint is then unknown, with the reason. Work and memory are bounded whatever the text is.
Footprint read_footprint(const std::shared_ptr<const ptx::ParsedModule>& module,
                         const ptx::Function& kernel, const std::array<std::uint32_t, 3>& block);

// Of machine code, of which an image's facts tell whether it waits and triggers.
Footprint unknown_footprint(std::string kernel, std::optional<bool> waits,
                            std::optional<bool> triggers, Unseen unseen);

}  // namespace baton::overlap
