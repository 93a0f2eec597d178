#pragma once

#include <cstdint>
#include <vector>

#include "bind/tape.h"

namespace baton::bind {

// What of a settled tape has other values than before, for whoever keeps copies of its launches.
struct TapeChanges {
  bool moves = false;                       // a copy, a fill, a collective or a test
  std::vector<const LaunchSite*> sites;     // all executions of these
  std::vector<const TapeLaunch*> launches;  // these, in each iteration of the loops around them
};

// What changes when the buffer gets another address.
TapeChanges changes_of_buffer(const Tape& tape, std::uint32_t buffer);

}  // namespace baton::bind
