#include "replay/watchdog.h"

#include "base/error.h"
#include "base/text/text.h"
#include "driver/driver.h"
#include "driver/simulator.h"

namespace baton::replay {

using namespace std::chrono_literals;

Watchdog::Watchdog(const Device& device, std::optional<std::chrono::duration<double>> limit,
                   const std::atomic<bool>* interrupt)
    : device_(device), limit_(limit), interrupt_(interrupt), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  end_.notify_all();
  thread_.join();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, 20ms, [this] { return ends_; })) {
    const bool is_over = limit_ && std::chrono::steady_clock::now() - start_ >= *limit_;
    const bool is_unwanted = interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed);
    if (!is_over && !is_unwanted) continue;
    timed_out_ = is_over && !is_unwanted;
    stopped_ = true;
    // Repeats, because the other thread may be about to wait for more work.
    for (std::string& line : device_.driver().simulator->stop(device_.native_context()).lines) {
      if (stands_.size() < 8) stands_.push_back(std::move(line));
    }
  }
}

void Watchdog::check() {
  if (!stopped_) return;
  const std::lock_guard lock(mutex_);
  Error failure = timed_out_
                      ? error(ErrorCode::kTimeout, "the replay took longer than its limit of {}",
                              format_duration(limit_->count()))
                      : error(ErrorCode::kInterrupted, "the replay was interrupted");
  for (const std::string& line : stands_) failure.note(line);
  throw failure;
}

}  // namespace baton::replay
