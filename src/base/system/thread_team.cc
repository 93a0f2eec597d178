#include "base/system/thread_team.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace baton {

ThreadTeam::~ThreadTeam() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  has_work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::run(std::size_t parts, const std::function<void(std::size_t)>& work) {
  start(std::min<std::size_t>(most_, parts));
  std::unique_lock lock(mutex_);
  work_ = &work;
  parts_ = parts;
  next_ = 0;
  has_work_.notify_all();
  take_parts(lock);
  is_done_.wait(lock, [&] { return running_ == 0; });
  work_ = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadTeam::start(std::size_t threads) {
  try {
    while (threads_.size() + 1 < threads) threads_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    // Those that are there do the work.
  }
}

void ThreadTeam::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_work_.wait(lock, [&] { return ends_ || (work_ != nullptr && next_ < parts_); });
    if (ends_) return;
    take_parts(lock);
  }
}

void ThreadTeam::take_parts(std::unique_lock<std::mutex>& lock) {
  while (next_ < parts_) {
    const std::size_t part = next_++;
    ++running_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*work_)(part);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --running_;
    if (!failure) continue;
    next_ = parts_;
    if (failure_ && failed_ < part) continue;
    failure_ = failure;
    failed_ = part;
  }
  if (running_ == 0) is_done_.notify_all();
}

}  // namespace baton
