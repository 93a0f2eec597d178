#include "runtime/waiting_threads.h"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace baton {
namespace {

// More threads than this end with their task.
constexpr std::size_t kMostIdle = 4;

class WaitingThreads {
 public:
  void run(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.size() < idle_) {
        tasks_.push_back(std::move(task));
        task = nullptr;
      }
    }
    if (task == nullptr) return wake_.notify_one();
    std::thread([this, own = std::move(task)]() mutable {
      own();
      own = nullptr;
      serve();
    }).detach();
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    while (idle_ < kMostIdle) {
      ++idle_;
      wake_.wait(lock, [this] { return !tasks_.empty(); });
      --idle_;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;  // each has an idle thread that takes it
  std::size_t idle_ = 0;
};

// Never destroyed: threads may wait while the process ends. A forked process has none of them.
std::atomic<WaitingThreads*> g_threads = nullptr;

WaitingThreads& waiting_threads() {
  static const bool made [[maybe_unused]] = [] {
    g_threads = new WaitingThreads;
    pthread_atfork(nullptr, nullptr, [] { g_threads = new WaitingThreads; });
    return true;
  }();
  return *g_threads;
}

}  // namespace

void run_in_waiting_thread(std::function<void()> task) {
  waiting_threads().run(std::move(task));
}

}  // namespace baton
