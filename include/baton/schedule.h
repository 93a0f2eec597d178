#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "baton/export.h"

namespace baton {

// The order in which the simulated GPU executes work without a fixed order: grids that overlap,
// streams, the blocks of a grid. Every schedule except kSerial is deterministic: the same schedule
// and the same host calls reproduce the run.
enum class ScheduleKind : std::uint8_t {
  kSerial,   // fast: one grid after another, blocks on all cores
  kLate,     // one grid after another on one core; nothing overlaps
  kEarly,    // a dependent grid starts as soon as it may; its primary runs when it must
  kReverse,  // the last block and the newest grid first
  kRandom,   // random, from a seed
};

struct Schedule {
  ScheduleKind kind = ScheduleKind::kSerial;
  std::uint64_t seed = 0;  // for kRandom

  friend bool operator==(const Schedule& a, const Schedule& b) {
    return a.kind == b.kind && a.seed == b.seed;
  }
};

// "serial", "late", "early", "reverse" or "random:7": a name that parse_schedule takes.
BATON_API std::string to_string(const Schedule& schedule);

// Returns the schedule with that name. "random" without a seed takes one from the system's random
// source. Throws kInvalidInput for any other text.
BATON_API Schedule parse_schedule(std::string_view text);

}  // namespace baton
