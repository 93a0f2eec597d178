#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace baton {

// Threads that share the parts of one piece of work with the caller. One caller at a time.
class ThreadTeam {
 public:
  // `threads` counts the caller. The others start when there is work for them; where the system
  // has no more threads, the team is smaller.
  explicit ThreadTeam(unsigned threads) : most_(threads) {}
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // Calls work(part) once for each part below `parts`, and returns when all calls have returned.
  // If a call throws, parts that have not begun are left out. This throws what the first part that
  // fails threw, which is the same part each time, as parts begin in their order.
  void run(std::size_t parts, const std::function<void(std::size_t part)>& work);

 private:
  void start(std::size_t threads);
  void serve();
  void take_parts(std::unique_lock<std::mutex>& lock);

  const unsigned most_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable has_work_, is_done_;
  // Of the present piece of work.
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t parts_ = 0, next_ = 0, running_ = 0;
  std::exception_ptr failure_;
  std::size_t failed_ = 0;  // the part whose failure it is
  bool ends_ = false;
};

}  // namespace baton
