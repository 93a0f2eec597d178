#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace baton::sim {

// Vector clocks: of each party, how many of its segments are known to be over. Parties that a clock
// does not reach have none.
using Clock = std::vector<std::uint32_t>;

inline std::uint32_t at(const Clock& clock, std::uint32_t party) {
  return party < clock.size() ? clock[party] : 0;
}

inline void raise(Clock& clock, std::uint32_t party, std::uint32_t index) {
  if (clock.size() <= party) clock.resize(party + 1);
  clock[party] = std::max(clock[party], index);
}

inline void merge(Clock& into, const Clock& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t p = 0; p < from.size(); ++p) into[p] = std::max(into[p], from[p]);
}

// Whether `clock` knows all that `other` knows.
inline bool covers(const Clock& clock, const Clock& other) {
  for (std::size_t p = 0; p < other.size(); ++p) {
    if (at(clock, static_cast<std::uint32_t>(p)) < other[p]) return false;
  }
  return true;
}

}  // namespace baton::sim
