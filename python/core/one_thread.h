#pragma once

#include <atomic>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "core/errors.h"
#include "core/python.h"

namespace baton::python {

// Guards an object that one thread may use at a time. A second thread gets an error and does not
// wait: to wait would need the interpreter's lock, which the first thread may be waiting for.
// A thread may enter again, such as a call of Python inside of a run.
class OneThread {
 public:
  class Scope {
   public:
    // Throws kInvalidInput where another thread is inside. `what` names the object.
    Scope(OneThread& guard, std::string_view what) : guard_(guard) {
      const std::thread::id self = std::this_thread::get_id();
      if (guard.owner_.load(std::memory_order_relaxed) != self) {
        std::thread::id nobody;
        if (!guard.owner_.compare_exchange_strong(nobody, self, std::memory_order_acquire)) {
          throw error(ErrorCode::kInvalidInput,
                      "the {} is in use by another thread; it takes one thread at a time: make one "
                      "for each thread, or lock it",
                      what);
        }
      }
      ++guard.depth_;
    }
    ~Scope() {
      if (--guard_.depth_ == 0) guard_.owner_.store({}, std::memory_order_release);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    OneThread& guard_;
  };

  OneThread() = default;
  // A new object is in no thread's use, and neither is one that moves.
  OneThread(OneThread&&) noexcept {}
  OneThread& operator=(OneThread&&) = delete;

 private:
  std::atomic<std::thread::id> owner_ = {};
  unsigned depth_ = 0;  // of the owner
};

// The method of a type whose values have a member `users`, for one thread at a time: `method<f>` in
// a table of methods.
template <typename T, auto kMethod>
struct OneThreadMethod;
template <typename T, typename... Args, PyObject* (*kMethod)(PyObject*, Args...)>
struct OneThreadMethod<T, kMethod> {
  static PyObject* call(PyObject* self, Args... args) {
    return guarded([&] {
      const OneThread::Scope inside(value_of<T>(self).users, T::kName);
      return Ref::checked(kMethod(self, args...));
    });
  }
};

}  // namespace baton::python
