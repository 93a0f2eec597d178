#include "core/wait.h"

#include <chrono>

#include "compile/compiler_call.h"
#include "core/device.h"
#include "core/errors.h"
#include "core/python.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "runtime/host_wait.h"

namespace baton::python {
namespace {

// Ends what the simulated GPU executes, so that nothing waits for it after Ctrl-C. A GPU goes on.
// Returns whether the work has ended.
bool stop(const driver::Driver& driver, CUcontext context) {
  if (driver.simulator == nullptr) return false;
  const WithoutGil released;
  driver.simulator->stop(context);
  driver.simulator->recover(context);
  return true;
}

bool wait_for_a_moment(const HostWait::Wait& wait) {
  const WithoutGil released;
  return wait();
}

// The exception that is set, which no call of Python may meet. It is set again at the end.
class HeldException {
 public:
  HeldException() : exception_(taken_exception()) {}
  ~HeldException() {
    if (exception_ != nullptr) restore_exception(exception_);
  }
  HeldException(const HeldException&) = delete;
  HeldException& operator=(const HeldException&) = delete;

 private:
  PyObject* const exception_;
};

int raise(void* exception) {
  restore_exception(static_cast<PyObject*>(exception));
  return -1;
}

// Raises the exception that is set once the interpreter goes on in its main thread, where the
// handlers of signals are called.
void raise_later() {
  PyObject* const exception = taken_exception();
  if (Py_AddPendingCall(raise, exception) == 0) return;
  restore_exception(exception);
  PyErr_WriteUnraisable(nullptr);
}

// At the interpreter's end Ctrl-C ends the process: see baton/_ending.py.
bool is_thread_of_python() noexcept {
  return ending_thread.load(std::memory_order_relaxed) == 0 && Py_IsInitialized() != 0 &&
         PyGILState_GetThisThreadState() != nullptr;
}

class PythonWait : public HostWait {
 public:
  bool serves_this_thread() noexcept override { return is_thread_of_python(); }

  void until(const driver::Driver& driver, CUcontext context, const Wait& wait) override {
    const WithGil held;
    while (!wait_for_a_moment(wait)) {
      if (PyErr_CheckSignals() == 0) continue;
      stop(driver, context);
      throw PythonError{};
    }
  }

  bool until_released(const driver::Driver& driver, CUcontext context,
                      const Wait& wait) noexcept override {
    const WithGil held;
    const HeldException pending;
    while (!wait_for_a_moment(wait)) {
      if (PyErr_CheckSignals() == 0) continue;
      raise_later();
      if (!stop(driver, context)) return false;
    }
    return true;
  }

  void let_others_run(const std::function<void()>& call) noexcept override {
    const WithGil held;
    const HeldException pending;
    const WithoutGil released;
    call();
  }
};

class PythonCompilerWait : public compiler::CompilerWait {
 public:
  bool serves_this_thread() noexcept override { return is_thread_of_python(); }

  void until(const std::function<bool()>& wait) override {
    const WithGil held;
    while (!wait_for_a_moment(wait)) check(PyErr_CheckSignals());
  }
};

}  // namespace

void install_waits() {
  // They live as long as the process.
  static PythonWait* const wait = new PythonWait;
  static PythonCompilerWait* const compiler_wait = new PythonCompilerWait;
  set_host_wait(wait);
  compiler::set_compiler_wait(compiler_wait);
}

bool wait_until(const std::function<bool()>& done, const Device& device,
                std::optional<double> timeout) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  while (!wait_for_a_moment([&] { return poll_for_a_moment(done, begin); })) {
    if (PyErr_CheckSignals() < 0) {
      stop(device.driver(), device.native_context());
      throw PythonError{};
    }
    if (timeout && Clock::now() - begin > std::chrono::duration<double>(*timeout)) return false;
  }
  return true;
}

void wait_for(const Stream& stream, std::optional<double> timeout) {
  std::optional<Error> failure;
  bool in_time = true;
  try {
    in_time = wait_until([&] { return stream.done(); }, stream.device(), timeout);
  } catch (const Error& caught) {
    failure = caught;
  }
  if (!in_time) {
    throw error(ErrorCode::kTimeout,
                "the work of the stream did not complete within {} s; it goes on", *timeout);
  }
  report_findings(stream.device(), failure ? &*failure : nullptr);
}

std::optional<Error> synchronize(const Device& device) {
  try {
    // The driver may wait for work that other threads enqueue meanwhile.
    const WithoutGil released;
    device.synchronize();
  } catch (const Error& caught) {
    return caught;
  }
  return std::nullopt;
}

void wait_for_all(const Device& device) {
  const std::optional<Error> failure = synchronize(device);
  report_findings(device, failure ? &*failure : nullptr);
}

}  // namespace baton::python
