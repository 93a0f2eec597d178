#pragma once

#include <string>
#include <string_view>

#include "core/python.h"

namespace baton::python {

// The first line of the exception that is set, which is taken; empty where none is.
// KeyboardInterrupt and its like stay set and are thrown.
inline std::string taken_text() {
  if (PyErr_Occurred() == nullptr) return {};
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw PythonError{};
  const Ref raised = Ref::steal(taken_exception());
  const Ref text = Ref::steal(raised ? PyObject_Str(raised.get()) : nullptr);
  PyErr_Clear();
  const std::string_view why = text ? text_of(text.get()) : "";
  return std::string(why.substr(0, why.find('\n')));
}

}  // namespace baton::python
