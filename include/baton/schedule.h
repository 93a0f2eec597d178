#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "baton/export.h"

namespace baton {

// The order in which the simulated GPU executes what may run in any order: grids that overlap,
// streams, the blocks of a grid. A run with another schedule than kSerial depends on its schedule
// and on what the host calls, never on time, so it can be had again.
enum class ScheduleKind : std::uint8_t {
  kSerial,   // fast: one grid after another, blocks on all cores
  kLate,     // one grid after another on one core; nothing overlaps
  kEarly,    // a dependent grid starts as soon as it may, and its primary runs only when it cannot
  kReverse,  // the last block and the newest grid first
  kRandom,   // drawn from a seed
};

struct Schedule {
  ScheduleKind kind = ScheduleKind::kSerial;
  std::uint64_t seed = 0;  // of kRandom

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// "serial", "late", "early", "reverse" or "random:7": what parse_schedule takes.
BATON_API std::string to_string(const Schedule& schedule);

// The schedule of that name; "random" alone has a seed from the system's source of chance. Throws
// kInvalidInput for any other text.
BATON_API Schedule parse_schedule(std::string_view text);

}  // namespace baton
