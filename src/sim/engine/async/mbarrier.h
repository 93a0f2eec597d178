#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/engine/judge/flags.h"
#include "sim/engine/run/exec.h"

namespace baton::sim {

struct DecodedFunction;
struct ClusterState;

// An mbarrier object (PTX ISA 9.0, "mbarrier"): 64 bits of shared memory that count a phase's
// arrivals and bytes. The bits stand in memory, as programs expect; what they mean is our own.
struct Mbarrier {
  std::uint32_t expected = 0;  // arrivals of every phase
  std::uint32_t pending = 0;   // of the present one that are still to come
  std::int32_t bytes = 0;      // of asynchronous copies that are announced and still to come
  bool odd = false;            // the present phase's number

  std::uint64_t packed() const;
  static Mbarrier of(std::uint64_t bits);
};
inline constexpr std::uint32_t kMostArrivals = (1u << 20) - 1;  // and bytes

// What a block remembers of an mbarrier in its shared memory, beside the bits there.
struct MbarrierRecord {
  std::uint32_t offset = 0;
  std::uint64_t bits = 0;             // as an instruction on it left them
  std::uint64_t phase = 0;            // phases that were completed
  OrderedLanes::Sources ordered = 0;  // what some thread that arrived comes after
  const Insn* init = nullptr;         // who made it
  const DecodedFunction* function = nullptr;
};

enum class MbarrierOp : std::uint8_t {
  kInit,
  kInval,
  kArrive,
  kArriveDrop,
  kExpect,    // expect_tx
  kComplete,  // complete_tx
  kTest,      // test_wait, by a state
  kTestParity,
  kTry,  // try_wait, by a state
  kTryParity,
  kPendingCount,
};

// Insn::mode of op_mbarrier: a MbarrierOp with these flags.
inline constexpr std::uint8_t kMbarrierOfBlock = 0x10;     // its scope is said to be the block
inline constexpr std::uint8_t kMbarrierNoComplete = 0x20;  // the arrival must not end the phase
inline constexpr std::uint8_t kMbarrierExpects = 0x40;     // the arrival announces bytes first
inline constexpr std::uint8_t kMbarrierRelaxed = 0x80;     // it orders nothing itself

// r[0] is the result: a state, a predicate or a count, or offset 0 for none. r[1] is the generic
// address; of kPendingCount the state. r[2] is the operand: a count, bytes, a state
// or a parity; offset 0 for one arrival. r[3], for kArrive with kMbarrierExpects: the bytes.
const Insn* op_mbarrier(Exec* x, const Insn* i);
// What the instruction does to one, whatever guards it; nothing for other instructions.
std::optional<MbarrierOp> mbarrier_operation(const Insn* i);

// Arrivals and bytes on behalf of asynchronous operations, at an mbarrier in the block's memory.
// Instruction and lane are named where that is wrong; false after a fault.
bool arrive_at(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset,
               std::uint32_t count);
bool complete_bytes(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset,
                    std::uint32_t bytes);
// One more arrival is to come in the present phase (cp.async.mbarrier.arrive without .noinc).
bool expect_arrival(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset);

// What the lane did before comes before what those do that wait for its arrival at the mbarrier. A
// relaxed one orders what a fence has released.
void order_arrival(Exec* x, int lane, BlockState& block, std::uint32_t offset,
                   bool is_relaxed = false);

// The record of the mbarrier there; null where there is none.
const MbarrierRecord* record_of(const BlockState& block, std::uint32_t offset);

// Where a generic address lies in the shared memory of a block of the cluster; null after a fault.
struct SharedPlace {
  BlockState* block = nullptr;
  std::uint32_t offset = 0;
};
SharedPlace mbarrier_place(Exec* x, const Insn* i, int lane, std::uint64_t address);

// "waits at the mbarrier at 0x40, …", with what that awaits.
std::string describe_wait(const BlockState& block, std::uint32_t offset);

// Fragments that wait at the mbarrier look at it again.
void wake_waiters(BlockState& block, std::uint32_t offset);

// Where no thread of a cluster can run: lets those that wait at mbarriers go on with the answer
// that the time is over, as try_wait may. False where none waits so, or where that led to nothing
// too often.
bool time_out_waits(ClusterState& cluster);

}  // namespace baton::sim
