#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "baton/device.h"
#include "baton/error.h"
#include "baton/world.h"

namespace baton::play {

// Throws kInvalidInput for a time limit that is none: less than 0, or not a number.
void require_limit(const std::optional<std::chrono::duration<double>>& timeout);

// Checks a run for its time limit, for an interrupt, and for failures of other ranks.
// Used by the thread that runs.
class RunWatch {
 public:
  // The time starts now.
  RunWatch(const Device& device, std::optional<std::chrono::duration<double>> timeout,
           const std::atomic<bool>* interrupt, std::function<void()> tick,
           const World* world = nullptr);

  // Returns when `done` says so; meanwhile checks as below.
  void wait(const std::function<bool()>& done) const;

  // Throws kInterrupted, kTimeout, or the error that ended the run of all ranks.
  void check() const {
    if (looks_) look();
  }
  // Whether there is anything to look at: a limit, a user who may stop the run or sees it go on.
  bool looks() const { return looks_; }

  // What has to be done with what they threw: running kernels are stopped, where the device can,
  // and the error's notes say where they stood. Other errors are left alone. `name` is called with
  // the tags of the launches that ran, before these notes.
  using NameLaunches = std::function<void(std::span<const std::uint64_t> tags)>;
  void stop(Error& failure, const NameLaunches& name = {}) const;
  // Whether they threw what ends work that is under way.
  bool gave_up(const Error& failure) const;

  // Whether there is a time limit: then a run notes how far it is, so that it can be said where it
  // stands.
  bool limited() const { return deadline_.has_value(); }

 private:
  using Clock = std::chrono::steady_clock;

  void look() const;

  Device device_;
  std::optional<Clock::time_point> deadline_;
  double limit_ = 0;  // seconds
  const std::atomic<bool>* interrupt_;
  std::function<void()> tick_;  // called at every check
  const World* world_;          // of several ranks, or null
  bool looks_ = false;
};

}  // namespace baton::play
