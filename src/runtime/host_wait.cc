#include "runtime/host_wait.h"

#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <thread>

#include "base/log.h"
#include "driver/simulator.h"
#include "runtime/beside_captures.h"
#include "runtime/waiting_threads.h"

namespace baton {
namespace {

std::atomic<HostWait*> g_wait = nullptr;

HostWait* wait_of_this_thread() noexcept {
  HostWait* const wait = g_wait.load(std::memory_order_acquire);
  return wait != nullptr && wait->serves_this_thread() ? wait : nullptr;
}

// The simulated GPU tells whether it works, and a wait costs more than most calls.
bool is_idle(const driver::Driver& driver, CUcontext context) {
  return driver.simulator != nullptr && driver.simulator->is_idle(context);
}

// Work that another thread enqueues at the end of a wait is awaited too, a few times: the call of
// the driver that follows would wait for it, deaf to signals. A thread that enqueues without an end
// must not hold the wait up for ever.
constexpr int kWaits = 8;

// An event after all work that a context has now.
class EventOfAllWork {
 public:
  // Null where the driver has none: before CUDA 12.5, or while a stream is captured.
  static std::shared_ptr<EventOfAllWork> record(const driver::Driver& driver, CUcontext context) {
    if (driver.cuCtxRecordEvent == nullptr) return nullptr;
    if (driver.cuCtxPushCurrent(context) != CUDA_SUCCESS) return nullptr;
    CUevent event = nullptr;
    CUresult result = driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    std::shared_ptr<EventOfAllWork> all;
    if (result == CUDA_SUCCESS) {
      all = std::make_shared<EventOfAllWork>(driver, event);
      result = driver.cuCtxRecordEvent(context, event);
    }
    CUcontext popped = nullptr;
    driver.cuCtxPopCurrent(&popped);
    return result == CUDA_SUCCESS ? all : nullptr;
  }

  EventOfAllWork(const driver::Driver& driver, CUevent event) : driver_(driver), event_(event) {}
  ~EventOfAllWork() { driver_.cuEventDestroy(event_); }
  EventOfAllWork(const EventOfAllWork&) = delete;
  EventOfAllWork& operator=(const EventOfAllWork&) = delete;

  bool is_over() const { return driver_.cuEventQuery(event_) != CUDA_ERROR_NOT_READY; }

 private:
  const driver::Driver& driver_;
  const CUevent event_;
};

// Tells that what is given back is not: false.
bool stays(const driver::Driver& driver) {
  log(LogLevel::kInfo,
      "{} still runs what was not waited for: what it may use stays until the process ends",
      driver.name);
  return false;
}

// The end of what a thread does with the context current. It goes on where the wait ends early.
std::shared_future<void> begin_in_thread(const driver::Driver& driver, CUcontext context,
                                         CUresult (*synchronize)(const driver::Driver&)) {
  const auto task = std::make_shared<std::packaged_task<void()>>([&driver, context, synchronize] {
    CUcontext popped = nullptr;
    if (driver.cuCtxPushCurrent(context) != CUDA_SUCCESS) return;
    synchronize(driver);
    driver.cuCtxPopCurrent(&popped);
  });
  const std::shared_future<void> done = task->get_future().share();
  run_in_waiting_thread([task] { (*task)(); });
  return done;
}

HostWait::Wait all_work_by_thread(const driver::Driver& driver, CUcontext context) {
  const auto done = begin_in_thread(driver, context,
                                    [](const driver::Driver& of) { return of.cuCtxSynchronize(); });
  return [done] { return done.wait_for(HostWait::kMoment) == std::future_status::ready; };
}

// The same beside captures of streams, for what is given back. An event of all work would end them
// too.
HostWait::Wait work_before_release(const driver::Driver& driver, CUcontext context) {
  const auto done = begin_in_thread(driver, context, synchronize_beside_captures);
  const auto begin = std::chrono::steady_clock::now();
  return [done, begin] {
    const auto is_over = [&] {
      return done.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    };
    return poll_for_a_moment(is_over, begin);
  };
}

// What the work failed with, the call that follows tells. On an H100 an event of an idle device
// takes 0.6 us, and a new thread 31 us.
HostWait::Wait all_work(const driver::Driver& driver, CUcontext context) {
  // By most schedules the simulated GPU goes on while a host waits, and hardly where it asks.
  if (driver.simulator != nullptr) return all_work_by_thread(driver, context);
  const std::shared_ptr<EventOfAllWork> all = EventOfAllWork::record(driver, context);
  if (all == nullptr) return all_work_by_thread(driver, context);
  const auto begin = std::chrono::steady_clock::now();
  return [all, begin] { return poll_for_a_moment([&] { return all->is_over(); }, begin); };
}

}  // namespace

void set_host_wait(HostWait* wait) noexcept {
  g_wait.store(wait, std::memory_order_release);
}

void await_work(const driver::Driver& driver, CUcontext context) {
  HostWait* const wait = wait_of_this_thread();
  if (wait == nullptr) return;
  for (int i = 0; i < kWaits && !is_idle(driver, context); ++i) {
    wait->until(driver, context, all_work(driver, context));
    if (driver.simulator == nullptr) return;  // a GPU does not tell whether it is idle
  }
}

void await_query(const driver::Driver& driver, CUcontext context,
                 const std::function<bool()>& done) {
  HostWait* const wait = wait_of_this_thread();
  if (wait == nullptr) return;
  const auto begin = std::chrono::steady_clock::now();
  wait->until(driver, context, [&] { return poll_for_a_moment(done, begin); });
}

bool await_release(const driver::Driver& driver, CUcontext context) noexcept {
  HostWait* const wait = wait_of_this_thread();
  if (wait == nullptr) return true;
  try {
    for (int i = 0; i < kWaits; ++i) {
      if (is_idle(driver, context)) return true;
      if (!wait->until_released(driver, context, work_before_release(driver, context))) {
        return stays(driver);
      }
      if (driver.simulator == nullptr) break;
    }
    return true;
  } catch (const std::exception&) {
    return true;  // no thread or memory to wait with, or no context: the driver waits, or refuses
  }
}

void let_others_run(const std::function<void()>& call) noexcept {
  HostWait* const wait = wait_of_this_thread();
  if (wait == nullptr) return call();
  wait->let_others_run(call);
}

bool poll_for_a_moment(const std::function<bool()>& done,
                       std::chrono::steady_clock::time_point begin) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kShort{100};  // awaited without sleeping
  constexpr std::chrono::microseconds kPause{50};
  const Clock::time_point slice = Clock::now();
  do {
    if (done()) return true;
    if (Clock::now() - begin < kShort) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kPause);
    }
  } while (Clock::now() - slice < HostWait::kMoment);
  return false;
}

}  // namespace baton
