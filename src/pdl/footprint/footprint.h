#pragma once

// What a kernel touches in global memory, by the origins of the addresses, and when:
// before or after its wait for the launch before it (griddepcontrol.wait). The answer errs on one
// side: what it does not list does not happen, and what it lists as after the wait is after it.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pdl/footprint/unseen.h"
#include "pdl/order/order.h"
#include "pdl/origin/origin.h"
#include "pdl/value/thread.h"
#include "ptx/ast.h"

namespace baton::overlap {

struct Code;

// A group of accesses of one kind to one place; `where` is that of the first.
struct AccessGroup {
  bool reads = false;
  bool writes = false;
  bool non_coherent = false;  // a load that the wait does not order; also of constant memory
  bool constant = false;      // of constant memory
  bool strong = false;        // as in Operation
  bool prefetches = false;
  Order order = Order::kAfter;
  bool generic = false;                   // the address may lie in memory of the block
  bool by_map = false;                    // through a tensor map or a texture, at the address
  std::vector<Origin> origins;            // any one of these; ascending
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
  bool triggers_before_wait = false;   // on some path
  bool always_triggers_early = false;  // on every path, before a wait and before its end
  std::vector<AccessGroup> accesses;
  std::optional<Unseen> unseen;  // why it may do more than is listed; nothing: it does not
  std::vector<Origin> conditions, stored, aligned, left, left_in_block;  // as in KernelOrigins
  std::vector<std::pair<AddressSource, AddressSource>> compared;         // the same

  // Whether some thread of the grid waits for certain, which keeps the grid from ending before the
  // launch that it depends on. For kSometimes it takes the launch to tell: `any` is any thread of
  // it.
  bool waits_for_certain(const KnownThread& any) const;

  std::shared_ptr<const Code> code;                // null where there is no PTX
  std::vector<bool> ordering_ops, behind_barrier;  // as in WaitOrdering
};

// From PTX. `block`: its extents where they are known, else zeros. What cannot be read is not an
// error: the footprint is then unknown, with the reason. Work and memory are bounded whatever the
// text is.
Footprint read_footprint(const std::shared_ptr<const ptx::ParsedModule>& module,
                         const ptx::Function& kernel, const std::array<std::uint32_t, 3>& block);

// Of machine code, of which an image's facts tell whether it waits and triggers.
Footprint unknown_footprint(std::string kernel, std::optional<bool> waits,
                            std::optional<bool> triggers, Unseen unseen);

}  // namespace baton::overlap
