#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "baton/export.h"

namespace baton {

// The verdict about an edge between consecutive launches of a program: may the later launch start
// before the earlier one has completed? Launches are numbered from 0 in the program's order. In a
// repeated group the first launch also follows the last one. In the order of severity.
enum class EdgeVerdict : std::uint8_t { kProven, kUnknown, kUnsafe };
BATON_API std::string_view to_string(EdgeVerdict verdict) noexcept;

// The cause of a verdict. docs/pdl-verdicts.md has the causes with their meanings.
enum class EdgeCause : std::uint8_t {
  kHolds,           // proven: the later kernel waits before it touches what others touch
  kNoWait,          // the later kernel never waits
  kUnseen,          // not all that it does can be seen
  kMayNotWait,      // it waits on some paths only
  kConflict,        // it touches early what an earlier launch touches
  kOffsets,         // the same in one buffer at different offsets: it may be elsewhere
  kElements,        // the same, perhaps not in the same elements, or by no thread
  kUnordered,       // the same after a synchronisation that may order it
  kAtomic,          // the same, both of them atomically
  kStale,           // the same by a prefetch into a cache that the wait may leave as it is
  kEither,          // the same, or one of the two is of other memory
  kNotVisible,      // the same, with a launch that may be complete by then, but was not waited for
  kUnknownEarly,    // it touches memory early that is not known
  kUnknownOther,    // an earlier launch touches memory that is not known
  kNonCoherent,     // after its wait it loads what an earlier launch writes, non-coherently
  kOtherDevice,     // it touches memory early that other devices write at any time
  kNotRefined,      // a witness was found, and not checked with the launch's own values
  kTransitiveGap,   // the launch between the two does not wait, so that its wait covers too little
  kEmptyGrid,       // the later launch has an empty grid
  kAfterEmptyGrid,  // the launch before it has one
};
// "holds", "no_wait": stable names.
BATON_API std::string_view to_string(EdgeCause cause) noexcept;

// A change that may make an edge cheaper.
struct EdgeAdvice {
  std::string text;    // a sentence
  double seconds = 0;  // of a run, that it may save at most: measured, or a forecast
};

}  // namespace baton
