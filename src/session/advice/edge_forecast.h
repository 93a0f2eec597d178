#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "baton/check.h"

namespace baton {

// What is known of a launch before it ran: from its image, its buffers and the device. Times are
// microseconds of one execution.
struct LaunchForecast {
  std::string name;
  std::uint64_t executions = 0;  // with a grid that is not empty
  std::uint64_t bytes = 0;       // that it reads and writes: what it is passed of its buffers
  double memory_time = 0;        // that memory takes for them; 0 where its rate is not known
  double tail = 0;               // of that time, the part in which SMs have no block of it
  bool triggers_at_its_end = false;
  std::uint64_t late_weights = 0;  // bytes of weights that it reads after its wait alone
  double late_weights_time = 0;    // that memory takes for them, as far as the L2 cache holds them
};

// The part of `memory_time` in which multiprocessors have no block: those without one in the last
// wave. `resident`: blocks that a multiprocessor holds; 0: not known.
double forecast_tail(double memory_time, std::uint64_t blocks, std::uint32_t resident,
                     std::uint32_t multiprocessors);

// Says before any run what may make an edge cheaper, in the words of `advise` (edge_advice.h). The
// time that an advice may save is computed from the costs of edges on an H200 and from the bytes of
// the two launches. The advice that may save most is first.
std::vector<EdgeAdvice> forecast(const EdgeReport& edge, const LaunchForecast& from,
                                 const LaunchForecast& to);

}  // namespace baton
