#pragma once

// A kernel as the analyses of this room see it: one list of operations with the functions it calls
// put in place, operands resolved, and what each operation does to memory and to the order of
// threads distinguished from what it computes.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "pdl/footprint/unseen.h"
#include "ptx/ast.h"
#include "ptx/dataflow.h"

namespace baton::overlap {

// What an operation reads a value from.
struct ValueSource {
  enum class Kind : std::uint8_t {
    kOther,     // a number that is not followed
    kRegister,  // `id`, of Code::registers
    kConstant,  // `bits`
    kSpecial,   // `id`, a SpecialRegister
    kParam,     // the address of the kernel's parameter `id`
    kVariable,  // the address of the module's variable `id` in global memory, plus `bits`
    kConst,     // the same in constant memory
    kShared,    // the address of variable `id` in shared memory, plus `bits`
    kLocal,     // an address in local memory
    kAnything,  // a value that may be computed from any of these
  };
  Kind kind = Kind::kOther;
  std::uint32_t id = 0;
  std::uint64_t bits = 0;
};

// By what an operation gives other threads a value. Threads that exchange values may be at
// different instructions: those in the two branches of a condition.
enum class Exchange : std::uint8_t {
  kNone,
  kShuffled,  // shfl: a value as it is
  kTold,      // vote, match, redux, bar.red: what values tell together
};

enum class SpecialRegister : std::uint8_t {
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
  kLaneId,
  kWarpId,
};

inline constexpr std::uint32_t kNone = UINT32_MAX;

struct Operation {
  enum class Kind : std::uint8_t {
    kCompute,  // `defines` from `sources`
    kLoad,     // `defines` from memory at `address`; also from parameters and local memory
    kStore,    // `sources` to memory at `address`
    kAtomic,   // both
    kPass,     // `defines` from `sources`, as they are: arguments and results of calls
    kWait,     // griddepcontrol.wait
    kTrigger,  // griddepcontrol.launch_dependents
    kBarrier,  // barrier 0 of all threads of the block
    kBranch,
    kEnd,   // the thread ends
    kTrap,  // the grid ends with an error
    kOpen,  // calls what cannot be seen, or does what is not followed
    kNothing,
  };
  // Memory that `address` may lie in.
  enum class Space : std::uint8_t {
    kGeneric,
    kGlobal,
    kShared,
    kLocal,
    kParam,
    kConst,
    kTensorMap
  };

  Kind kind = Kind::kNothing;
  Space space = Space::kGeneric;
  bool non_coherent = false;
  bool strong = false;      // atomic, or as a load or store: no race against another such one
  bool prefetches = false;  // into a cache that a wait may leave as it is, no value
  bool orders = false;      // threads may order each other's accesses by it; not of kBarrier
  bool meets = false;       // lanes of a warp execute it together
  bool disturbs = false;    // may take part in barrier 0 for some threads only
  bool cuts = false;        // reads fewer bits of a register than it has
  Exchange exchange = Exchange::kNone;
  bool guard_negated = false;
  std::uint8_t width = 0;       // bits of a loaded or stored element
  std::uint32_t guard = kNone;  // register
  ValueSource address;
  std::vector<std::uint32_t> defines;
  // Of each that is defined, what it stays where the guard holds the operation back; empty without
  // a guard.
  std::vector<std::uint32_t> kept;
  std::vector<ValueSource> sources;
  // Operations that may follow; of a guarded branch the first is the next in order.
  std::vector<std::uint32_t> next;
  const ptx::Instruction* instruction = nullptr;  // null for the end that paths share
  const ptx::Loc* loc = nullptr;
  std::optional<UnseenCause> open;  // kOpen: why
};

inline bool is_access(const Operation& operation) {
  return operation.kind == Operation::Kind::kLoad || operation.kind == Operation::Kind::kStore ||
         operation.kind == Operation::Kind::kAtomic;
}

// Whether a thread that comes there may wait, end, or do what is not followed.
inline bool ends_the_early_part(const Operation& operation) {
  return operation.kind == Operation::Kind::kWait || operation.kind == Operation::Kind::kEnd ||
         operation.kind == Operation::Kind::kOpen;
}

// A predicate that tells whether a register is a number.
struct Equality {
  std::uint32_t compared = 0;  // register
  std::uint64_t bits = 0;
  bool holds_if_equal = false;
};

// Owns the syntax tree that it points into. Immutable once built.
struct Code {
  std::shared_ptr<const ptx::ParsedModule> module;
  const ptx::Function* kernel = nullptr;
  std::vector<Operation> operations;  // execution begins with the first
  // Values rather than names: what no operation may read as one is distinguished (register_webs.h).
  std::uint32_t registers = 0;
  std::vector<bool> unset;  // by register: it may be read before anything is written to it
  std::vector<std::string> variables;  // of the module, by ValueSource::id
  // Of shared memory, by ValueSource::id. The first stands for all that are declared elsewhere or
  // without an extent, which begin at one place; it is null.
  std::vector<const ptx::Variable*> shared_variables = {nullptr};
  ptx::VisitOrder order;  // the order in which dataflow analyses visit the operations
  // By register: the operations that read it, in whatever way. Loads read local memory.
  ptx::UseLists users;
  std::vector<bool> deciding;  // by value (deciding.h)
  // By operation: of shuffles that decide something (shuffles.h); empty if there are none.
  std::vector<bool> lone_shuffles;

  // What stands among the registers, after the last one: local memory, as elements of one size in
  // bits, the carry flag, and what threads give each other (Exchange).
  static constexpr std::array<unsigned, 6> kElementSizes = {0, 8, 16, 32, 64, 128};
  std::uint32_t local_memory(unsigned width) const {
    std::uint32_t number = 0;
    for (std::uint32_t k = 1; k < kElementSizes.size(); ++k) {
      if (kElementSizes[k] == width) number = k;
    }
    return registers + number;
  }
  std::array<std::uint32_t, kElementSizes.size()> local_memories() const {
    std::array<std::uint32_t, kElementSizes.size()> result;
    for (std::size_t k = 0; k < result.size(); ++k) result[k] = local_memory(kElementSizes[k]);
    return result;
  }
  std::uint32_t carry() const {
    return registers + static_cast<std::uint32_t>(kElementSizes.size());
  }
  std::uint32_t exchanged(Exchange kind) const {
    return carry() + static_cast<std::uint32_t>(kind);  // kNone has none
  }
  std::size_t values() const {
    return exchanged(Exchange::kTold) + std::size_t{1};
  }  // of all these

  // By predicate register: what it tells of the present value of the register that is compared.
  std::unordered_map<std::uint32_t, Equality> equalities;
  std::optional<Equality> equality_of(const ValueSource& source) const {
    if (source.kind != ValueSource::Kind::kRegister) return std::nullopt;
    const auto found = equalities.find(source.id);
    return found == equalities.end() ? std::nullopt : std::optional(found->second);
  }

  // "norm.cu:14", where the line of source is known, else the line of PTX. A place inside a
  // function that the compiler put into its caller is that of the call.
  std::string place(const Operation& operation) const;
};

// The most operations that a kernel with all its calls may have.
inline constexpr std::size_t kMaxOperations = std::size_t{1} << 18;

// Calls of functions that the module has are put in place; recursion, calls through registers and
// functions whose bodies are elsewhere become kOpen. Throws Error(kInvalidInput) where a body does
// not parse or names no label, and above kMaxOperations.
Code read_code(std::shared_ptr<const ptx::ParsedModule> module, const ptx::Function& kernel);

}  // namespace baton::overlap
