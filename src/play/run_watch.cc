#include "play/run_watch.h"

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "base/text/text.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "world/communicator.h"

namespace baton::play {
namespace {

using namespace std::chrono_literals;

// Short work is waited for without giving up the core. For longer work the pauses grow with what it
// has taken, so that the simulated GPU, which computes on the same cores, gets them, and so that
// its end is noticed after an eighth of that at most.
constexpr auto kSpin = 50us;
constexpr std::chrono::nanoseconds kShortestPause = 20us;
constexpr std::chrono::nanoseconds kLongestPause = 2ms;
constexpr int kPartOfTime = 8;

}  // namespace

void require_limit(const std::optional<std::chrono::duration<double>>& timeout) {
  // Written so that NaN is refused.
  if (!timeout || timeout->count() >= 0) return;
  throw error(ErrorCode::kInvalidInput,
              "the time limit is {} s; give seconds from 0 on, or none for no limit",
              timeout->count());
}

RunWatch::RunWatch(const Device& device, std::optional<std::chrono::duration<double>> timeout,
                   const std::atomic<bool>* interrupt, std::function<void()> tick,
                   const World* world)
    : device_(device),
      interrupt_(interrupt),
      tick_(std::move(tick)),
      world_(world != nullptr && world->ranks() > 1 ? world : nullptr) {
  // More than a year is not a limit, and would not fit the clock.
  if (timeout && timeout->count() <= 3e7) {
    limit_ = timeout->count();
    deadline_ = Clock::now() +
                std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_));
  }
  looks_ = tick_ || interrupt_ != nullptr || deadline_ || world_ != nullptr;
}

void RunWatch::wait(const std::function<bool()>& done) const {
  const auto start = Clock::now();
  while (!done()) {
    check();
    const std::chrono::nanoseconds taken = Clock::now() - start;
    if (taken < kSpin) continue;
    std::this_thread::sleep_for(std::clamp(taken / kPartOfTime, kShortestPause, kLongestPause));
  }
}

void RunWatch::look() const {
  if (world_ != nullptr) world_->check();
  if (tick_) tick_();
  if (interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed)) {
    throw error(ErrorCode::kInterrupted, "the run was interrupted");
  }
  if (deadline_ && Clock::now() >= *deadline_) {
    throw error(ErrorCode::kTimeout, "the run took longer than its limit of {}",
                format_duration(limit_));
  }
}

bool RunWatch::gave_up(const Error& failure) const {
  return failure.code() == ErrorCode::kInterrupted || failure.code() == ErrorCode::kTimeout ||
         (world_ != nullptr && world_->communicator()->failed());
}

void RunWatch::stop(Error& failure, const NameLaunches& name) const {
  if (!gave_up(failure)) return;
  driver::Simulator* simulator = device_.driver().simulator;
  if (simulator == nullptr) return;
  driver::StoppedWork stopped = simulator->stop(device_.native_context());
  if (name) name(stopped.tags);
  for (std::string& line : stopped.lines) failure.note(std::move(line));
}

}  // namespace baton::play
