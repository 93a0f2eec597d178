#pragma once

#include <cuda.h>

#include <chrono>
#include <functional>

#include "driver/driver.h"

namespace baton {

// How threads of the host wait for a device before they make a call of the driver that waits. An
// interpreter looks for signals meanwhile, and lets its other threads run.
class HostWait {
 public:
  // How long one call of a `Wait` takes at most.
  static constexpr std::chrono::milliseconds kMoment{20};
  // Waits for a moment; returns whether what it waits for has come.
  using Wait = std::function<bool()>;

  virtual ~HostWait() = default;
  // Whether the calling thread waits so. Otherwise the driver waits.
  virtual bool serves_this_thread() noexcept = 0;
  // Calls `wait` until it returns true. Throws where the wait ends early; what the simulated GPU
  // executes is stopped then, and a GPU goes on.
  virtual void until(const driver::Driver& driver, CUcontext context, const Wait& wait) = 0;
  // The same for destructors: returns false where the wait ended early and the work goes on.
  virtual bool until_released(const driver::Driver& driver, CUcontext context,
                              const Wait& wait) noexcept = 0;
  // Makes a call in which the driver may wait. The interpreter's other threads run meanwhile.
  virtual void let_others_run(const std::function<void()>& call) noexcept = 0;
};

// From now on threads wait by `wait`, which lives as long as the process. Null: the driver waits.
void set_host_wait(HostWait* wait) noexcept;

// Waits for all work of the context, or does nothing and leaves that to the driver. Throws what
// HostWait::until throws.
void await_work(const driver::Driver& driver, CUcontext context);
// The same until `done`, a query of the driver, returns true or throws.
void await_query(const driver::Driver& driver, CUcontext context,
                 const std::function<bool()>& done);

// For destructors: false where work goes on that may use what is given back. Then it stays until
// the process ends.
bool await_release(const driver::Driver& driver, CUcontext context) noexcept;
// Makes the call that gives something back, after `await_release`. Another thread may have enqueued
// work since, for which the driver then waits.
void let_others_run(const std::function<void()>& call) noexcept;

// Calls `done` until it returns true, or for a moment. Waits that are short do not sleep.
bool poll_for_a_moment(const std::function<bool()>& done,
                       std::chrono::steady_clock::time_point begin);

}  // namespace baton
