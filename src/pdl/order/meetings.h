#pragma once

// How often threads have met when they come to an operation.

#include <cstdint>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/value/thread.h"

namespace baton::overlap {

inline constexpr std::uint32_t kManyMeetings = 16;  // no more are counted

// How often a thread has passed a meeting when it comes to an operation, on any path.
struct Passed {
  std::uint32_t least = kNone;  // kNone: it does not come there
  std::uint32_t most = 0;
  bool is_reached() const { return least != kNone; }
};

// By operation.
std::vector<Passed> count_meetings(const Code& code, Meeting meeting);

// Whether a thread that executes an operation passes a meeting by that.
enum class Passes : std::uint8_t { kNever, kPerhaps, kAlways };
// Of meetings that are told by operation.
std::vector<Passed> count_meetings(const Code& code, const std::vector<Passes>& passes);

// Whether a meeting may be completed without a thread that has not ended, or orders nothing.
bool is_disturbed(const Code& code, Meeting meeting);

// Whether every thread that comes to the operation executes it.
inline bool is_certain(const Operation& operation) {
  return operation.guard == kNone;
}

}  // namespace baton::overlap
