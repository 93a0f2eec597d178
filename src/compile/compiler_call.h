#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

namespace baton::compiler {

// How threads of the host wait for a compiler. An interpreter looks for signals meanwhile.
class CompilerWait {
 public:
  // How long one call of `wait` takes about.
  static constexpr std::chrono::milliseconds kMoment{20};

  virtual ~CompilerWait() = default;
  // Whether the calling thread waits so. Otherwise it waits for the compiler's end.
  virtual bool serves_this_thread() noexcept = 0;
  // Calls `wait` until it returns true. Throws where the wait ends early. The compiler goes on
  // then, and its result is dropped.
  virtual void until(const std::function<bool()>& wait) = 0;
};

// From now on threads wait by `wait`, which lives as long as the process.
void set_compiler_wait(CompilerWait* wait) noexcept;

// Waits for all compilers that run in threads of their own. A process must not end before them:
// they use what the end destroys. From now on only the calling thread, which ends the process, gets
// compilers. Other threads that ask for one stay where they are.
void await_compilers();

// A part of such a moment.
inline constexpr std::chrono::milliseconds kGlance{2};

struct RunningCompiler;

// Runs `task`, in a thread of its own where the process has a CompilerWait. `task` owns all
// that it uses, and `is_done` waits for its end for a glance.
void run_compiler(const std::function<void()>& task, const std::function<bool()>& is_done);

// The same in two steps, in a thread of its own in any process. Null where the system gives none.
// Each one that was begun is awaited or left.
std::shared_ptr<RunningCompiler> begin_compiler(const std::function<void()>& task);
void await_compiler(const std::shared_ptr<RunningCompiler>& running,
                    const std::function<bool()>& is_done);
// Its result is not needed. It goes on; where the process has no CompilerWait, this waits for it.
void leave_compiler(const std::shared_ptr<RunningCompiler>& running);

// Calls `call`, which owns all that it uses, and returns its result. Throws what it throws, and
// what CompilerWait::until throws.
template <typename Call>
std::invoke_result_t<Call> call_compiler(Call call) {
  using Value = std::invoke_result_t<Call>;
  const auto task = std::make_shared<std::packaged_task<Value()>>(std::move(call));
  std::future<Value> result = task->get_future();
  run_compiler([task] { (*task)(); },
               [&] { return result.wait_for(kGlance) == std::future_status::ready; });
  return result.get();
}

// The same beside what the caller does until it asks for the result. Compilers that `call` calls
// run in its own thread.
template <typename Value>
class CompilerBeside {
 public:
  template <typename Call>
  explicit CompilerBeside(Call call)
      : task_(std::make_shared<std::packaged_task<Value()>>(std::move(call))),
        result_(task_->get_future()),
        running_(begin_compiler([task = task_] { (*task)(); })) {}
  ~CompilerBeside() {
    if (running_ != nullptr) leave_compiler(running_);
  }
  CompilerBeside(const CompilerBeside&) = delete;
  CompilerBeside& operator=(const CompilerBeside&) = delete;

  // To be called once.
  Value result() {
    if (running_ == nullptr) (*task_)();
    await();
    return result_.get();
  }
  // Waits for the end of the call, whose result is not needed.
  void await() {
    if (const auto running = std::exchange(running_, nullptr)) {
      await_compiler(running,
                     [&] { return result_.wait_for(kGlance) == std::future_status::ready; });
    }
  }

 private:
  const std::shared_ptr<std::packaged_task<Value()>> task_;
  std::future<Value> result_;
  std::shared_ptr<RunningCompiler> running_;
};

}  // namespace baton::compiler
