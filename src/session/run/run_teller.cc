#include "session/run/run_teller.h"

#include <algorithm>

namespace baton {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kInterval{250};

}  // namespace

RunTeller::RunTeller(const RunOptions& options, std::uint64_t steps, const SimulatedRun& simulated)
    : options_(options), simulated_(simulated), next_(Clock::now() + kInterval) {
  progress_.steps = steps;
}

void RunTeller::begin(std::uint64_t run) {
  progress_.run = run;
  progress_.steps_done = 0;
  progress_.share = 0;
  ended_before_ = options_.progress ? simulated_.progress().ended : 0;
}

std::function<void()> RunTeller::tick() {
  if (!options_.progress) return {};
  return [this] {
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + kInterval;
    tell();
  };
}

void RunTeller::tell() {
  // The host looks at its events behind the device, and a graph may have none.
  const driver::LaunchProgress launches = simulated_.progress();
  const std::uint64_t ended = std::max(progress_.steps_done, launches.ended - ended_before_);
  const auto steps = static_cast<double>(std::max<std::uint64_t>(progress_.steps, 1));
  const double share = (static_cast<double>(ended) + launches.running) / steps;
  // A step may be no launch, or several of them, so that neither count is exact.
  progress_.share = std::clamp(share, progress_.share, 1.0);
  options_.progress(progress_);
}

}  // namespace baton
