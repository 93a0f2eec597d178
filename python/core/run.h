#pragma once

#include "core/python.h"

// Methods of a baton._core.Executable that run its program and wait.
namespace baton::python {

PyObject* executable_run(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names);
// compare_expected(): the outputs of the last run against the files that the program expects.
PyObject* executable_compare_expected(PyObject* self, PyObject*);
PyObject* executable_compare_schedules(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                       PyObject* names);

}  // namespace baton::python
