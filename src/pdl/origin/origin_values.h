#pragma once

// The origins of a kernel's values while they are found, and arithmetic of values that may have
// several.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/origin/origin_pool.h"

namespace baton::overlap {

// Refers to the code and the pool.
class OriginValues {
 public:
  OriginValues(const Code& code, OriginPool& pool);

  OriginPool& pool() { return pool_; }
  // By what Code::values() counts.
  std::vector<OriginSet>& all() { return values_; }
  const OriginSet& operator[](std::uint32_t id) const { return values_[id]; }

  OriginSet of(const ValueSource& source);
  OriginSet from(SourceKind kind, std::uint32_t id = 0, std::uint32_t offset = 0) {
    return {pool_.of({.kind = kind, .id = id, .offset = offset})};
  }
  // What the operation reads of the source.
  OriginSet read(const Operation& operation, const ValueSource& source);
  // The value that the operation reads from memory.
  OriginSet loaded(const Operation& operation) {
    return {pool_.loaded(operation.width != 0 && operation.width <= 32)};
  }
  bool is_only_loaded(OriginId id) const;

  template <typename Function>
  OriginSet each(const OriginSet& a, Function function) {
    OriginSet result;
    for (const OriginId id : a) pool_.join(result, function(id));
    return result;
  }
  template <typename Function>
  OriginSet each_pair(const OriginSet& a, const OriginSet& b, Function function) {
    OriginSet result;
    for (const OriginId x : a) {
      for (const OriginId y : b) pool_.join(result, function(x, y));
    }
    return result;
  }
  OriginSet add(const OriginSet& a, const OriginSet& b);
  OriginSet subtract(const OriginSet& a, const OriginSet& b);
  OriginSet mix(const OriginSet& a, const OriginSet& b);
  OriginSet either(OriginSet a, const OriginSet& b);
  // What is computed of 64 bits.
  OriginSet widened(const Operation& operation, const OriginSet& value);
  // A product with a negative constant, and bits that one turns, are taken for a negated value.
  OriginSet negated_by(const Operation& operation, const OriginSet& value);
  // Any function of the operands. Empty while one of them is not defined.
  OriginSet mixed(const Operation& operation);
  // The same of the operands of all lanes.
  OriginSet mixed_over_lanes(const Operation& operation);

 private:
  OriginSet moved(OriginSet address, const ValueSource& source);
  void give_what_is_never_written();

  const Code& code_;
  OriginPool& pool_;
  std::vector<OriginSet> values_;
};

}  // namespace baton::overlap
