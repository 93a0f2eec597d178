#pragma once

// What PTX instructions do: isa.inc as data. Every room takes its facts about opcodes from here.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ptx/ast.h"

namespace baton::ptx {

// A row of the table: an opcode, or those forms of it that have certain modifiers.
struct Form {
  enum class Kind : std::uint8_t {
    kPure,            // equal operands give equal results, and nothing else happens
    kCarry,           // the same, but the carry flag is an operand or a result
    kLanes,           // the result depends on other lanes of the warp
    kAccess,          // accesses memory
    kAtomic,          // the same, in one indivisible step; relaxed unless it says otherwise
    kHint,            // changes no value
    kStack,           // changes the stack of the thread
    kAsyncGroup,      // orders the thread's own asynchronous operations, or waits for them
    kMbarrier,        // works on an mbarrier, or lets an asynchronous operation do so
    kMbarrierWait,    // looks whether a phase of an mbarrier is over, or waits for that
    kFence,           // orders accesses of the thread
    kWarpBarrier,     // waits for lanes of the warp
    kBlockBarrier,    // waits for threads of the block
    kBlockArrival,    // arrives at such a barrier
    kClusterBarrier,  // waits for the threads of the cluster
    kClusterArrival,  // arrives there
    kGridWait,        // waits for the grids before
    kGridTrigger,     // lets the grids after it start
    kBranch,
    kCall,
    kReturn,
    kExit,
    kTrap,
  };
  // What is done at the address operands, in their order.
  enum class Access : std::uint8_t {
    kNone,
    kRead,
    kWrite,
    kUpdate,    // reads and writes
    kPrefetch,  // brings data into a cache, gives no value
    kCopy,      // writes at the first, reads at the second
    kReduce,    // updates at the first, reads at the second
  };
  enum class Place : std::uint8_t {
    kNowhere,
    kNamed,         // modifiers name the spaces; generic where they do not
    kShared,        // shared memory, also where no modifier says so
    kMap,           // global memory behind a tensor map, a texture or a surface
    kTensorMemory,  // the tensor memory of tcgen05
  };
  enum class Proxy : std::uint8_t { kNone, kGeneric, kNonCoherent, kAsync, kTensorMap };

  std::string_view name;  // "cp.async.bulk"
  std::string_view opcode;
  std::vector<std::string_view> modifiers;  // all of them are needed
  std::size_t destinations = 0;
  Kind kind = Kind::kPure;
  Access access = Access::kNone;
  Place place = Place::kNowhere;
  Proxy proxy = Proxy::kNone;
  int ptx_version = 0;       // 10 * major + minor
  int architecture = 0;      // of the first target, 0 for all
  bool is_specific = false;  // to targets such as sm_90a
  std::string_view family;   // of the simulator; kNotSimulated where it has none
  std::size_t index = 0;     // in forms()

  bool is_simulated() const;
};

// Every row, in the order of the table.
std::span<const Form> forms();

// The row of an instruction, or null where the table does not know it. Constant time.
const Form* form_of(const Instruction& instruction);

// Whether the operand's registers are written; of a form that is not known, the first one's, unless
// it is an address.
bool writes_operand(const Instruction& instruction, std::size_t operand);

// Whether two reads of the special register by one thread may differ (PTX ISA 9.0, "Special
// Registers"). `name` as it is written: "%clock64".
bool is_volatile(std::string_view name);

}  // namespace baton::ptx
