#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace baton::sim {

// A number for each party. Parties that are not reached have 0.
using Times = std::vector<std::uint32_t>;

inline std::uint32_t at(const Times& times, std::uint32_t party) {
  return party < times.size() ? times[party] : 0;
}

inline void raise(Times& times, std::uint32_t party, std::uint32_t index) {
  if (times.size() <= party) times.resize(party + 1);
  times[party] = std::max(times[party], index);
}

inline void merge(Times& into, const Times& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t p = 0; p < from.size(); ++p) into[p] = std::max(into[p], from[p]);
}

inline bool covers(const Times& times, const Times& others) {
  for (std::size_t p = 0; p < others.size(); ++p) {
    if (at(times, static_cast<std::uint32_t>(p)) < others[p]) return false;
  }
  return true;
}

// A vector clock: how many segments of each party are known to be over; of how many the writes are
// known to be visible to the async proxy too, as a proxy fence lies between; and of how many the
// mbarriers that they initialised are known, by fence.mbarrier_init, which releases nothing else.
struct Clock {
  Times over;
  Times fenced;
  Times made;

  bool empty() const { return over.empty() && made.empty(); }
  void clear() {
    over.clear();
    fenced.clear();
    made.clear();
  }
};

inline void merge(Clock& into, const Clock& from) {
  merge(into.over, from.over);
  merge(into.fenced, from.fenced);
  merge(into.made, from.made);
}

// Whether `clock` knows all that `other` knows.
inline bool covers(const Clock& clock, const Clock& other) {
  return covers(clock.over, other.over) && covers(clock.fenced, other.fenced) &&
         covers(clock.made, other.made);
}

}  // namespace baton::sim
