#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/ast.h"
#include "sim/engine/isa/insn.h"

namespace baton::sim {

// Special registers that keep their value while a block runs.
enum class SpecialValue : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kDynamicSmemSize,
  kTotalSmemSize,
  kAggrSmemSize,
  kReservedSmem,
  kReservedSmemEnd,
  kEnvreg,
  kClusteridX,
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
  kIsExplicitCluster,
};

// Slots of a frame that are filled before code runs and that no instruction writes.
struct ConstantSlot {
  std::uint32_t offset = 0;
  std::uint8_t width = 4;  // 4 or 8: a slot of lanes; 1: a predicate mask
  std::uint64_t bits = 0;
  bool is_shared = false;  // an address in shared memory, to which the block's base is added
};
struct SpecialSlot {
  std::uint32_t offset = 0;
  std::uint8_t width = 4;
  SpecialValue special = SpecialValue::kTidX;
  std::uint8_t index = 0;  // of %envreg
};
// A kernel parameter that is read at a fixed place, the same for all threads.
struct FrameParamSlot {
  std::uint32_t offset = 0;
  std::uint8_t width = 4;
  std::uint32_t at = 0;    // byte of the parameter block
  std::uint8_t bytes = 4;  // read from there
  bool is_signed = false;
};
// The address of a local variable, which depends on the depth of calls.
struct LocalSlot {
  std::uint32_t offset = 0;
  std::uint8_t width = 8;
  std::uint32_t at = 0;  // byte in the function's local memory
  bool generic = false;
};

// Where an executable instruction comes from.
struct Site {
  const ptx::Instruction* instruction = nullptr;
  const ptx::Loc* loc = nullptr;
};

struct DecodedFunction;

// What a call instruction refers to: the callee, and which bytes of local memory are copied where.
struct CallSite {
  struct Copy {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t bytes = 0;
  };
  const DecodedFunction* callee = nullptr;  // null for an indirect call
  std::vector<std::uint32_t> params;        // the caller's variables: offsets in its local memory
  std::vector<std::uint32_t> param_bytes;
  std::vector<std::uint32_t> results;
  std::vector<std::uint32_t> result_bytes;
};

// A load, store or atomic operation of a kernel that counts its accesses.
struct CountedAccess {
  Handler handler = nullptr;  // does the access; op_count comes before it
  std::uint8_t address = 0;   // the operand that has the address: r[address]
  bool is_wide = true;        // which has 64 bits, not 32
  std::uint8_t bytes = 4;     // of a lane
};

// Registers that a wgmma uses: those of d, then those of a.
struct WgmmaRegisters {
  std::vector<std::uint32_t> numbers;  // the function's own
  std::vector<std::string> names;
  std::uint32_t accumulators = 0;  // of the numbers, from the front
};
// What another instruction does to such a register (wgmma_registers.h).
struct RegisterTouch {
  std::uint32_t number = 0;
  std::uint32_t from = 0;  // of a copy: the register that it copies
  std::string name;
  bool writes = false;
  bool copies = false;
  bool lacks_fence = false;  // a wgmma that follows uses it, perhaps with no fence in between
};

// The place of a register in the frame. Only kernels that are debugged have these.
struct NamedRegister {
  std::string name;  // "%r1"
  std::uint32_t offset = 0;
  std::uint8_t width = 4;  // bytes a lane; 1: a predicate mask
};

// A function in executable form. Immutable once decoded; shared by all threads.
struct DecodedFunction {
  std::string name;
  const ptx::Function* source = nullptr;
  std::vector<Insn> code;              // ends with an instruction that returns
  std::vector<Site> sites;             // one an instruction
  std::vector<CountedAccess> counted;  // one an instruction, where accesses are counted; else empty
  std::deque<std::vector<std::uint32_t>> lists;
  std::deque<CallSite> calls;
  std::deque<std::vector<const Insn*>> targets;  // of brx.idx
  std::deque<std::string> reasons;               // of unsupported instructions
  std::vector<WgmmaRegisters> wgmma;             // by instruction
  std::deque<std::vector<RegisterTouch>> uses;   // of op_use_registers

  std::vector<NamedRegister> registers;  // where it is debugged

  std::uint32_t frame_bytes = 0;
  std::vector<ConstantSlot> constants;
  std::vector<SpecialSlot> specials;
  std::vector<FrameParamSlot> params;
  std::vector<LocalSlot> locals;
  // Slots that some path reads before any writes them: cleared when a frame begins.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cleared;  // offset, bytes
  std::uint32_t local_bytes = 0;  // own variables and call parameters, a lane
  // Where the callee's parameters and results stand in its local memory.
  std::vector<std::uint32_t> param_at;
  std::vector<std::uint32_t> result_at;
  std::vector<std::uint32_t> param_bytes;
  std::vector<std::uint32_t> result_bytes;
  std::uint32_t live_registers = 0;  // 32-bit registers a thread, at most
};

// A kernel with all functions that it may call.
struct DecodedKernel {
  std::shared_ptr<const ptx::ParsedModule> ptx;
  const DecodedFunction* entry = nullptr;
  std::vector<std::unique_ptr<DecodedFunction>> functions;
  std::unordered_map<std::uint32_t, const DecodedFunction*> by_index;  // for indirect calls
  std::uint32_t static_shared = 0;
  std::uint32_t shared_align = 16;
  std::uint32_t reserved_shared = 0;  // bytes of the system's part, where the kernel names it
  std::uint32_t param_bytes = 0;
  std::uint32_t regions = 0;  // memory instructions
  bool has_grid_wait = false;
  bool has_flags =
      false;  // fences, atomics or strong accesses, by which grids may order each other
  bool copies_read_shared = false;   // in bulk
  bool copies_write_shared = false;  // in bulk
  bool uses_heap = false;            // allocates or frees (kernel_heap.h)
};

// "norm.cu:12:7", with the place it was inlined into; else "line 34 of <ptx of norm.cu>".
std::string place_of(const ptx::ParsedModule& module, const Site& site);
// The instruction as it would be written.
std::string text_of(const ptx::Instruction& instruction);

}  // namespace baton::sim
