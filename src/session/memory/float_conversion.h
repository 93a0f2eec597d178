#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "baton/dtype.h"

namespace baton {

// Converts elements of one float dtype to another, rounded once to nearest with ties to even.
// Elements that are narrower than 32 bits go through a table of all their values. Immutable.
class FloatConversion {
 public:
  FloatConversion(DType from, DType to);

  // Returns how many elements were converted: fewer than `count` where the next one is beyond the
  // range of the target. Neither array needs an alignment.
  std::size_t convert(const std::byte* from, std::size_t count, std::byte* to) const;

 private:
  // The stored form, or kBeyond.
  std::uint64_t one(std::uint64_t bits) const;

  DType from_, to_;
  std::vector<std::uint64_t> table_;  // by the source's bits; empty for wide sources
};

}  // namespace baton
