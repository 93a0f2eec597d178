#include "compile/compiler_call.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

namespace baton::compiler {

// One compiler in a thread of its own.
struct RunningCompiler {
  std::thread thread;
  std::atomic<bool> has_ended = false;
  bool is_abandoned = false;  // its caller waits no more
};

namespace {

std::atomic<CompilerWait*> g_wait = nullptr;

// Whether this thread is a compiler's: what it calls needs no thread of its own.
thread_local bool t_is_compiler = false;

// While NVRTC reads a source it has handlers of its own for these signals, which end the process
// with status 4. At its end it puts back those it found, which may be of another compile that runs.
// The handlers of before all of them get their places back. Thread-safe.
class SignalHandlers {
 public:
  // To be called before a compile.
  static void note() {
    const std::lock_guard lock(mutex());
    for (Kept& each : kept()) {
      struct sigaction now {};
      if (sigaction(each.signal, nullptr, &now) == 0 && !is_of_compiler(now)) each.action = now;
    }
  }

  // To be called meanwhile and after it.
  static void restore() {
    const std::lock_guard lock(mutex());
    for (const Kept& each : kept()) {
      struct sigaction now {};
      if (!each.action || sigaction(each.signal, nullptr, &now) != 0) continue;
      if (is_of_compiler(now)) sigaction(each.signal, &*each.action, nullptr);
    }
  }

 private:
  struct Kept {
    int signal;
    std::optional<struct sigaction> action;
  };

  static bool is_of_compiler(const struct sigaction& action) {
    Dl_info place{};
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) return false;
    return dladdr(reinterpret_cast<void*>(action.sa_handler), &place) != 0 &&
           std::string_view(place.dli_fname).find("libnvrtc") != std::string_view::npos;
  }

  // Never destroyed: compilers may run while the process ends.
  static std::mutex& mutex() {
    static auto& guard = *new std::mutex;
    return guard;
  }
  static std::array<Kept, 2>& kept() {
    static auto& handlers = *new std::array<Kept, 2>{{{SIGINT, {}}, {SIGTERM, {}}}};
    return handlers;
  }
};

void run_here(const std::function<void()>& task) {
  SignalHandlers::note();
  task();
  SignalHandlers::restore();
}

// All that run. Whoever takes one out joins its thread.
class RunningCompilers {
 public:
  using Running = std::shared_ptr<RunningCompiler>;

  // Throws std::system_error where the system gives no thread. While the process ends, only the
  // thread that ends it goes on: no other returns from here.
  Running start(const std::function<void()>& task) {
    join(take([](const Running& each) { return each->is_abandoned && each->has_ended; }));
    auto running = std::make_shared<RunningCompiler>();
    std::unique_lock lock(mutex_);
    stay_where_ended(lock);
    list_.push_back(running);
    try {
      running->thread = std::thread([running, task] {
        t_is_compiler = true;
        run_here(task);
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
    std::unique_lock lock(mutex_);
    stay_where_ended(lock);
  }

  void abandon(const Running& running) {
    const std::lock_guard lock(mutex_);
    running->is_abandoned = true;
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      ender_ = std::this_thread::get_id();
    }
    join(take([](const Running&) { return true; }));
  }

 private:
  void stay_where_ended(std::unique_lock<std::mutex>& lock) {
    using namespace std::chrono_literals;
    while (ender_ != std::thread::id() && ender_ != std::this_thread::get_id()) {
      lock.unlock();
      std::this_thread::sleep_for(1h);
      lock.lock();
    }
  }

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
  std::thread::id ender_;  // of the thread that ends the process, once it does
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
  running_compilers().end();
}

std::shared_ptr<RunningCompiler> begin_compiler(const std::function<void()>& task) {
  SignalHandlers::note();
  try {
    return running_compilers().start(task);
  } catch (const std::system_error&) {
    return nullptr;
  }
}

void await_compiler(const std::shared_ptr<RunningCompiler>& running,
                    const std::function<bool()>& is_done) {
  RunningCompilers& all = running_compilers();
  CompilerWait* const wait = g_wait.load(std::memory_order_acquire);
  if (wait == nullptr || !wait->serves_this_thread()) return all.finish(running);
  try {
    wait->until([&] {
      for (auto glances = CompilerWait::kMoment / kGlance; glances > 0; --glances) {
        if (is_done()) return true;
        SignalHandlers::restore();
      }
      return false;
    });
  } catch (...) {
    all.abandon(running);
    throw;
  }
  all.finish(running);
}

void leave_compiler(const std::shared_ptr<RunningCompiler>& running) {
  RunningCompilers& all = running_compilers();
  // Only a process with a CompilerWait waits for them at its end.
  if (g_wait.load(std::memory_order_acquire) == nullptr) return all.finish(running);
  all.abandon(running);
}

void run_compiler(const std::function<void()>& task, const std::function<bool()>& is_done) {
  if (t_is_compiler || g_wait.load(std::memory_order_acquire) == nullptr) return run_here(task);
  const std::shared_ptr<RunningCompiler> running = begin_compiler(task);
  if (running == nullptr) return run_here(task);
  await_compiler(running, is_done);
}

}  // namespace baton::compiler
