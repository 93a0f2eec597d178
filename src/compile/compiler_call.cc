#include "compile/compiler_call.h"

#include <pthread.h>

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace baton::compiler {
namespace {

std::atomic<CompilerWait*> g_wait = nullptr;

// One compiler in a thread of its own.
struct RunningCompiler {
  std::thread thread;
  std::atomic<bool> has_ended = false;
  bool is_abandoned = false;  // its caller waits no more
};

// All that run. Whoever takes one out joins its thread.
class RunningCompilers {
 public:
  using Running = std::shared_ptr<RunningCompiler>;

  // Throws std::system_error where the system gives no thread.
  Running start(const std::function<void()>& task) {
    join(take([](const Running& each) { return each->is_abandoned && each->has_ended; }));
    auto running = std::make_shared<RunningCompiler>();
    const std::lock_guard lock(mutex_);
    list_.push_back(running);
    try {
      running->thread = std::thread([running, task] {
        task();
        running->has_ended = true;
      });
    } catch (const std::system_error&) {
      list_.pop_back();
      throw;
    }
    return running;
  }

  void finish(const Running& running) {
    join(take([&](const Running& each) { return each == running; }));
  }

  void abandon(const Running& running) {
    const std::lock_guard lock(mutex_);
    running->is_abandoned = true;
  }

  void finish_all() {
    join(take([](const Running&) { return true; }));
  }

 private:
  template <typename Which>
  std::list<Running> take(const Which& which) {
    std::list<Running> taken;
    const std::lock_guard lock(mutex_);
    for (auto each = list_.begin(); each != list_.end();) {
      const auto here = each++;
      if (which(*here)) taken.splice(taken.end(), list_, here);
    }
    return taken;
  }

  static void join(const std::list<Running>& taken) {
    for (const Running& each : taken) each->thread.join();
  }

  std::mutex mutex_;
  std::list<Running> list_;
};

// Never destroyed: compilers may run while the process ends. A forked child has no threads of its
// parent.
std::atomic<RunningCompilers*> g_running = nullptr;

RunningCompilers& running_compilers() {
  static const bool made [[maybe_unused]] = [] {
    g_running = new RunningCompilers;
    pthread_atfork(nullptr, nullptr, [] { g_running = new RunningCompilers; });
    return true;
  }();
  return *g_running;
}

}  // namespace

void set_compiler_wait(CompilerWait* wait) noexcept {
  g_wait.store(wait, std::memory_order_release);
}

void await_compilers() {
  running_compilers().finish_all();
}

void run_compiler(const std::function<void()>& task, const std::function<bool()>& is_done) {
  CompilerWait* const wait = g_wait.load(std::memory_order_acquire);
  if (wait == nullptr || !wait->serves_this_thread()) return task();
  RunningCompilers& all = running_compilers();
  RunningCompilers::Running running;
  try {
    running = all.start(task);
  } catch (const std::system_error&) {
    return task();
  }
  try {
    wait->until(is_done);
  } catch (...) {
    all.abandon(running);
    throw;
  }
  all.finish(running);
}

}  // namespace baton::compiler
