#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/engine/isa/insn.h"
#include "sim/engine/lower/function.h"

namespace baton::sim {

// A place in the frame, before it has an offset: a register, or a value that is filled in when the
// frame begins.
using SlotId = std::uint32_t;
inline constexpr SlotId kSink = 0;  // where unused results go; 512 bytes at offset 0

// An instruction whose operands are still slots.
struct Proto {
  Handler fn = nullptr;
  Handler inner = nullptr;
  SlotId r[6] = {kSink, kSink, kSink, kSink, kSink, kSink};
  bool raw[6] = {};          // r[k] is a number, not a slot
  std::uint8_t defines = 0;  // bit k: r[k] is written
  std::vector<SlotId> list;  // further operands
  bool has_list = false;
  std::uint32_t list_written = 0;  // of them, from the front; the others are read
  std::uint32_t list_head = 0;     // word 0 of the list where `list_has_head`
  bool list_has_head = false;
  SlotId guard = kSink;
  bool has_guard = false;
  std::uint8_t negated = 0;
  std::uint8_t mode = 0;
  std::uint16_t cache = 0;
  std::int64_t imm = 0;
  std::uint32_t target = UINT32_MAX;                    // a flat instruction
  const std::vector<std::uint32_t>* targets = nullptr;  // flat instructions, for brx.idx
  const void* data = nullptr;
  std::uint64_t bits = 0;            // for u.bits, where there is no data
  bool ends = false;                 // nothing follows it
  std::uint8_t counted_bytes = 0;    // of a lane, of an access that is counted
  std::uint8_t counted_address = 0;  // its operand that has the address
  std::uint32_t flat = 0;
};

// Collects a function's slots and instructions, then gives registers that are never needed at the
// same time the same place and writes the executable form.
class FunctionBuilder {
 public:
  // `keep_apart`: each register has a place of its own, whenever it is needed.
  FunctionBuilder(DecodedFunction* function, bool keep_apart);

  SlotId add_register(std::uint8_t width);  // 1 (predicate), 4, 8, 16 bytes a lane
  SlotId constant(std::uint8_t width, std::uint64_t bits);
  SlotId special(std::uint8_t width, SpecialValue special, std::uint8_t index);
  SlotId param(std::uint8_t width, std::uint32_t at, std::uint8_t bytes, bool is_signed);
  SlotId local_address(std::uint8_t width, std::uint32_t at, bool generic);
  // An offset in the block's shared memory as an address.
  SlotId shared_address(std::uint8_t width, std::uint64_t at);
  // The same after all static shared memory, whose end is known later.
  SlotId dynamic_shared_address(std::uint8_t width, std::uint64_t at);
  std::uint8_t width(SlotId slot) const { return slots_[slot].width; }
  // Where the slot stands in the frame, once the function is finished.
  std::uint32_t offset(SlotId slot) const { return slots_[slot].offset; }
  // The value of a slot that constant() made.
  std::optional<std::uint64_t> constant_in(SlotId slot) const;

  Proto& emit(Handler fn, std::uint32_t flat);
  // The next instruction emitted is where flat instruction `flat` begins.
  void begin_flat(std::uint32_t flat);
  std::vector<Proto>& protos() { return protos_; }

  struct Late {
    std::size_t constant;  // index in DecodedFunction::constants
    std::uint64_t addend;
  };
  // Appends a return, for what runs off the end, and writes the function's code. `late` receives
  // the constants that are still to be patched.
  void finish(const std::vector<Site>& flat_sites, std::vector<Late>* late);

 private:
  enum class Kind : std::uint8_t {
    kNowhere,
    kRegister,
    kConstant,
    kSpecial,
    kParam,
    kLocal,
    kShared,
    kDynamicShared
  };
  struct Slot {
    Kind kind = Kind::kNowhere;
    std::uint8_t width = 16;
    std::uint32_t offset = 0;
    std::uint64_t a = 0;  // constant bits, parameter or local offset
    std::uint32_t b = 0;  // special, bytes and sign
  };
  using Key = std::tuple<Kind, std::uint8_t, std::uint64_t, std::uint32_t>;

  SlotId fixed(Kind kind, std::uint8_t width, std::uint64_t a, std::uint32_t b);
  void place_fixed(std::vector<Late>* late);
  void place_registers();
  void place_apart();
  void write_code(const std::vector<Site>& flat_sites);
  std::vector<std::uint32_t> successors(std::size_t proto) const;

  DecodedFunction* function_;
  const bool keep_apart_;
  std::vector<Slot> slots_;
  std::map<Key, SlotId> fixed_;
  std::vector<Proto> protos_;
  std::vector<std::uint32_t> start_;  // first proto of each flat instruction
  std::uint32_t frame_bytes_ = 512;
};

}  // namespace baton::sim
