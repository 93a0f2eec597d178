#pragma once

// The one place that includes Python's own header. From Python 3.12 on the extension is built
// against the limited API of 3.12 (BATON_PYTHON_ABI3); 3.11 lacks vectorcall there, and
// interpreters without a global lock have no limited API.

#if defined(BATON_PYTHON_ABI3)
#define Py_LIMITED_API 0x030C0000
#endif
// In a wheel this code lies in libbaton, which C programs and the command line load without an
// interpreter: each symbol of Python is null there.
#if defined(BATON_PYTHON_OPTIONAL)
#define PyAPI_FUNC(type) __attribute__((visibility("default"), weak)) type
#define PyAPI_DATA(type) extern __attribute__((visibility("default"), weak)) type
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

// The limited API leaves it out, and every Python has it.
extern "C" PyAPI_FUNC(int) PyGILState_Check(void);

namespace baton::python {

// Python up to 3.13 ends a thread that asks for the interpreter's lock after the interpreter began
// to end. It does so by pthread_exit, which unwinds the thread without that lock, and which
// std::terminate stops in a noexcept frame. Such a thread sleeps instead, as in 3.14: the process
// ends without it.
[[noreturn]] inline void sleep_until_exit() {
  for (;;) pause();
}

// The thread that ends the interpreter, noted before it begins (baton/_ending.py); 0 before that.
inline std::atomic<unsigned long> ending_thread = 0;

// Whether this thread is unwound so. Once Python counts as not initialised, no other thread than
// the ending one gets the lock.
[[gnu::noinline]] inline bool lost_gil(unsigned long ending) {
  return ending != PyThread_get_thread_ident() &&
         (Py_IsInitialized() == 0 || PyGILState_Check() == 0);
}

// For destructors, before they touch an object of Python: a thread that is unwound sleeps here.
inline void require_gil() {
  const unsigned long ending = ending_thread.load(std::memory_order_relaxed);
  if (ending != 0 && lost_gil(ending)) [[unlikely]]
    sleep_until_exit();
}

// Python's error indicator is set; `guarded` returns it to the interpreter.
struct PythonError {};

// An owned reference.
class Ref {
 public:
  Ref() = default;
  // Takes over the caller's reference, which may be null.
  static Ref steal(PyObject* object) noexcept {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  static Ref borrow(PyObject* object) noexcept {
    Py_XINCREF(object);
    return steal(object);
  }
  // Takes over a new reference, the result of a call. Null means that the call failed.
  static Ref checked(PyObject* object) {
    if (object == nullptr) throw PythonError{};
    return steal(object);
  }
  Ref(const Ref& other) noexcept : object_(other.object_) { Py_XINCREF(object_); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ == nullptr) return;
    require_gil();
    Py_DECREF(object_);
  }

  PyObject* get() const noexcept { return object_; }
  PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Throws what a call of Python's API that returns -1 failed with.
inline void check(int result) {
  if (result < 0) throw PythonError{};
}

// Throws what is wrong with an object without UTF-8: another type than str, or a surrogate in it.
[[noreturn]] void throw_no_text(PyObject* object);

// The UTF-8 of a str, which lives as long as the object. Throws ArgumentError for another object.
inline std::string_view text_of(PyObject* object) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) throw_no_text(object);
  return {text, static_cast<std::size_t>(size)};
}

inline Ref to_python(std::string_view text) {
  return Ref::checked(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}
inline Ref to_python(std::int64_t value) {
  return Ref::checked(PyLong_FromLongLong(value));
}
inline Ref to_python(std::uint64_t value) {
  return Ref::checked(PyLong_FromUnsignedLongLong(value));
}
inline Ref to_python(std::uint32_t value) {
  return to_python(std::uint64_t{value});
}
inline Ref to_python(std::int32_t value) {
  return to_python(std::int64_t{value});
}
inline Ref to_python(double value) {
  return Ref::checked(PyFloat_FromDouble(value));
}
inline Ref to_python(bool value) {
  return Ref::borrow(value ? Py_True : Py_False);
}
inline Ref none() {
  return Ref::borrow(Py_None);
}

// "float": the name of an object's type, for messages.
inline std::string type_name(PyObject* object) {
  const Ref name = Ref::steal(PyType_GetQualName(Py_TYPE(object)));
  if (!name) {
    PyErr_Clear();
    return "object";
  }
  return std::string(text_of(name.get()));
}

// An attribute, or nothing where the object has none. Throws what looking it up raised otherwise.
inline Ref optional_attribute(PyObject* object, const char* name) {
  Ref attribute = Ref::steal(PyObject_GetAttrString(object, name));
  if (!attribute) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw PythonError{};
    PyErr_Clear();
  }
  return attribute;
}

// "an int", "a str".
inline std::string with_article(const std::string& name) {
  const bool is_vowel =
      !name.empty() && std::string_view("aeioAEIOU").find(name[0]) != std::string_view::npos;
  return (is_vowel ? "an " : "a ") + name;
}

// Takes the exception that is set: a new reference, or null.
inline PyObject* taken_exception() {
#if PY_VERSION_HEX >= 0x030C0000
  return PyErr_GetRaisedException();
#else
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return value;
#endif
}

// Sets an exception that was taken; takes over the reference.
inline void restore_exception(PyObject* exception) {
#if PY_VERSION_HEX >= 0x030C0000
  PyErr_SetRaisedException(exception);
#else
  PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(exception))), exception,
                PyException_GetTraceback(exception));
#endif
}

// Calls what takes the interpreter's lock.
template <typename Take>
[[gnu::noinline]] auto take_gil(Take take) {
  struct Unwound {
    bool armed = true;
    ~Unwound() {
      if (armed) sleep_until_exit();
    }
  } unwound;
  const auto taken = take();
  unwound.armed = false;
  return taken;
}

// Holds the interpreter's lock for a scope, in any thread.
class WithGil {
 public:
  WithGil() : state_(take_gil([] { return PyGILState_Ensure(); })) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Releases the interpreter's lock for a scope, in which no Python object may be touched.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    take_gil([this] {
      PyEval_RestoreThread(state_);
      return true;
    });
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// Keeps other threads out of an object's methods that take the same lock, in an interpreter without
// a global lock. With one, that lock does so. A wait without the interpreter's lock lets others in.
class ObjectLock {
 public:
#ifdef Py_GIL_DISABLED
  explicit ObjectLock(PyObject* object) {
    PyCriticalSection_Begin(&section_, object);
  }
  ~ObjectLock() {
    PyCriticalSection_End(&section_);
  }
#else
  explicit ObjectLock(PyObject*) {}
  ~ObjectLock() {}
#endif
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

#ifdef Py_GIL_DISABLED
 private:
  PyCriticalSection section_;
#endif
};

}  // namespace baton::python
