#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "base/error.h"
#include "core/errors.h"
#include "core/python.h"

namespace baton::python {

// The text of the argument `what`. Throws ArgumentError for another object than a str.
inline std::string_view text_argument(PyObject* object, const char* what) {
  if (PyUnicode_Check(object)) return text_of(object);
  throw_argument_error(fmt::format("{} is a str, not {}", what, with_article(type_name(object))));
}

// The arguments of a call with METH_FASTCALL | METH_KEYWORDS, by their names. The first
// `positional` may be given by position. Throws TypeError for others, in Python's own words.
template <std::size_t kCount>
class Given {
 public:
  Given(const char* function, const std::array<const char*, kCount>& names, std::size_t positional,
        std::size_t required, PyObject* const* args, Py_ssize_t nargs, PyObject* keywords)
      : function_(function), names_(names) {
    if (static_cast<std::size_t>(nargs) > positional) {
      PyErr_Format(PyExc_TypeError, "%s() takes %zu positional arguments, %zd were given", function,
                   positional, nargs);
      throw PythonError{};
    }
    for (Py_ssize_t i = 0; i < nargs; ++i) values_[static_cast<std::size_t>(i)] = args[i];
    const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_Size(keywords);
    for (Py_ssize_t i = 0; i < named; ++i) {
      place(PyTuple_GetItem(keywords, i)) = args[nargs + i];
    }
    for (std::size_t i = 0; i < required; ++i) {
      if (values_[i] != nullptr) continue;
      PyErr_Format(PyExc_TypeError, "%s() lacks its argument '%s'", function, names[i]);
      throw PythonError{};
    }
  }

  // Borrowed; null where the argument was not given.
  PyObject* operator[](std::size_t index) const { return values_[index]; }
  // The same; null for None too.
  PyObject* set(std::size_t index) const {
    return values_[index] == Py_None ? nullptr : values_[index];
  }
  // The text of an argument that was given. Throws ArgumentError for another object than a str.
  std::string_view text(std::size_t index) const {
    PyObject* const value = values_[index];
    if (PyUnicode_Check(value)) return text_of(value);
    throw_argument_error(fmt::format("{}() takes a str as its argument '{}', not {}", function_,
                                     names_[index], with_article(type_name(value))));
  }
  bool truth(std::size_t index, bool otherwise) const {
    if (values_[index] == nullptr) return otherwise;
    const int truth = PyObject_IsTrue(values_[index]);
    check(truth);
    return truth == 1;
  }

 private:
  PyObject*& place(PyObject* keyword) {
    const std::string_view name = text_of(keyword);
    for (std::size_t i = 0; i < kCount; ++i) {
      if (name != names_[i]) continue;
      if (values_[i] != nullptr) {
        PyErr_Format(PyExc_TypeError, "%s() got its argument '%s' twice", function_, names_[i]);
        throw PythonError{};
      }
      return values_[i];
    }
    PyErr_Format(PyExc_TypeError, "%s() has no argument '%S'", function_, keyword);
    throw PythonError{};
  }

  const char* function_;
  const std::array<const char*, kCount>& names_;
  std::array<PyObject*, kCount> values_{};
};

// The same for a call with METH_FASTCALL that takes all its arguments by position.
inline void require_positional(Py_ssize_t takes, Py_ssize_t given) {
  if (given == takes) return;
  PyErr_Format(PyExc_TypeError, "the call takes %zd positional arguments, %zd were given", takes,
               given);
  throw PythonError{};
}

}  // namespace baton::python
