#pragma once

// The arithmetic of origins: what goes into a value that is computed from others. Every function
// works on single origins; OriginSet lifts it to values that may have one of several, so all of
// them are monotone.

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "pdl/origin/origin.h"

namespace baton::overlap {

// An origin in a pool.
using OriginId = std::uint32_t;

// The origins that a value may have, ascending. Empty: it is never defined.
using OriginSet = std::vector<OriginId>;

class OriginPool {
 public:
  static constexpr OriginId kUnknown = 0;
  static constexpr OriginId kNumber = 1;
  static constexpr OriginId kNull = 2;

  OriginPool();

  const Origin& operator[](OriginId id) const { return origins_[id]; }
  OriginId of(const AddressSource& source);
  // A value that was read from memory. `is_narrow`: of at most 32 bits.
  OriginId loaded(bool is_narrow);
  // A value of 64 bits that was computed from others: narrow loads may be parts of it.
  OriginId widen(OriginId a);

  // a + b, a - b. A difference of two addresses of one source is a number.
  OriginId add(OriginId a, OriginId b);
  OriginId subtract(OriginId a, OriginId b);
  // Any function of both.
  OriginId mix(OriginId a, OriginId b);
  // a | b, a ^ b.
  OriginId toggle(OriginId a, OriginId b);
  // The two halves of 64 bits, and the 64 bits of two halves.
  OriginId low(OriginId a);
  OriginId high(OriginId a);
  OriginId join_halves(OriginId low, OriginId high);
  // The lowest 8 bits: the alignment of an address, from which no address of another allocation
  // follows.
  OriginId low_bits(OriginId a);
  // The outcome of a comparison. A loop can compare a value that moves on until it meets another,
  // and count. Two values that never change give one bit.
  OriginId compare(OriginId a, OriginId b);
  // Whether an address has a property: it may change where the address moves on.
  OriginId property(OriginId a);
  // What is added to the place that an address is in. A table that is indexed by parts of an
  // address gives them back.
  OriginId index_of(OriginId address);
  // Whether the difference of two loaded values, which may be addresses, has gone in.
  bool loads_differ(OriginId a) const;

  // Adds to a set. Returns whether it grew. A set of too many origins becomes one, of all sources.
  bool join(OriginSet& into, OriginId origin);
  bool join(OriginSet& into, const OriginSet& more);
  // One origin of all sources, each mixed.
  OriginId collapse(const OriginSet& set);

 private:
  enum class Op : std::uint8_t { kAdd, kSubtract, kMix, kToggle, kJoinHalves };
  OriginId intern(Origin origin);
  template <typename Compute>
  OriginId memo(Op op, OriginId a, OriginId b, Compute compute);
  OriginId half(OriginId a, AddressSource::Ways way);
  bool covers(OriginId all, OriginId part) const;

  std::vector<Origin> origins_;
  std::map<Origin, OriginId> ids_;
  std::unordered_map<std::uint64_t, OriginId> memo_[5];
};

}  // namespace baton::overlap
