#pragma once

// What a register may hold, as far as it can be told, and what an instruction makes of that.

#include <cstdint>
#include <span>

#include "pdl/code/code.h"

namespace baton::overlap {

// Over all times that a thread may have it: bits between two, both included and seen as unsigned
// numbers.
struct Value {
  enum class State : std::uint8_t {
    kNothing,  // so far
    kRange,
    kShared,  // an address in shared memory (shared_place.h)
    kParam,   // an address in the kernel's parameter `root`
    kVaries,
  };
  State state = State::kNothing;
  std::uint64_t bits = 0;  // the least; of an address, of its offsets
  std::uint64_t most = 0;
  std::uint32_t root =
      0;  // of an address: the variable, as in Code::shared_variables; or parameter
  bool is_generic = false;  // of an address
  bool is_remote = false;   // of an address: it may lie in another block of the cluster

  static Value constant(std::uint64_t bits) { return {State::kRange, bits, bits}; }
  static Value range(std::uint64_t least, std::uint64_t most) {
    return {State::kRange, least, most};
  }
  static Value varies() { return {State::kVaries, 0, 0}; }
  static Value shared(std::uint32_t root, std::uint64_t offset) {
    return {State::kShared, offset, offset, root};
  }
  static Value param(std::uint32_t index) { return {State::kParam, 0, 0, index}; }
  bool is_shared() const { return state == State::kShared; }
  bool is_address() const { return is_shared() || state == State::kParam; }
  bool is_range() const { return state == State::kRange; }
  friend bool operator==(const Value&, const Value&) = default;
  bool is_constant() const { return is_range() && bits == most; }
};

// The least value that stands for both.
Value joined(const Value& a, const Value& b);

// As a register has them that an element of `width` bits was loaded to.
std::uint64_t loaded_bits(std::uint64_t bits, unsigned width, bool is_signed);

// What the operation, which computes, gives its first destination. `from`: its sources; `lane`: the
// thread's %laneid.
Value result_of(const Operation& operation, std::span<const Value> from, const Value& lane);

}  // namespace baton::overlap
