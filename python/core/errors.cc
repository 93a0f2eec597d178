#include "core/errors.h"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>

#include "base/error.h"
#include "base/text/text.h"
#include "core/values.h"
#include "image/names/readable_names.h"

namespace baton::python {
namespace {

// The exception for an error. baton/_errors.py has the classes, and gives the exception a traceback
// frame at the place in the user's file.
Ref exception_of(const Error& raw, Subject subject, const std::vector<FindingReport>& findings) {
  const Error failure = image::with_readable_names(raw);
  Ref notes = Ref::checked(PyList_New(0));
  for (const std::string& note : failure.notes()) {
    check(PyList_Append(notes.get(), to_python(note).get()));
  }
  const SourceLocation& where = failure.where();
  return call_python("_errors", "make", to_python(to_string(failure.code())),
                     to_python(subject == Subject::kArguments), to_python(failure.message()),
                     to_python(where.file.text()), to_python(where.line), to_python(where.column),
                     std::move(notes), to_python(failure.driver_result()), findings_of(findings));
}

void set_exception(const Ref& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.get())), exception.get());
}

}  // namespace

void throw_argument_error(const std::string& message) {
  set_error(Error(ErrorCode::kInvalidInput, message), Subject::kArguments);
  throw PythonError{};
}

void throw_no_text(PyObject* object) {
  if (!PyUnicode_Check(object)) {
    throw_argument_error(
        fmt::format("a str is needed, {} was given", with_article(type_name(object))));
  }
  if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw PythonError{};
  PyErr_Clear();
  const Ref quoted = Ref::checked(PyObject_ASCII(object));
  throw_argument_error(
      fmt::format("the text {} has half of a surrogate pair, which UTF-8 does not know",
                  printable(text_of(quoted.get()))));
}

void set_error(const Error& failure, Subject subject, const std::vector<FindingReport>& findings) {
  set_exception(exception_of(failure, subject, findings));
}

void set_error(Subject subject) noexcept {
  try {
    try {
      throw;
    } catch (const PythonError&) {
      if (PyErr_Occurred() == nullptr) {
        PyErr_SetString(PyExc_SystemError, "a call of Python failed without an exception");
      }
    } catch (const Error& failure) {
      set_error(failure, subject);
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
    } catch (const std::exception& failure) {
      set_error(Error(ErrorCode::kInternal, failure.what()), subject);
    }
  } catch (...) {
    // Making the exception failed: its own exception is set.
    if (PyErr_Occurred() == nullptr) PyErr_NoMemory();
  }
}

void throw_findings(const std::vector<FindingReport>& findings) {
  set_exception(call_python("_errors", "of_findings", findings_of(findings)));
  throw PythonError{};
}

}  // namespace baton::python
